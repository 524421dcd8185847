// The state machine of an election against a record in memory, on a clock turned by hand. Rows
// carry the ids of BEHAVIOURS.md 7 and its test rows, and of the cases.
#include "electionrig.h"

#include <QTest>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using davit::ErrorCode;
using davit::client::ElectionKind;
using davit::client::ElectionSettings;
using davit::client::LeaderElector;
using davit::client::LeaderRecord;
using davit::testing::ManualClock;
using davit::testing::ManualExecutor;

class tst_LeaderElector : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void settings_data();
    void settings();
    void tooLongForALease();
    void needsItsParts();
    void decision_data();
    void decision();
    void expires_data();
    void expires();
    void calls_data();
    void calls();
    void triesAgain_data();
    void triesAgain();
    void renewsEachPeriod();
    void wallClockJumps();
    void leadersAreTold();
    void health();
    void coordinated_data();
    void coordinated();
};

void tst_LeaderElector::settings_data()
{
    QTest::addColumn<int>("leaseMs");
    QTest::addColumn<int>("renewMs");
    QTest::addColumn<int>("retryMs");
    QTest::addColumn<QString>("identity");
    QTest::addColumn<QString>("fault"); // empty: good
    QTest::newRow("the field's defaults") << 15000 << 10000 << 2000 << u"a"_s << QString();
    QTest::newRow("T88 lease as long as the deadline")
        << 10000 << 10000 << 2000 << u"a"_s
        << u"leader election: the lease duration of 10 s must be longer than the renew deadline of 10 s"_s;
    QTest::newRow("T88 deadline is 1.2 retry periods")
        << 10000 << 2400 << 2000 << u"a"_s
        << u"leader election: the renew deadline of 2.4 s must be longer than 1.2 times the retry period of 2 s"_s;
    QTest::newRow("deadline just long enough") << 10000 << 2401 << 2000 << u"a"_s << QString();
    QTest::newRow("no lease duration")
        << 0 << -2 << 1 << u"a"_s
        << u"leader election: the lease duration of 0 s is not a whole number of seconds, 1 at least"_s;
    QTest::newRow("half a second is no number that the Lease can hold")
        << 3500 << 2000 << 400 << u"a"_s
        << u"leader election: the lease duration of 3.5 s is not a whole number of seconds, 1 at least"_s;
    QTest::newRow("no retry period")
        << 3000 << 2000 << 0 << u"a"_s
        << u"leader election: renew deadline and retry period must be longer than nothing"_s;
    QTest::newRow("no renew deadline")
        << 3000 << 0 << 1 << u"a"_s
        << u"leader election: renew deadline and retry period must be longer than nothing"_s;
    QTest::newRow("nobody") << 15000 << 10000 << 2000 << QString()
                            << u"leader election: the identity is empty"_s;
}

void tst_LeaderElector::settings()
{
    QFETCH(const int, leaseMs);
    QFETCH(const int, renewMs);
    QFETCH(const int, retryMs);
    ElectionSettings settings;
    QFETCH(const QString, identity);
    settings.identity = identity;
    settings.leaseDuration = std::chrono::milliseconds(leaseMs);
    settings.renewDeadline = std::chrono::milliseconds(renewMs);
    settings.retryPeriod = std::chrono::milliseconds(retryMs);
    const davit::Status status = checkElection(settings);
    const QString sentence = status.isOk() ? QString() : status.error().message();
    QTEST(sentence, "fault");
}

// A number of 32 bits there: more would come out as another, or as less than nothing.
void tst_LeaderElector::tooLongForALease()
{
    ElectionSettings settings;
    settings.identity = u"a"_s;
    settings.leaseDuration = std::chrono::seconds(std::numeric_limits<qint32>::max());
    QVERIFY(checkElection(settings).isOk());
    settings.leaseDuration += 1s;
    QVERIFY(!checkElection(settings).isOk());
}

void tst_LeaderElector::needsItsParts()
{
    ManualClock clock;
    ManualExecutor executor;
    davit::support::Permit permit(clock, u"no"_s);
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    LeaderElector::Surroundings around{nullptr, &permit, &clock, &executor, {}};
    LeaderElector::Callbacks callbacks{[] {}, [](LeaderElector::End) {}, {}, {}, {}};
    std::unique_ptr<LeaderElector> elector;
    const auto sentence = [&] {
        return LeaderElector::make(settingsOf(u"a"_s), around, callbacks, &elector)
            .error()
            .message();
    };
    QCOMPARE(sentence(), u"leader election: there is no lock"_s);
    around.lock = &lock;
    callbacks.onStoppedLeading = nullptr;
    QCOMPARE(
        sentence(), u"leader election: onStartedLeading and onStoppedLeading are both needed"_s);
    callbacks = {{}, [](LeaderElector::End) {}, {}, {}, {}};
    QCOMPARE(
        sentence(), u"leader election: onStartedLeading and onStoppedLeading are both needed"_s);
    QVERIFY(!elector);
}

// The decision table at the end of section 7.
void tst_LeaderElector::decision_data()
{
    QTest::addColumn<bool>("isThere");
    QTest::addColumn<QString>("holder");
    QTest::addColumn<ErrorCode>("getFault");
    QTest::addColumn<ErrorCode>("writeFault");
    QTest::addColumn<bool>("leads");
    QTest::addColumn<int>("transitions"); // afterwards
    QTest::addColumn<QStringList>("calls");
    const auto none = ErrorCode::Unset;
    QTest::newRow("T81 L-4 none") << false << QString() << none << none << true << 0
                                  << QStringList{u"get(NotFound)"_s, u"create"_s};
    QTest::newRow("L-7 L-9 mine, from before a restart")
        << true << u"A"_s << none << none << true << 3 << QStringList{u"get"_s, u"update"_s};
    QTest::newRow("L-7 another's, seen first")
        << true << u"B"_s << none << none << false << 3 << QStringList{u"get"_s};
    QTest::newRow("T83 L-7 nobody's")
        << true << QString() << none << none << true << 4 << QStringList{u"get"_s, u"update"_s};
    QTest::newRow("L-8 someone was faster to take it")
        << true << QString() << none << ErrorCode::Conflict << false << 3
        << QStringList{u"get"_s, u"update(Conflict)"_s};
    QTest::newRow("someone was faster to make it")
        << false << QString() << none << ErrorCode::AlreadyExists << false << -1
        << QStringList{u"get(NotFound)"_s, u"create(AlreadyExists)"_s};
    QTest::newRow("L-4 the read fails") << true << QString() << ErrorCode::Forbidden << none
                                        << false << 3 << QStringList{u"get(Forbidden)"_s};
}

void tst_LeaderElector::decision()
{
    QFETCH(const bool, isThere);
    QFETCH(const QString, holder);
    QFETCH(const ErrorCode, getFault);
    QFETCH(const ErrorCode, writeFault);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    if (isThere)
        server.record = recordOf(holder);
    FakeLock lock(server, clock, executor);
    lock.failNext(u"get"_s, getFault);
    lock.failNext(isThere ? u"update"_s : u"create"_s, writeFault);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    executor.runAll();
    QTEST(a.elector->isLeader(), "leads");
    QTEST(lock.calls, "calls");
    QTEST(server.record ? server.record->leaseTransitions : -1, "transitions");
    QFETCH(const bool, leads);
    QCOMPARE(a.heard.contains(u"started"_s), leads);
    if (!leads)
        return;
    const LeaderRecord &written = *server.record;
    QCOMPARE(written.holderIdentity, u"A"_s);
    QCOMPARE(written.leaseDurationSeconds, 15);
    QCOMPARE(*written.renewTime, clock.utc());
    const bool isKept = holder == u"A"_s;
    QCOMPARE(*written.acquireTime, isKept ? std::chrono::nanoseconds(1s) : clock.utc());
}

// A newcomer waits a whole duration from its first look, by the own clock alone.
void tst_LeaderElector::expires_data()
{
    QTest::addColumn<int>("seconds"); // of the record
    QTest::addColumn<qint64>("renewedAt"); // as its writer says
    QTest::newRow("T82 L-9 renewed long ago") << 3 << qint64(2);
    QTest::newRow("L-5 renewed in years to come") << 3 << qint64(4'000'000'000);
    QTest::newRow("L-6 the record's duration, not mine") << 60 << qint64(2);
}

void tst_LeaderElector::expires()
{
    QFETCH(const int, seconds);
    QFETCH(const qint64, renewedAt);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    server.record = recordOf(u"B"_s, seconds, 7);
    server.record->renewTime = std::chrono::seconds(renewedAt);
    FakeLock lock(server, clock, executor);
    ElectionSettings settings = settingsOf(u"A"_s);
    settings.retryPeriod = 1s;
    Candidate a(settings, lock, clock, executor);
    a.elector->start();
    executor.runAll();
    clock.advance(std::chrono::seconds(seconds) - 1ms, &executor);
    QVERIFY(!a.elector->isLeader());
    QCOMPARE(lock.calls, QStringList(seconds, u"get"_s)); // at 0 s, and each second
    QCOMPARE(server.record->leaseTransitions, 7);
    clock.advance(1ms, &executor);
    QVERIFY(a.elector->isLeader());
    QCOMPARE(lock.calls.mid(seconds), (QStringList{u"get"_s, u"update"_s}));
    QCOMPARE(server.record->holderIdentity, u"A"_s);
    QCOMPARE(server.record->leaseTransitions, 8);
}

void tst_LeaderElector::calls_data()
{
    QTest::addColumn<QList<ErrorCode>>("updateFaults");
    QTest::addColumn<int>("slowPaths");
    QTest::addColumn<QStringList>("calls");
    QTest::newRow("T84 L-3 two good renewals")
        << QList<ErrorCode>{} << 0
        << QStringList{u"get(NotFound)"_s, u"create"_s, u"update"_s, u"update"_s};
    QTest::newRow("T85 L-3 the second update conflicts")
        << QList<ErrorCode>{ErrorCode::Unset, ErrorCode::Conflict} << 1
        << QStringList{u"get(NotFound)"_s, u"create"_s, u"update"_s, u"update(Conflict)"_s,
               u"get"_s, u"update"_s};
    QTest::newRow("nobody knows what became of an update")
        << QList<ErrorCode>{ErrorCode::OutcomeUnknown} << 1
        << QStringList{u"get(NotFound)"_s, u"create"_s, u"update(OutcomeUnknown)"_s, u"get"_s,
               u"update"_s, u"update"_s};
}

void tst_LeaderElector::calls()
{
    QFETCH(const QList<ErrorCode>, updateFaults);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    for (const ErrorCode fault : updateFaults)
        lock.failNext(u"update"_s, fault);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    executor.runAll();
    const auto acquired = server.record->acquireTime;
    clock.advance(5s, &executor); // two retry periods and a bit
    QVERIFY(a.elector->isLeader());
    QTEST(lock.calls, "calls");
    QTEST(a.slowPaths, "slowPaths");
    QCOMPARE(server.record->leaseTransitions, 0);
    QVERIFY(server.record->acquireTime == acquired);
}

// L-1: from the end of a try, 1 to 2.2 retry periods.
void tst_LeaderElector::triesAgain_data()
{
    QTest::addColumn<double>("random");
    QTest::addColumn<int>("waitMs");
    QTest::newRow("L-1 shortest") << 0.0 << 2000;
    QTest::newRow("L-1 half") << 0.5 << 3200;
    QTest::newRow("L-1 longest") << 0.999 << 4397;
}

void tst_LeaderElector::triesAgain()
{
    QFETCH(const double, random);
    QFETCH(const int, waitMs);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    server.record = recordOf(u"B"_s, 3600);
    FakeLock lock(server, clock, executor);
    lock.delay = 700ms;
    Candidate a(settingsOf(u"A"_s), lock, clock, executor, random);
    a.elector->start();
    clock.advance(700ms, &executor);
    QCOMPARE(lock.calls.size(), 1);
    clock.advance(std::chrono::milliseconds(waitMs - 1), &executor);
    QCOMPARE(lock.calls.size(), 1);
    clock.advance(2ms, &executor);
    QCOMPARE(lock.calls.size(), 2);
}

void tst_LeaderElector::renewsEachPeriod()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor, 0.9);
    a.elector->start();
    executor.runAll();
    lock.calls.clear();
    clock.advance(60s, &executor);
    QCOMPARE(lock.calls.count(u"update"_s), 30);
    QCOMPARE(lock.calls.size(), 30);
    QVERIFY(a.elector->isLeader());
    QCOMPARE(a.heard, (QStringList{u"leader=A"_s, u"started"_s}));
}

void tst_LeaderElector::wallClockJumps()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    FakeLock otherLock(server, clock, executor);
    Candidate b(settingsOf(u"B"_s), otherLock, clock, executor);
    a.elector->start();
    executor.runAll();
    b.elector->start();
    for (const auto jump : {3600s, -7200s, 86400s}) {
        clock.advance(3s, &executor);
        clock.shiftUtc(jump); // B42: our wall clock jumps while we lead
        clock.advance(20s, &executor);
        QVERIFY(a.elector->isLeader());
        QVERIFY(!b.elector->isLeader());
    }
    QCOMPARE(b.heard, QStringList{u"leader=A"_s});
}

// L-14: each change of the holder, the first one included, never the same twice.
void tst_LeaderElector::leadersAreTold()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    server.record = recordOf(u"B"_s);
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    const auto becomes = [&](const QString &holder, int seconds) {
        clock.advance(6s, &executor);
        server.record = recordOf(holder, seconds);
        ++server.version;
    };
    becomes(u"C"_s, 15);
    becomes(u"B"_s, 15);
    becomes(QString(), 1);
    clock.advance(2s, &executor);
    QCOMPARE(a.heard,
        (QStringList{u"leader=B"_s, u"leader=C"_s, u"leader=B"_s, u"leader="_s, u"leader=A"_s,
            u"started"_s}));
    QCOMPARE(a.elector->leader(), u"A"_s);
}

void tst_LeaderElector::health()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    QVERIFY(a.elector->isHealthy(0s)); // knows nothing yet
    a.elector->start();
    executor.runAll();
    clock.advance(15s); // halted, or stuck: nobody renews
    QVERIFY(a.elector->isHealthy(0s));
    clock.advance(20s);
    QVERIFY(a.elector->isHealthy(20s));
    clock.advance(1ns);
    QVERIFY(!a.elector->isHealthy(20s));
    server.record = recordOf(u"B"_s);
    FakeLock otherLock(server, clock, executor);
    Candidate c(settingsOf(u"C"_s), otherLock, clock, executor);
    c.elector->start();
    executor.runAll();
    clock.advance(3600s);
    QVERIFY(c.elector->isHealthy(0s)); // L-16: not the leader
}

void tst_LeaderElector::coordinated_data()
{
    QTest::addColumn<bool>("isThere");
    QTest::addColumn<QString>("holder");
    QTest::addColumn<QString>("preferred");
    QTest::addColumn<bool>("leads");
    QTest::newRow("L-19 it never makes the Lease") << false << QString() << QString() << false;
    QTest::newRow("L-19 chosen") << true << u"A"_s << QString() << true;
    QTest::newRow("L-19 chosen, but another is preferred") << true << u"A"_s << u"B"_s << false;
    QTest::newRow("L-19 another") << true << u"B"_s << QString() << false;
    QTest::newRow("L-19 nobody") << true << QString() << QString() << false;
}

void tst_LeaderElector::coordinated()
{
    QFETCH(const bool, isThere);
    QFETCH(const QString, holder);
    QFETCH(const QString, preferred);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    if (isThere) {
        server.record = recordOf(holder);
        server.record->strategy = u"OldestEmulationVersion"_s;
        server.record->preferredHolder = preferred;
    }
    FakeLock lock(server, clock, executor);
    ElectionSettings settings = settingsOf(u"A"_s);
    settings.kind = ElectionKind::Coordinated;
    Candidate a(settings, lock, clock, executor);
    a.elector->start();
    executor.runAll();
    QTEST(a.elector->isLeader(), "leads");
    clock.advance(60s, &executor); // not even when it has run out
    QTEST(a.elector->isLeader(), "leads");
    QCOMPARE(server.record.has_value(), isThere);
    if (!a.elector->isLeader())
        return;
    QCOMPARE(server.record->strategy, u"OldestEmulationVersion"_s);
    server.record->preferredHolder = u"B"_s; // it yields
    server.record->renewTime = 5s;
    ++server.version;
    clock.advance(12s, &executor);
    QCOMPARE(a.heard.last(), u"lost"_s);
}

QTEST_GUILESS_MAIN(tst_LeaderElector)
#include "tst_leaderelector.moc"
