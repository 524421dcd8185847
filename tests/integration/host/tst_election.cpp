// Leader election as a user sees it: davit processes, one Lease, a plugin that writes all the time.
// What was written by whom, in which order, the embedded server tells.
#include "hostprocess.h"

#include <testing/embeddedapiserver.h>

#include <QDateTime>
#include <QJsonDocument>
#include <QTest>
#include <algorithm>
#include <csignal>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using davit::testing::ApiServerFault;
using davit::testing::ApiServerRequest;
using davit::testing::EmbeddedApiServer;

static const QString kScribe = QStringLiteral(DAVIT_BUILD_DIR "/tests/scribe");
static const QString kHaltBlind = QStringLiteral(DAVIT_BUILD_DIR "/tests/haltblind/haltblind.so");
static const char kLeads[] = "leads; reconciles begin";
static const char kLost[] = "lost the lease; nothing is reconciled or written any more";
static constexpr auto kRetryPeriod = 200ms;
static constexpr auto kRenewDeadline = 2s;
static constexpr auto kLastEventTime = 1s; // of leadership.cpp: the last that a process does
static constexpr auto kLoadAllowance = 5s; // what a busy machine may add to a bound

// One host as a candidate; short times.
class Contender : public HostProcess
{
public:
    Contender(const EmbeddedApiServer &server, const QString &name) : m_name(name)
    {
        setEnvironment(u"POD_NAME"_s, name);
        if (!server.writeKubeconfig(stateDir() + u"/kubeconfig"_s).isOk())
            qFatal("no kubeconfig");
    }
    void begin(const QStringList &more = {})
    {
        QStringList arguments{u"--plugin-dir"_s, kScribe, u"--kubeconfig"_s,
            stateDir() + u"/kubeconfig"_s, u"--leader-elect"_s,
            u"--leader-elect-resource-namespace=ops"_s, u"--leader-elect-lease-duration=3s"_s,
            u"--leader-elect-renew-deadline=2s"_s, u"--leader-elect-retry-period=200ms"_s,
            u"--zap-time-encoding=nano"_s};
        run(arguments + more);
    }
    bool leads(int seconds = 20) { return waitForLine(kLeads, nullptr, {}, seconds); }
    // When the first line with the message was logged; it was waited for.
    std::chrono::nanoseconds timeOf(const char *message)
    {
        return std::chrono::nanoseconds(linesWith(message).first()["ts"_L1].toInteger());
    }
    const QString m_name;
};

class tst_Election : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void handsOver();
    void beginsAtOnce();
    void ends_data();
    void ends();
    void cannotRenew_data();
    void cannotRenew();
    void wasHalted_data();
    void wasHalted();
    void noRight();
    void stopsAsAFollower();

private:
    static bool start(EmbeddedApiServer &server, const char *data);
    static QJsonObject object(const QByteArray &bytes);
    static QJsonObject leaseSpec(EmbeddedApiServer &server);
    // Who wrote the ConfigMap, or changed the Lease to whom ("lease:a", "lease:" when it was given
    // back), without repetitions: "a", "lease:", "lease:b", "b".
    static QStringList history(const EmbeddedApiServer &server);
    // What the last good renewal says of itself, since 1970 as the log's times.
    static std::chrono::milliseconds lastRenewal(const EmbeddedApiServer &server);
};

QJsonObject tst_Election::object(const QByteArray &bytes)
{
    return QJsonDocument::fromJson(bytes).object();
}

bool tst_Election::start(EmbeddedApiServer &server, const char *data)
{
    return server.start().isOk()
        && server.put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ops"}})").isOk()
        && server
               .put(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page",)"
                    R"("namespace":"ops","labels":{"scribe":"yes"}},"data":)"
                   + QByteArray(data) + "}")
               .isOk();
}

QJsonObject tst_Election::leaseSpec(EmbeddedApiServer &server)
{
    return object(server.request("GET", "/apis/coordination.k8s.io/v1/namespaces/ops/leases/davit")
                      .body)["spec"_L1]
        .toObject();
}

QStringList tst_Election::history(const EmbeddedApiServer &server)
{
    QStringList all;
    const QList<ApiServerRequest> requests = server.requests();
    for (const ApiServerRequest &request : requests) {
        QString entry;
        if (request.httpStatus < 200 || request.httpStatus > 299)
            continue;
        if (request.method == "PATCH" && request.path.endsWith("/configmaps/page"))
            entry = object(request.body)["data"_L1]["by"_L1].toString();
        else if (request.path.contains("/leases")
            && (request.method == "POST" || request.method == "PUT"))
            entry = u"lease:"_s
                + object(request.body)["spec"_L1]["holderIdentity"_L1].toString().section(
                    u'_', 0, 0);
        if (entry.isEmpty() || (!all.isEmpty() && all.last() == entry))
            continue;
        // Renewals between two writes of the same one are no news.
        if (all.contains(entry) && all.last().section(u':', -1) == entry.section(u':', -1))
            continue;
        all.append(entry);
    }
    return all;
}

std::chrono::milliseconds tst_Election::lastRenewal(const EmbeddedApiServer &server)
{
    QString last;
    const QList<ApiServerRequest> requests = server.requests();
    for (const ApiServerRequest &request : requests)
        if (request.path.contains("/leases")
            && (request.method == "POST" || request.method == "PUT") && request.httpStatus >= 200
            && request.httpStatus < 300)
            last = object(request.body)["spec"_L1]["renewTime"_L1].toString();
    return std::chrono::milliseconds(
        QDateTime::fromString(last, Qt::ISODateWithMs).toMSecsSinceEpoch());
}

// A follower is warm, and begins when the leader gives the lease back, not before.
void tst_Election::handsOver()
{
    EmbeddedApiServer server;
    QVERIFY(start(server, R"({"everyMs":"20"})"));
    const quint16 portA = freePort();
    const quint16 portB = freePort();
    Contender a(server, u"a"_s);
    a.begin({u"--metrics-bind-address=127.0.0.1:%1"_s.arg(portA)});
    QVERIFY2(a.leads(), a.errorText().constData());
    QVERIFY2(a.waitForLine("wrote"), a.errorText().constData());
    const quint16 probesB = freePort();
    Contender b(server, u"b"_s);
    b.begin({u"--metrics-bind-address=127.0.0.1:%1"_s.arg(portB),
        u"--health-probe-bind-address=127.0.0.1:%1"_s.arg(probesB)});
    QVERIFY2(b.waitForLine("every plugin is started; their caches are being filled"),
        b.errorText().constData());
    QVERIFY2(b.waitForLine("the leader is"), b.errorText().constData());
    QTRY_VERIFY_WITH_TIMEOUT(httpGet(probesB, "/readyz").contains(" 200 "), 20000); // warm
    const QByteArray page = httpGet(probesB, "/readyz?verbose");
    QVERIFY2(page.contains("    leader: a_"), page.constData());
    QVERIFY2(page.contains(", by Lease ops/davit; this process stands by\n"), page.constData());
    QVERIFY2(httpGet(probesB, "/healthz?verbose").contains("[+]leaderElection ok"),
        httpGet(probesB, "/healthz?verbose").constData());
    QVERIFY(
        httpGet(portA, "/metrics").contains("leader_election_master_status{name=\"davit\"} 1\n"));
    QVERIFY(
        httpGet(portB, "/metrics").contains("leader_election_master_status{name=\"davit\"} 0\n"));
    QVERIFY(httpGet(portB, "/metrics").contains("workqueue_depth{")); // its queue waits
    QVERIFY(b.linesWith("begins").isEmpty());

    QCOMPARE(a.stop(), 0);
    QCOMPARE(a.linesWith("gave the lease back").size(), 1);
    QVERIFY2(b.leads(), b.errorText().constData());
    QVERIFY2(b.waitForLine("wrote"), b.errorText().constData());
    // A lease that was given back is found at the next try (L-1), a warm standby starts at once.
    QVERIFY(b.timeOf(kLeads) - a.timeOf("gave the lease back")
        <= kRetryPeriod * 22 / 10 + kLoadAllowance);
    QVERIFY(b.timeOf("begins") - b.timeOf(kLeads) <= kRetryPeriod + kLoadAllowance);
    QCOMPARE(
        history(server), (QStringList{u"lease:a"_s, u"a"_s, u"lease:"_s, u"lease:b"_s, u"b"_s}));
    QCOMPARE(leaseSpec(server)["leaseTransitions"_L1].toInt(), 1);
    QCOMPARE(leaseSpec(server)["leaseDurationSeconds"_L1].toInt(), 3);
    QVERIFY(
        httpGet(portB, "/metrics").contains("leader_election_master_status{name=\"davit\"} 1\n"));
    // L-18
    const QByteArray events = server.request("GET", "/api/v1/namespaces/ops/events").body;
    QCOMPARE(events.count(" became leader\""), 2);
    QCOMPARE(events.count(" stopped leading\""), 1);
    QCOMPARE(events.count("\"LeaderElection\""), 3);
    QCOMPARE(b.stop(), 0);
}

// The bound is one retry period; a busy machine may break it now and then, not for most of them.
void tst_Election::beginsAtOnce()
{
    constexpr int kTakeOvers = 5;
    EmbeddedApiServer server;
    QVERIFY(start(server, R"({"everyMs":"20"})"));
    auto leading = std::make_unique<Contender>(server, u"p0"_s);
    leading->begin();
    QVERIFY2(leading->leads(), leading->errorText().constData());
    std::vector<std::chrono::nanoseconds> took;
    for (int number = 1; number <= kTakeOvers; ++number) {
        auto next = std::make_unique<Contender>(server, u"p%1"_s.arg(number));
        next->begin();
        QVERIFY2(next->waitForLine("ready"), next->errorText().constData()); // warm
        QCOMPARE(leading->stop(), 0);
        QVERIFY2(next->leads(), next->errorText().constData());
        QVERIFY2(next->waitForLine("begins"), next->errorText().constData());
        took.push_back(next->timeOf("begins") - next->timeOf(kLeads));
        leading = std::move(next);
    }
    QCOMPARE(leading->stop(), 0);
    std::sort(took.begin(), took.end());
    const auto ms = [](std::chrono::nanoseconds time) { return double(time.count()) / 1e6; };
    qInfo("%d take-overs by a warm standby, from winning to the first reconcile: median %.1f ms, "
          "longest %.1f ms",
        kTakeOvers, ms(took[kTakeOvers / 2]), ms(took.back()));
    QVERIFY(took[kTakeOvers / 2] <= kRetryPeriod);
    QVERIFY(took.back() <= kRetryPeriod + kLoadAllowance);
}

void tst_Election::ends_data()
{
    QTest::addColumn<QByteArray>("data");
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<QList<int>>("signalsToA");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("history");
    const QStringList given{u"lease:a"_s, u"a"_s, u"lease:"_s, u"lease:b"_s};
    const QStringList runOut{u"lease:a"_s, u"lease:b"_s};
    QTest::newRow("B46 work ends, then the lease is given back")
        << QByteArray(R"({"seconds":"2"})") << QStringList() << QList<int>{SIGTERM} << 0 << given;
    QTest::newRow("B46 work outlasts the grace time: the lease runs out")
        << QByteArray(R"({"seconds":"60"})") << QStringList{u"--graceful-shutdown-timeout=1s"_s}
        << QList<int>{SIGTERM} << 3 << runOut;
    QTest::newRow("B46 second SIGTERM: at once, nothing is given back")
        << QByteArray(R"({"seconds":"60"})") << QStringList() << QList<int>{SIGTERM, SIGTERM} << 1
        << runOut;
    QTest::newRow("B46 SIGKILL") << QByteArray(R"({"seconds":"60"})") << QStringList()
                                 << QList<int>{SIGKILL} << -2 << runOut;
}

void tst_Election::ends()
{
    QFETCH(const QByteArray, data);
    QFETCH(const QStringList, flags);
    QFETCH(const QList<int>, signalsToA);
    EmbeddedApiServer server;
    QVERIFY(start(server, data));
    Contender a(server, u"a"_s);
    a.begin(flags);
    QVERIFY2(a.waitForLine("begins"), a.errorText().constData());
    Contender b(server, u"b"_s);
    b.begin();
    QVERIFY2(b.waitForLine("the leader is"), b.errorText().constData());
    for (const int number : signalsToA) {
        a.signalOnce(number);
        if (number == SIGTERM)
            QVERIFY2(a.waitForLine("stopping"), a.errorText().constData());
    }
    QTEST(a.waitForExit(), "exitCode");
    QVERIFY2(b.leads(), b.errorText().constData());
    QVERIFY2(b.waitForLine("begins"), b.errorText().constData());
    QStringList seen = history(server);
    while (seen.size() > 4 || (!seen.isEmpty() && seen.last() == u"b"_s))
        seen.removeLast(); // what b wrote by now
    QTEST(seen, "history");
}

// B45 against a process: it ends with its code, and writes nothing afterwards.
void tst_Election::cannotRenew_data()
{
    QTest::addColumn<int>("httpStatus"); // 0: no answer in time
    QTest::addColumn<QString>("told"); // a part of the sentence about it
    QTest::newRow("B45 403") << 403 << u"must allow get, create and update of leases"_s;
    QTest::newRow("B45 500") << 500 << u"update Lease ops/davit"_s;
    QTest::newRow("B45 no answer") << 0 << u"update Lease ops/davit"_s; // two timers of one second
}

void tst_Election::cannotRenew()
{
    QFETCH(const int, httpStatus);
    QFETCH(const QString, told);
    EmbeddedApiServer server;
    QVERIFY(start(server, R"({"everyMs":"10"})"));
    Contender a(server, u"a"_s);
    a.begin({u"--leader-elect-lease-duration=10s"_s}); // what kLoadAllowance must fit into
    QVERIFY2(a.waitForLine("wrote"), a.errorText().constData());
    ApiServerFault fault;
    fault.method = "PUT";
    fault.pathContains = "/leases/";
    fault.times = -1;
    fault.httpStatus = httpStatus == 0 ? 504 : httpStatus;
    fault.delay = httpStatus == 0 ? 10s : 0s;
    server.addFault(fault);
    if (httpStatus == 0) { // nor to the event about it
        fault.method = "POST";
        fault.pathContains = "/events";
        server.addFault(fault);
    }
    QCOMPARE(a.waitForExit(), 4);
    const std::chrono::nanoseconds ended = std::chrono::system_clock::now().time_since_epoch();
    QVERIFY2(!a.linesWith(kLost).isEmpty(), a.errorText().constData());
    // From the last renewal: reconciles end with the renew deadline, and the process before anybody
    // else may take the lease.
    const std::chrono::nanoseconds renewed = lastRenewal(server);
    qInfo("after the last renewal: lost at %.2f s, gone at %.2f s; the code gives it %.1f s",
        std::chrono::duration<double>(a.timeOf(kLost) - renewed).count(),
        std::chrono::duration<double>(ended - renewed).count(),
        std::chrono::duration<double>(kRenewDeadline + kLastEventTime).count());
    QVERIFY(a.timeOf(kLost) - renewed >= kRenewDeadline / 2); // it is that renewal
    QVERIFY(a.timeOf(kLost) - renewed <= kRenewDeadline + kLoadAllowance);
    QVERIFY(ended - renewed <= kRenewDeadline + kLastEventTime + kLoadAllowance); // < the lease
    const auto faults = a.linesWith("the lease cannot be read or written; it is tried again");
    QVERIFY2(
        std::any_of(faults.begin(), faults.end(),
            [&](const QJsonObject &line) { return line["error"_L1].toString().contains(told); }),
        a.errorText().constData());
    // After the line that says so, no line of a plugin's success.
    bool isLost = false;
    const QList<QJsonObject> lines = a.lines();
    for (const QJsonObject &line : lines) {
        isLost |= line["msg"_L1].toString().startsWith("lost the lease"_L1);
        QVERIFY2(!isLost || line["msg"_L1].toString() != "begins"_L1, a.errorText().constData());
    }
}

void tst_Election::wasHalted_data()
{
    QTest::addColumn<bool>("isGuarded");
    QTest::newRow("nothing is written when the lease has run out") << true;
    if (!kIsSanitized) // nothing can be loaded before a sanitizer
        QTest::newRow("the guards taken out: it is seen") << false;
}

// SIGSTOP for longer than the lease, then SIGCONT.
void tst_Election::wasHalted()
{
    QFETCH(const bool, isGuarded);
    EmbeddedApiServer server;
    QVERIFY(start(server, R"({"everyMs":"500"})"));
    Contender a(server, u"a"_s);
    if (!isGuarded)
        a.setEnvironment(u"LD_PRELOAD"_s, kHaltBlind);
    a.begin();
    QVERIFY2(a.waitForLine("wrote"), a.errorText().constData());
    Contender b(server, u"b"_s);
    b.begin();
    QVERIFY2(b.waitForLine("the leader is"), b.errorText().constData());
    // Halted in the pause after a write: one on the wire would rightly land after b's, there is no
    // fencing (L-15). When a wakes, its next one is long due.
    const qsizetype before = a.linesWith("wrote").size();
    QTRY_VERIFY(a.linesWith("wrote").size() > before);
    a.signalOnce(SIGSTOP);
    QTRY_VERIFY(a.isHalted());
    QVERIFY2(b.leads(), b.errorText().constData());
    QVERIFY2(b.waitForLine("wrote"), b.errorText().constData());
    a.signalOnce(SIGCONT);
    QCOMPARE(a.waitForExit(), 4);
    QVERIFY2(b.linesWith(kLost).isEmpty(), b.errorText().constData());
    const QStringList inTurn{u"lease:a"_s, u"a"_s, u"lease:b"_s, u"b"_s};
    QCOMPARE(history(server).mid(0, 4), inTurn);
    QCOMPARE(history(server).mid(4).contains(u"a"_s), !isGuarded);
    QCOMPARE(b.stop(), 0);
}

void tst_Election::noRight()
{
    EmbeddedApiServer server;
    QVERIFY(start(server, "{}"));
    ApiServerFault fault;
    fault.pathContains = "/leases";
    fault.times = -1;
    fault.httpStatus = 403;
    server.addFault(fault);
    Contender a(server, u"a"_s);
    a.begin();
    QVERIFY2(a.waitForLine("the lease cannot be read or written; it is tried again"),
        a.errorText().constData());
    const QString told = a.linesWith("the lease cannot be read or written; it is tried again")
                             .first()["error"_L1]
                             .toString();
    QVERIFY2(told.startsWith("get Lease ops/davit: "_L1), qPrintable(told));
    QVERIFY2(told.endsWith("; a Role in namespace ops must allow get, create and update of leases "
                           "in apiGroup coordination.k8s.io"_L1),
        qPrintable(told));
    QVERIFY2(a.waitForLine("every plugin is started; their caches are being filled"),
        a.errorText().constData());
    QVERIFY(a.linesWith("begins").isEmpty());
    server.clearFaults(); // the Role was made meanwhile
    QVERIFY2(a.waitForLine("wrote"), a.errorText().constData());
    QCOMPARE(a.stop(), 0);
}

void tst_Election::stopsAsAFollower()
{
    EmbeddedApiServer server;
    QVERIFY(start(server, R"({"everyMs":"20"})"));
    Contender a(server, u"a"_s);
    a.begin();
    QVERIFY2(a.leads(), a.errorText().constData());
    Contender b(server, u"b"_s);
    b.begin();
    QVERIFY2(b.waitForLine("the leader is"), b.errorText().constData());
    QCOMPARE(b.stop(), 0);
    QVERIFY(b.linesWith("gave the lease back").isEmpty());
    QVERIFY(leaseSpec(server)["holderIdentity"_L1].toString().startsWith("a_"_L1));
    QCOMPARE(leaseSpec(server)["leaseTransitions"_L1].toInt(), 0);
    QCOMPARE(a.stop(), 0);
}

QTEST_GUILESS_MAIN(tst_Election)
#include "tst_election.moc"
