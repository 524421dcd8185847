// What goes over the wire for an election, and the cases about it, with the real lock: JSON as the
// server writes it.
#include "electionrig.h"
#include "scriptedtransport.h"

#include <client/leaselock.h>
#include <support/rfc3339.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>
#include <QTimeZone>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using davit::ErrorCode;
using davit::client::ElectionLock;
using davit::client::ElectionSettings;
using davit::client::LeaderRecord;
using davit::client::LeaseLock;
using davit::client::LeaseSettings;
using davit::client::RestClient;
using davit::testing::ManualClock;
using davit::testing::ManualExecutor;

class tst_LeaseLock : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void names_data();
    void names();
    void timeouts_data();
    void timeouts();
    void writesTimes_data();
    void writesTimes();
    void readsTimes_data();
    void readsTimes();
    void farTimes_data();
    void farTimes();
    void requests();
    void keepsWhatOthersWrote();
    void updatesOnlyWhatItKnows();
    void faults_data();
    void faults();
    void noAnswer();
    void otherClocks_data();
    void otherClocks();
    void writesFail_data();
    void writesFail();

private:
    static QJsonObject caseFile(const QString &name);
};

namespace {

// A server behind the lock: what it answers to a request is the test's function.
struct Rig
{
    struct Answer
    {
        int httpStatus = 200; // 0: none comes
        QByteArray body;
    };
    using Server = std::function<Answer(const davit::transport::Request &)>;

    explicit Rig(const LeaseSettings &settings = {{u"ops"_s, u"davit"_s}, {}, 5s})
        : rest(transport, executor, clock), lock(settings, rest)
    { }

    // Answers what was asked until nothing more is.
    void serve(const Server &server)
    {
        for (;;) {
            executor.runAll();
            if (served == transport.exchanges.size())
                return;
            const Answer answer = server(transport.exchanges.at(served)->request);
            if (answer.httpStatus != 0)
                transport.answer(served, answer.httpStatus, answer.body);
            ++served;
        }
    }
    // In steps, so that timers and answers come in turn.
    void run(std::chrono::milliseconds span, const Server &server)
    {
        serve(server);
        for (auto left = span; left > 0ms; left -= 50ms) {
            clock.advance(50ms);
            serve(server);
        }
    }
    ElectionLock::Done keep()
    {
        return [this](const ElectionLock::Reply &reply) { replies.append(reply); };
    }

    ManualClock clock;
    ManualExecutor executor;
    ScriptedTransport transport;
    RestClient rest;
    LeaseLock lock;
    size_t served = 0;
    QList<ElectionLock::Reply> replies;
};

QByteArray json(const QJsonValue &value)
{
    return QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact);
}

QJsonObject object(const QByteArray &bytes)
{
    return QJsonDocument::fromJson(bytes).object();
}

} // namespace

QJsonObject tst_LeaseLock::caseFile(const QString &name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + name);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no case file %s", qPrintable(name));
    return object(file.readAll());
}

void tst_LeaseLock::names_data()
{
    QTest::addColumn<QString>("space");
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("isGood");
    QTest::newRow("plain") << u"ops"_s << u"davit"_s << true;
    QTest::newRow("as scaffolds have it") << u"team-a"_s << u"1a2b3c4d.example.com"_s << true;
    QTest::newRow("upper case") << u"ops"_s << u"Davit"_s << false;
    QTest::newRow("no name") << u"ops"_s << QString() << false;
    QTest::newRow("no namespace") << QString() << u"davit"_s << false;
    QTest::newRow("a path") << u"ops"_s << u"../pods/x"_s << false;
    QTest::newRow("dot in the namespace") << u"a.b"_s << u"davit"_s << false;
    QTest::newRow("begins with a dash") << u"ops"_s << u"-davit"_s << false;
    QTest::newRow("64 letters of a namespace") << QString(64, u'a') << u"davit"_s << false;
}

void tst_LeaseLock::names()
{
    QFETCH(const QString, space);
    QFETCH(const QString, name);
    QTEST(davit::client::checkLease({space, name}).isOk(), "isGood");
}

void tst_LeaseLock::timeouts_data()
{
    QTest::addColumn<int>("renewMs");
    QTest::addColumn<int>("timeoutMs");
    QTest::newRow("L-17 default") << 10000 << 5000;
    QTest::newRow("L-17 short") << 1500 << 1000;
    QTest::newRow("L-17 long") << 60000 << 30000;
}

void tst_LeaseLock::timeouts()
{
    QFETCH(const int, renewMs);
    QTEST(
        int(davit::client::leaseTimeout(std::chrono::milliseconds(renewMs)).count()), "timeoutMs");
}

void tst_LeaseLock::writesTimes_data()
{
    QTest::addColumn<qint64>("micros");
    QTest::addColumn<QString>("text");
    const QJsonArray rows = caseFile(u"B44-microtime.json"_s)["emit"_L1].toArray();
    for (const QJsonValue &row : rows) {
        const QString text = row["text"_L1].toString();
        QTest::newRow(qPrintable(u"B44 "_s + text)) << row["epochMicros"_L1].toInteger() << text;
    }
    QTest::newRow("less than a microsecond is dropped")
        << qint64(1767323045999999) << u"2026-01-02T03:04:05.999999Z"_s;
}

void tst_LeaseLock::writesTimes()
{
    QFETCH(const qint64, micros);
    QTEST(davit::support::rfc3339(std::chrono::microseconds(micros) + 999ns, 6), "text");
}

void tst_LeaseLock::readsTimes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("nanos"); // since 2026-01-02T03:04:05Z; -1: no time
    const auto row = [](const char *text, qint64 nanos) {
        QTest::newRow(qPrintable(u"B44 %1"_s.arg(QLatin1StringView(text))))
            << QString::fromLatin1(text) << nanos;
    };
    row("2026-01-02T03:04:05.123456Z", 123456000);
    row("2026-01-02T03:04:05Z", 0);
    row("2026-01-02T03:04:05.1Z", 100000000);
    row("2026-01-02T03:04:05.123456789Z", 123456789);
    row("2026-01-02T05:04:05.123456+02:00", 123456000);
    row("2026-01-01T21:34:05-05:30", 0);
    row("2026-01-02t03:04:05z", 0);
    row("2026-01-02 03:04:05Z", -1);
    row("20260102T030405.122Z", -1);
    row("2026-01-02T03:04:60.000000Z", -1);
    row("2026-13-02T03:04:05Z", -1);
    row("2026-01-02T03:04:05.1234567890Z", -1);
    row("2026-01-02T03:04:05", -1);
    row("garbage-0", -1);
    row("", -1);
}

void tst_LeaseLock::readsTimes()
{
    QFETCH(const QString, text);
    constexpr std::chrono::nanoseconds base = std::chrono::seconds(1767323045);
    const auto time = davit::support::parseRfc3339(text);
    QTEST(time ? qint64((*time - base).count()) : qint64(-1), "nanos");
}

// Go's zero time, and times that some writer made up.
void tst_LeaseLock::farTimes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("year"); // of what is read
    QTest::newRow("B44 0001-01-01") << u"0001-01-01T00:00:00.000000Z"_s << 1677;
    QTest::newRow("B44 9999-12-31") << u"9999-12-31T23:59:59.999999Z"_s << 2262;
    QTest::newRow("B44 9999-12-31 with an offset") << u"9999-12-31T23:59:59-12:00"_s << 2262;
    QTest::newRow("B44 within") << u"2261-12-31T23:59:59Z"_s << 2261;
}

void tst_LeaseLock::farTimes()
{
    QFETCH(const QString, text);
    const auto time = davit::support::parseRfc3339(text);
    QVERIFY(time.has_value());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*time);
    QTEST(QDateTime::fromSecsSinceEpoch(seconds.count(), QTimeZone::utc()).date().year(), "year");
}

void tst_LeaseLock::requests()
{
    Rig rig;
    LeaderRecord record;
    record.holderIdentity = u"me"_s;
    record.leaseDurationSeconds = 15;
    record.acquireTime = record.renewTime = rig.clock.utc();
    rig.lock.get(rig.keep());
    rig.serve([](const auto &) { return Rig::Answer{404, "{}"}; });
    QCOMPARE(rig.replies.last().error.code(), ErrorCode::NotFound);
    rig.lock.create(record, rig.keep());
    rig.serve([](const auto &request) {
        QJsonObject lease = object(request.body);
        QJsonObject metadata = lease["metadata"_L1].toObject();
        metadata.insert(u"resourceVersion"_s, u"7"_s);
        lease.insert(u"metadata"_s, metadata);
        return Rig::Answer{201, json(lease)};
    });
    QVERIFY2(!rig.replies.last().error.isError(), qPrintable(rig.replies.last().error.message()));
    QCOMPARE(rig.replies.last().record.holderIdentity, u"me"_s);
    record.leaseTransitions = 2;
    rig.lock.update(record, rig.keep());
    rig.executor.runAll();

    const auto sent = [&rig](size_t i) { return rig.transport.exchanges.at(i)->request; };
    const QByteArray path = "/apis/coordination.k8s.io/v1/namespaces/ops/leases";
    QCOMPARE(sent(0).method + ' ' + sent(0).target, "GET " + path + "/davit");
    QCOMPARE(sent(1).method + ' ' + sent(1).target, "POST " + path);
    QCOMPARE(sent(2).method + ' ' + sent(2).target, "PUT " + path + "/davit");
    for (size_t i = 0; i < 3; ++i) {
        QCOMPARE(sent(i).channel, davit::transport::Channel::Lease); // B61
        QVERIFY2(
            sent(i).userAgent.endsWith(" leader-election"), sent(i).userAgent.constData()); // L-17
        QVERIFY(sent(i).headDeadline == 5s && sent(i).silenceLimit == 5s);
        QVERIFY(!sent(i).permit); // it is what permits are made of
    }
    QCOMPARE(object(sent(1).body), object(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
            "metadata":{"name":"davit","namespace":"ops"},
            "spec":{"holderIdentity":"me","leaseDurationSeconds":15,"leaseTransitions":0,
                    "acquireTime":"2026-01-01T00:00:00.000000Z",
                    "renewTime":"2026-01-01T00:00:00.000000Z"}})"));
    QCOMPARE(object(sent(2).body)["metadata"_L1]["resourceVersion"_L1].toString(), u"7"_s);
    QCOMPARE(object(sent(2).body)["spec"_L1]["leaseTransitions"_L1].toInt(), 2);
}

void tst_LeaseLock::keepsWhatOthersWrote()
{
    Rig rig({{u"ops"_s, u"davit"_s}, {{u"app"_s, u"davit"_s}, {u"mine"_s, u"new"_s}}, 5s});
    rig.lock.get(rig.keep());
    rig.serve([](const auto &) {
        return Rig::Answer{200, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
            "metadata":{"name":"davit","namespace":"ops","resourceVersion":"3","uid":"u",
                "labels":{"theirs":"stays","mine":"old"},"annotations":{"a":"b"}},
            "spec":{"holderIdentity":"other","leaseDurationSeconds":9,"leaseTransitions":4,
                "strategy":"OldestEmulationVersion","preferredHolder":"x","future":[1]}})"};
    });
    const ElectionLock::Reply found = rig.replies.last();
    QCOMPARE(found.record.leaseDurationSeconds, 9);
    QCOMPARE(found.record.leaseTransitions, 4);
    QCOMPARE(found.record.strategy, u"OldestEmulationVersion"_s);
    QCOMPARE(found.record.preferredHolder, u"x"_s);
    QVERIFY(!found.record.renewTime);
    LeaderRecord record = found.record;
    record.holderIdentity.clear(); // released
    record.leaseDurationSeconds = 1;
    rig.lock.update(record, rig.keep());
    rig.executor.runAll();
    QCOMPARE(object(rig.transport.exchanges.at(1)->request.body),
        object(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
            "metadata":{"name":"davit","namespace":"ops","resourceVersion":"3","uid":"u",
                "labels":{"theirs":"stays","mine":"new","app":"davit"},"annotations":{"a":"b"}},
            "spec":{"holderIdentity":"","leaseDurationSeconds":1,"leaseTransitions":4,
                "strategy":"OldestEmulationVersion","preferredHolder":"x","future":[1]}})"));
}

// Without a version the server would overwrite whatever is there.
void tst_LeaseLock::updatesOnlyWhatItKnows()
{
    Rig rig;
    LeaderRecord record;
    record.holderIdentity = u"me"_s;
    rig.lock.update(record, rig.keep());
    rig.executor.runAll();
    QCOMPARE(rig.transport.exchanges.size(), size_t(0));
    QCOMPARE(rig.replies.last().error.code(), ErrorCode::Conflict);
    // Nor after a write of which nothing is known.
    rig.lock.get(rig.keep());
    rig.serve([](const auto &) {
        return Rig::Answer{200, R"({"metadata":{"resourceVersion":"3"},"spec":{}})"};
    });
    rig.lock.update(record, rig.keep());
    rig.serve([](const auto &) { return Rig::Answer{500, "{}"}; });
    QCOMPARE(rig.transport.exchanges.size(), size_t(2));
    rig.lock.update(record, rig.keep());
    rig.executor.runAll();
    QCOMPARE(rig.transport.exchanges.size(), size_t(2));
    QCOMPARE(rig.replies.last().error.code(), ErrorCode::Conflict);
}

void tst_LeaseLock::faults_data()
{
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("no right") << 403 << QByteArray("{}") << ErrorCode::Forbidden;
    QTest::newRow("no JSON") << 200 << QByteArray("<html>") << ErrorCode::MalformedReply;
    QTest::newRow("another kind of JSON is a record that says nothing")
        << 200 << QByteArray("[]") << ErrorCode::Unset;
}

void tst_LeaseLock::faults()
{
    QFETCH(const int, httpStatus);
    QFETCH(const QByteArray, body);
    Rig rig;
    rig.lock.get(rig.keep());
    rig.serve([&](const auto &) { return Rig::Answer{httpStatus, body}; });
    QTEST(rig.replies.last().error.code(), "code");
    if (rig.replies.last().error.isError())
        QVERIFY2(rig.replies.last().error.message().startsWith(u"get Lease ops/davit"_s),
            qPrintable(rig.replies.last().error.message()));
}

// B45: a request that is not answered is cut off by a limit of its own.
void tst_LeaseLock::noAnswer()
{
    Rig rig;
    rig.lock.get(rig.keep());
    rig.executor.runAll();
    rig.clock.advance(4999ms, &rig.executor);
    QVERIFY(rig.replies.isEmpty());
    rig.clock.advance(1ms, &rig.executor);
    QCOMPARE(rig.replies.last().error.code(), ErrorCode::Timeout);
    QVERIFY(rig.transport.isEnded(0));
}

// B42: what a follower makes of Leases that others write, one each 2 s.
void tst_LeaseLock::otherClocks_data()
{
    QTest::addColumn<QJsonArray>("leases");
    QTest::addColumn<bool>("isTaken");
    const QJsonArray cases = caseFile(u"B42-skew.json"_s)["cases"_L1].toArray();
    for (const QJsonValue &row : cases)
        if (row["leases"_L1].isArray()) // the other row: tst_leaderelector, wallClockJumps
            QTest::newRow(qPrintable(u"B42 "_s + row["name"_L1].toString()))
                << row["leases"_L1].toArray() << row["want"_L1].toString().startsWith("taken"_L1);
}

void tst_LeaseLock::otherClocks()
{
    QFETCH(const QJsonArray, leases);
    Rig rig;
    ElectionSettings settings;
    settings.identity = u"me"_s;
    Candidate me(settings, rig.lock, rig.clock, rig.executor);
    bool isWritten = false;
    const auto server = [&](const davit::transport::Request &request) {
        if (request.method != "GET") {
            isWritten = true;
            return Rig::Answer{200, request.body};
        }
        const auto index
            = std::min<qsizetype>(leases.size() - 1, qsizetype(rig.clock.monotonic() / 2s));
        return Rig::Answer{200, json(leases.at(index))};
    };
    me.elector->start();
    rig.run(14900ms, server);
    QVERIFY(!isWritten);
    rig.run(5s, server); // one more lease than there are: the last one stays
    QTEST(isWritten, "isTaken");
    QTEST(me.permit.isValid(), "isTaken");
}

// B45 as the file has it: three good updates, then only refusals.
void tst_LeaseLock::writesFail_data()
{
    QTest::addColumn<int>("httpStatus"); // 0: no answer
    QTest::newRow("B45 403") << 403;
    QTest::newRow("B45 409") << 409;
    QTest::newRow("B45 500") << 500;
    QTest::newRow("B45 no answer for 60 s") << 0;
}

void tst_LeaseLock::writesFail()
{
    QFETCH(const int, httpStatus);
    const QJsonArray steps = caseFile(u"B45-scenario.json"_s)["steps"_L1].toArray();
    const int good = steps[1]["repeat"_L1].toInt();
    Rig rig;
    ElectionSettings settings;
    settings.identity = u"me"_s;
    Candidate me(settings, rig.lock, rig.clock, rig.executor);
    int updates = 0;
    std::chrono::nanoseconds lastGood{0};
    const auto server = [&](const davit::transport::Request &request) {
        if (request.method == "GET")
            return Rig::Answer{200, json(steps[0]["reply"_L1]["json"_L1])};
        if (++updates > good)
            return Rig::Answer{httpStatus, "{}"};
        lastGood = rig.clock.monotonic();
        return Rig::Answer{200, json(steps[1]["reply"_L1]["json"_L1])};
    };
    me.elector->start();
    rig.run(4s, server);
    QVERIFY(me.permit.isValid());
    QCOMPARE(updates, good);
    while (me.permit.isValid() && rig.clock.monotonic() < 60s)
        rig.run(50ms, server);
    QVERIFY(updates > good);
    QCOMPARE(rig.clock.monotonic() - lastGood, std::chrono::nanoseconds(10s));
    QCOMPARE(me.heard.last(), u"lost"_s);
}

QTEST_GUILESS_MAIN(tst_LeaseLock)
#include "tst_leaselock.moc"
