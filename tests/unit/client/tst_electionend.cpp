// How leading ends: lost, stopped, given back; alone and with three candidates at once. As
// tst_leaderelector.
#include "electionrig.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using davit::ErrorCode;
using davit::client::ElectionSettings;
using davit::client::LeaderElector;
using davit::client::LeaderRecord;
using davit::testing::ManualClock;
using davit::testing::ManualExecutor;
using AfterStop = LeaderElector::AfterStop;

class tst_ElectionEnd : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void losesAtTheDeadline_data();
    void losesAtTheDeadline();
    void survivesAShortFault();
    void processWasHalted_data();
    void processWasHalted();
    void answerCameTooLate();
    void stopsBeforeWinning_data();
    void stopsBeforeWinning();
    void release_data();
    void release();
    void timeline_data();
    void timeline();
    void threeCandidates();
};

// B45: whatever goes wrong, the end is the renew deadline after the begin of the last good write.
void tst_ElectionEnd::losesAtTheDeadline_data()
{
    QTest::addColumn<ErrorCode>("updateFault");
    QTest::addColumn<ErrorCode>("getFault");
    QTest::addColumn<int>("answerMs");
    QTest::newRow("B45 403, reads work") << ErrorCode::Forbidden << ErrorCode::Unset << 0;
    QTest::newRow("B45 409, reads work") << ErrorCode::Conflict << ErrorCode::Unset << 0;
    QTest::newRow("B45 500, reads work") << ErrorCode::InternalError << ErrorCode::Unset << 0;
    QTest::newRow("B45 no answer to writes")
        << ErrorCode::OutcomeUnknown << ErrorCode::Unset << 5000;
    QTest::newRow("B45 no answer at all")
        << ErrorCode::OutcomeUnknown << ErrorCode::Timeout << 5000;
    QTest::newRow("nothing listens")
        << ErrorCode::ConnectionRefused << ErrorCode::ConnectionRefused << 0;
}

void tst_ElectionEnd::losesAtTheDeadline()
{
    QFETCH(const ErrorCode, updateFault);
    QFETCH(const ErrorCode, getFault);
    QFETCH(const int, answerMs);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    clock.advance(6s, &executor); // good writes at 0, 2, 4 and 6 s
    lock.failAlways(u"update"_s, updateFault);
    lock.failAlways(u"get"_s, getFault);
    lock.delay = std::chrono::milliseconds(answerMs);
    clock.advance(9999ms, &executor);
    QVERIFY(a.permit.isValid());
    QVERIFY(!a.heard.contains(u"lost"_s));
    clock.advance(1ms, nullptr); // the permit needs nobody to notice
    QVERIFY(!a.permit.isValid());
    executor.runAll();
    QCOMPARE(a.heard, (QStringList{u"leader=A"_s, u"started"_s, u"lost"_s}));
    QVERIFY(a.failures > 0);
    lock.failAlways(u"update"_s, ErrorCode::Unset);
    lock.failAlways(u"get"_s, ErrorCode::Unset);
    const qsizetype calls = lock.calls.size();
    clock.advance(60s, &executor); // L-11: it does not try again
    QCOMPARE(lock.calls.size(), calls);
    QVERIFY(!a.permit.isValid());
    QCOMPARE(a.heard.count(u"lost"_s), 1);
}

void tst_ElectionEnd::survivesAShortFault()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    clock.advance(6s, &executor);
    lock.failAlways(u"update"_s, ErrorCode::InternalError);
    clock.advance(7s, &executor); // tries at 8, 10 and 12 s; the next is the last before the end
    lock.failAlways(u"update"_s, ErrorCode::Unset);
    clock.advance(60s, &executor);
    QVERIFY(a.permit.isValid());
    QCOMPARE(a.failures, 6); // the fast and the slow write of each
    QCOMPARE(a.heard, (QStringList{u"leader=A"_s, u"started"_s}));
}

// SIGSTOP: time goes on and nothing runs. Afterwards everything that had waited runs at once.
void tst_ElectionEnd::processWasHalted_data()
{
    QTest::addColumn<int>("secondsBefore"); // after the last good write
    QTest::addColumn<int>("secondsHalted");
    QTest::addColumn<bool>("leads");
    QTest::newRow("for a moment") << 1 << 5 << true;
    QTest::newRow("until just before the deadline") << 1 << 8 << true;
    QTest::newRow("until the deadline") << 1 << 9 << false;
    QTest::newRow("beyond the lease") << 1 << 3600 << false;
}

void tst_ElectionEnd::processWasHalted()
{
    QFETCH(const int, secondsBefore);
    QFETCH(const int, secondsHalted);
    QFETCH(const bool, leads);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    clock.advance(4s, &executor);
    clock.advance(std::chrono::seconds(secondsBefore), &executor);
    lock.calls.clear();
    clock.advance(std::chrono::seconds(secondsHalted));
    QCOMPARE(a.permit.isValid(), leads); // the first who asks hears it, before any timer ran
    executor.runAll();
    QCOMPARE(a.permit.isValid(), leads);
    QCOMPARE(a.heard.contains(u"lost"_s), !leads);
    QCOMPARE(lock.calls, leads ? QStringList{u"update"_s} : QStringList());
}

// The write was good, but its answer came when the time that it bought was over.
void tst_ElectionEnd::answerCameTooLate()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    lock.delay = 4s;
    a.elector->start();
    clock.advance(4s, &executor); // the read
    clock.advance(12s); // halted; the create was answered meanwhile
    executor.runAll();
    QVERIFY(!a.permit.isValid());
    QVERIFY(!a.heard.contains(u"started"_s));
    lock.delay = 0s;
    clock.advance(2s, &executor); // it is ours by the record, so it is renewed and counts
    QVERIFY(a.permit.isValid());
    QCOMPARE(lock.calls.last(), u"update"_s);
    QCOMPARE(a.heard, (QStringList{u"leader=A"_s, u"started"_s}));
}

void tst_ElectionEnd::stopsBeforeWinning_data()
{
    QTest::addColumn<AfterStop>("afterStop");
    QTest::newRow("T86 L-13") << AfterStop::Keep;
    QTest::newRow("T86 L-13, with release") << AfterStop::Release;
}

void tst_ElectionEnd::stopsBeforeWinning()
{
    QFETCH(const AfterStop, afterStop);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    server.record = recordOf(u"B"_s, 5);
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    clock.advance(3s, &executor);
    a.elector->stop(afterStop);
    clock.advance(60s, &executor);
    QCOMPARE(a.heard, (QStringList{u"leader=B"_s, u"stopped"_s}));
    QCOMPARE(server.record->holderIdentity, u"B"_s);
    QVERIFY(!a.permit.isValid());
}

void tst_ElectionEnd::release_data()
{
    QTest::addColumn<QList<ErrorCode>>("getFaults");
    QTest::addColumn<QList<ErrorCode>>("updateFaults");
    QTest::addColumn<QString>("thief"); // who took the lease meanwhile
    QTest::addColumn<QStringList>("calls");
    QTest::addColumn<QString>("heard"); // last
    QTest::addColumn<QString>("holder"); // afterwards
    using Codes = QList<ErrorCode>;
    QTest::newRow("L-12 B46") << Codes{} << Codes{} << QString()
                              << QStringList{u"get"_s, u"update"_s} << u"released"_s << QString();
    QTest::newRow("T87 L-12 the update conflicts once")
        << Codes{} << Codes{ErrorCode::Conflict} << QString()
        << QStringList{u"get"_s, u"update(Conflict)"_s, u"get"_s, u"update"_s} << u"released"_s
        << QString();
    QTest::newRow("L-12 not mine any more")
        << Codes{} << Codes{} << u"B"_s << QStringList{u"get"_s} << u"stopped"_s << u"B"_s;
    QTest::newRow("L-12 another error")
        << Codes{} << Codes{ErrorCode::InternalError} << QString()
        << QStringList{u"get"_s, u"update(InternalError)"_s} << u"stopped"_s << u"A"_s;
    QTest::newRow("L-12 it cannot be read")
        << Codes{ErrorCode::Forbidden} << Codes{} << QString() << QStringList{u"get(Forbidden)"_s}
        << u"stopped"_s << u"A"_s;
}

void tst_ElectionEnd::release()
{
    QFETCH(const QList<ErrorCode>, getFaults);
    QFETCH(const QList<ErrorCode>, updateFaults);
    QFETCH(const QString, thief);
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    a.elector->start();
    clock.advance(3s, &executor);
    if (!thief.isEmpty()) {
        server.record = recordOf(thief);
        ++server.version;
    }
    const int transitions = server.record->leaseTransitions;
    for (const ErrorCode fault : getFaults)
        lock.failNext(u"get"_s, fault);
    for (const ErrorCode fault : updateFaults)
        lock.failNext(u"update"_s, fault);
    lock.calls.clear();
    a.elector->stop(AfterStop::Release);
    executor.runOne();
    QVERIFY(!a.permit.isValid()); // before it is given back
    executor.runAll();
    QTEST(lock.calls, "calls");
    QTEST(a.heard.last(), "heard");
    QTEST(server.record->holderIdentity, "holder");
    QCOMPARE(server.record->leaseTransitions, transitions);
    if (a.heard.last() == u"released"_s) {
        QCOMPARE(server.record->leaseDurationSeconds, 1);
        QCOMPARE(*server.record->renewTime, clock.utc());
        QCOMPARE(*server.record->acquireTime, clock.utc());
    }
    clock.advance(60s, &executor);
    QTEST(lock.calls, "calls");
}

void tst_ElectionEnd::timeline_data()
{
    QTest::addColumn<AfterStop>("afterStop");
    QTest::addColumn<int>("earliestMs"); // that the standby leads
    QTest::addColumn<int>("latestMs");
    QTest::newRow("B46 the work has ended") << AfterStop::Release << 9100 << 9350;
    // The last renewal was at 8 s, the standby saw it at 8.2 s at the latest.
    QTest::newRow("B46 the work has not ended: the lease runs out")
        << AfterStop::Keep << 23000 << 23450;
}

// The case's steps; what waits for the work is the host, in tst_election.
void tst_ElectionEnd::timeline()
{
    QFETCH(const AfterStop, afterStop);
    QFETCH(const int, earliestMs);
    QFETCH(const int, latestMs);
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B46-release.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray steps = QJsonDocument::fromJson(file.readAll())["steps"_L1].toArray();
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    FakeLock lock(server, clock, executor);
    Candidate a(settingsOf(u"A"_s), lock, clock, executor);
    FakeLock otherLock(server, clock, executor);
    ElectionSettings eager = settingsOf(u"B"_s);
    eager.retryPeriod = 200ms;
    Candidate b(eager, otherLock, clock, executor);
    QByteArrayList done;
    const auto take = [&](const QJsonObject &step) {
        if (step.contains("lead"_L1)) {
            a.elector->start();
            executor.runAll();
            b.elector->start();
            done += "lead";
        } else if (step.contains("write"_L1)) {
            done += a.permit.isValid() ? "write" : "no write";
        } else if (step.contains("release"_L1)) {
            a.elector->stop(afterStop);
            done += "release";
        }
    };
    qsizetype next = 0;
    int nowMs = 0;
    for (; nowMs < 60000 && !b.permit.isValid(); nowMs += 50) {
        while (next < steps.size() && steps[next]["t"_L1].toDouble() * 1000 <= nowMs)
            take(steps[next++].toObject());
        clock.advance(50ms, &executor);
        QVERIFY(!(a.permit.isValid() && b.permit.isValid()));
    }
    QCOMPARE(done, (QByteArrayList{"lead", "write", "release"}));
    QVERIFY2(nowMs >= earliestMs && nowMs <= latestMs, qPrintable(QString::number(nowMs)));
}

// The whole of it: at each moment at most one permit, and a new leader within the bound.
void tst_ElectionEnd::threeCandidates()
{
    ManualClock clock;
    ManualExecutor executor;
    ElectionServer server;
    std::vector<std::unique_ptr<FakeLock>> locks;
    std::vector<std::unique_ptr<Candidate>> all;
    const auto join = [&](const QString &name, double random) {
        locks.push_back(std::make_unique<FakeLock>(server, clock, executor));
        all.push_back(
            std::make_unique<Candidate>(settingsOf(name), *locks.back(), clock, executor, random));
        all.back()->elector->start();
        executor.runAll();
    };
    join(u"p0"_s, 0.1);
    join(u"p1"_s, 0.5);
    join(u"p2"_s, 0.9);
    int longestGapMs = 0;
    for (int round = 0; round < 20; ++round) {
        const auto leader = std::find_if(
            all.begin(), all.end(), [](const auto &c) { return c->permit.isValid(); });
        QVERIFY(leader != all.end());
        const size_t index = size_t(leader - all.begin());
        locks[index]->failAlways(u"update"_s, ErrorCode::ConnectionRefused);
        locks[index]->failAlways(u"get"_s, ErrorCode::ConnectionRefused);
        int gapMs = 0;
        for (;; gapMs += 50) {
            const auto leading = std::count_if(
                all.begin(), all.end(), [](const auto &c) { return c->permit.isValid(); });
            QVERIFY(leading <= 1);
            if (leading == 1 && !(*(all.begin() + qsizetype(index)))->permit.isValid())
                break;
            QVERIFY(gapMs < 60000);
            clock.advance(50ms, &executor);
        }
        longestGapMs = std::max(longestGapMs, gapMs);
        QCOMPARE(all[index]->heard.last(), u"lost"_s);
        all.erase(all.begin() + qsizetype(index)); // before its lock
        locks.erase(locks.begin() + qsizetype(index));
        join(u"q%1"_s.arg(round), double(round % 10) / 10);
        clock.advance(std::chrono::milliseconds(5000 + 137 * round), &executor);
    }
    // Lease duration, one wait before it was seen for the last time, one after it ran out.
    QVERIFY2(longestGapMs <= 15000 + 2 * 4400 + 50, qPrintable(QString::number(longestGapMs)));
    QCOMPARE(server.record->leaseTransitions, 20);
}

QTEST_GUILESS_MAIN(tst_ElectionEnd)
#include "tst_electionend.moc"
