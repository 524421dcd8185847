#include "host/serverwait.h"

#include "../loglines.h"

#include <QTest>
#include <deque>

using namespace davit;
using namespace davit::host;
using namespace std::chrono_literals;

namespace {

class ManualExecutor final : public support::Executor
{
public:
    void post(Work work) override { m_works.push_back(std::move(work)); }
    void run()
    {
        while (!m_works.empty()) {
            const Work work = std::move(m_works.front());
            m_works.pop_front();
            work();
        }
    }

private:
    std::deque<Work> m_works;
};

class HandTime final : public support::TimeSource
{
public:
    Nanoseconds monotonic() const override { return {}; }
    Nanoseconds utc() const override { return {}; }
    TimerId callAfter(
        Nanoseconds delay, support::Executor &executor, support::Executor::Work work) override
    {
        delays << qint64(delay.count() / 1'000'000);
        executor.post(std::move(work)); // time flies
        return 1;
    }
    void cancel(TimerId) override { }
    QList<qint64> delays;
};

struct Answer
{
    int httpStatus = 0; // 0: none
    QByteArray body;
    Error error;
    std::chrono::milliseconds retryAfter{-1};
};

class ScriptedTransport final : public transport::Transport
{
public:
    std::unique_ptr<transport::Exchange> start(const transport::Request &request,
        support::Executor &executor, transport::ResponseSink &sink) override
    {
        targets << request.target;
        const Answer answer = script.isEmpty() ? Answer{} : script.takeFirst();
        executor.post([&sink, answer] {
            if (answer.httpStatus != 0)
                sink.onHead({answer.httpStatus, "application/json", answer.retryAfter, {}});
            if (!answer.body.isEmpty())
                sink.onBytes(answer.body);
            sink.onFinished(answer.error);
        });
        return std::make_unique<transport::Exchange>();
    }
    QString serverName() const override { return QStringLiteral("https://s:6443"); }
    QList<Answer> script;
    QList<QByteArray> targets;
};

} // namespace

class tst_ServerWait : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void ends_data();
    void ends();
    void backsOff();
    void waitsAsTold_data();
    void waitsAsTold();
};

using Script = QList<Answer>;
Q_DECLARE_METATYPE(Script)

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ServerWait::ends_data()
{
    QTest::addColumn<Script>("script");
    QTest::addColumn<QString>("sentence"); // empty: ok
    QTest::addColumn<QStringList>("lines");
    const Answer good{200, R"({"kind":"APIResourceList"})", {}};
    const auto fault = [](ErrorCode code, const char *text) {
        return Answer{0, {}, Error(code, QString::fromUtf8(text))};
    };
    const QString waiting
        = QStringLiteral("2|host|waiting for the API server|server=https://s:6443|error=");
    QTest::newRow("answers at once") << Script{good} << QString() << QStringList();
    QTest::newRow("away, then there")
        << Script{fault(ErrorCode::ConnectionRefused, "refused"), fault(ErrorCode::Timeout, "slow"),
               good}
        << QString()
        << QStringList{waiting + QStringLiteral("refused"), waiting + QStringLiteral("slow")};
    QTest::newRow("starting up: 503, then there") << Script{{503, "not yet", {}},
        good} << QString() << QStringList{waiting + QStringLiteral("HTTP status 503")};
    QTest::newRow("throttled: 429, then there") << Script{{429, {}, {}},
        good} << QString() << QStringList{waiting + QStringLiteral("HTTP status 429")};
    QTest::newRow("cut while it answers, then there")
        << Script{{200, "{\"ki", Error(ErrorCode::ConnectionLost, QStringLiteral("cut"))}, good}
        << QString() << QStringList{waiting + QStringLiteral("cut")};
    QTest::newRow("401") << Script{{401, {}, {}}}
                         << QStringLiteral(
                                "the API server https://s:6443 does not accept the "
                                "credentials (401 Unauthorized); check the user in file f")
                         << QStringList();
    QTest::newRow("403") << Script{{403, {}, {}}}
                         << QStringLiteral(
                                "the API server https://s:6443 does not let this user look "
                                "at its API (403 Forbidden); grant it the ClusterRole "
                                "system:discovery, or check the user in file f")
                         << QStringList();
    QTest::newRow("TLS") << Script{fault(ErrorCode::TlsFailure, "unknown CA")}
                         << QStringLiteral(
                                "the TLS connection to the API server https://s:6443 failed "
                                "(unknown CA); check the certificates and the CA in file f")
                         << QStringList();
    QTest::newRow("https to a port without TLS")
        << Script{fault(ErrorCode::TlsFailure, "SSL routines::wrong version number")}
        << QStringLiteral(
               "what answers at https://s:6443 does not speak TLS (SSL routines::wrong version "
               "number); write http:// if that server is meant, or correct its address in file f")
        << QStringList();
    const QString proxy
        = QStringLiteral("GET https://s:6443/api/v1: the proxy https://p:1 cannot be reached: SSL "
                         "routines::wrong version number");
    QTest::newRow("https to a proxy without TLS")
        << Script{fault(ErrorCode::TlsFailure, proxy.toLatin1().constData())}
        << proxy + QStringLiteral("; check proxy-url in file f, or HTTPS_PROXY and its kin")
        << QStringList();
    QTest::newRow("http to a port with TLS")
        << Script{{400, "Client sent an HTTP request to an HTTPS server.\n", {}}}
        << QStringLiteral(
               "the API server https://s:6443 speaks TLS alone; write https:// in file f")
        << QStringList();
    const QString other
        = QStringLiteral("what answers at https://s:6443 is no Kubernetes API server "
                         "(HTTP %1 to GET /api/v1); check the server's address in file f");
    QTest::newRow("a web page") << Script{{200, "<html>", {}}} << other.arg(200) << QStringList();
    QTest::newRow("404") << Script{{404, {}, {}}} << other.arg(404) << QStringList();
    QTest::newRow("a redirect") << Script{{302, {}, {}}} << other.arg(302) << QStringList();
}

void tst_ServerWait::ends()
{
    QFETCH(const Script, script);
    QFETCH(const QString, sentence);
    ScriptedTransport transport;
    transport.script = script;
    ManualExecutor executor;
    HandTime time;
    fake::Lines lines;
    lines.leftOut << "retryInSeconds"; // drawn by lot
    ServerWait wait(
        transport, executor, time, QStringLiteral("file f"), Logger(lines, QStringLiteral("host")));
    QList<Status> ends;
    QStringList faults;
    wait.start([&ends](const Status &status) { ends << status; },
        [&faults](const QString &fault) { faults << fault; });
    executor.run();
    QCOMPARE(ends.size(), 1);
    QCOMPARE(ends.first().error().message(), sentence);
    QTEST(lines.seen, "lines");
    for (qsizetype i = 0; i < lines.seen.size(); ++i) // the probes say the same
        QCOMPARE(faults.value(i),
            QStringLiteral("waiting for the API server https://s:6443: ")
                + lines.seen[i].section(QLatin1Char('='), -1));
    QCOMPARE(faults.size(), lines.seen.size());
    QCOMPARE(transport.targets, QList<QByteArray>(script.size(), "/api/v1"));
}

void tst_ServerWait::backsOff()
{
    ScriptedTransport transport;
    for (int i = 0; i < 10; ++i)
        transport.script << Answer{503, {}, {}};
    transport.script << Answer{401, {}, {}};
    ManualExecutor executor;
    HandTime time;
    ServerWait wait(transport, executor, time, QStringLiteral("f"), Logger());
    wait.start([](const Status &) {});
    executor.run();
    QCOMPARE(time.delays.size(), 10);
    QVERIFY(time.delays.first() >= 800 && time.delays.first() < 960);
    QVERIFY(time.delays.last() >= 30'000 && time.delays.last() < 36'000);
}

void tst_ServerWait::waitsAsTold_data()
{
    QTest::addColumn<int>("retryAfterSeconds");
    QTest::addColumn<int>("waitSeconds");
    QTest::newRow("a minute") << 60 << 60;
    QTest::newRow("years are five minutes") << 999'999'999 << 300;
}

void tst_ServerWait::waitsAsTold()
{
    QFETCH(const int, retryAfterSeconds);
    ScriptedTransport transport;
    transport.script << Answer{429, {}, {}, std::chrono::seconds(retryAfterSeconds)}
                     << Answer{401, {}, {}};
    ManualExecutor executor;
    HandTime time;
    ServerWait wait(transport, executor, time, QStringLiteral("f"), Logger());
    wait.start([](const Status &) {});
    executor.run();
    QCOMPARE(time.delays.size(), 1);
    QTEST(int(time.delays.first() / 1000), "waitSeconds");
}

QTEST_GUILESS_MAIN(tst_ServerWait)
#include "tst_serverwait.moc"
