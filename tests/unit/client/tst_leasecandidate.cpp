// L-19: the candidate's own object in a coordinated election, against one in memory and on a clock
// turned by hand.
#include "client/leasecandidate.h"

#include <testing/manualclock.h>

#include <QTest>

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using davit::Error;
using davit::ErrorCode;
using davit::client::CandidateObject;
using davit::client::CandidateRecord;
using davit::client::LeaseCandidate;
using davit::testing::ManualClock;
using davit::testing::ManualExecutor;

// Notes what is asked, and answers with the next fault, if there is one.
class FakeObject final : public CandidateObject
{
public:
    explicit FakeObject(ManualExecutor &executor) : m_executor(executor) { }
    void get(Done done) override { answer(u"get"_s, std::nullopt, std::move(done)); }
    void create(const CandidateRecord &record, Done done) override
    {
        answer(u"create"_s, record, std::move(done));
    }
    void update(const CandidateRecord &record, Done done) override
    {
        answer(u"update"_s, record, std::move(done));
    }

    std::optional<CandidateRecord> stored;
    QStringList calls;
    QList<ErrorCode> faults; // of the next calls; Unset: none

private:
    void answer(const QString &verb, const std::optional<CandidateRecord> &written, Done done)
    {
        calls += verb;
        const ErrorCode fault = faults.isEmpty() ? ErrorCode::Unset : faults.takeFirst();
        Reply reply;
        if (fault != ErrorCode::Unset)
            reply.error = Error(fault, verb);
        else if (written)
            stored = written;
        else if (!stored)
            reply.error = Error(ErrorCode::NotFound, verb);
        if (stored && !reply.error.isError())
            reply.record = *stored;
        m_executor.post([done = std::move(done), reply] { done(reply); });
    }

    ManualExecutor &m_executor;
};

struct Rig
{
    ManualClock clock;
    ManualExecutor executor;
    FakeObject object{executor};
    int failures = 0;
    LeaseCandidate candidate{
        {u"davit"_s, u"1.2.0"_s, u"1.1.0"_s, u"OldestEmulationVersion"_s, {}, {}},
        {object, clock, executor, [this](const Error &) { ++failures; }}};

    void advance(std::chrono::nanoseconds time)
    {
        clock.advance(time, &executor);
        executor.runAll();
    }
};

class tst_LeaseCandidate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void publishes();
    void keepsWhatItFinds();
    void pings_data();
    void pings();
    void pingWhileBusy();
    void triesAgain();
    void endsSilently();
};

void tst_LeaseCandidate::publishes()
{
    Rig rig;
    rig.candidate.start();
    rig.executor.runAll();
    QCOMPARE(rig.object.calls, (QStringList{u"get"_s, u"create"_s}));
    QCOMPARE(rig.object.stored->leaseName, u"davit"_s);
    QCOMPARE(rig.object.stored->binaryVersion, u"1.2.0"_s);
    QCOMPARE(rig.object.stored->emulationVersion, u"1.1.0"_s);
    QCOMPARE(rig.object.stored->strategy, u"OldestEmulationVersion"_s);
    QVERIFY(rig.object.stored->renewTime == rig.clock.utc());
    rig.advance(5min - 1ms);
    QCOMPARE(rig.object.calls.size(), 2);
    rig.advance(1ms); // the resync
    QCOMPARE(rig.object.calls.mid(2), (QStringList{u"get"_s, u"update"_s}));
    QVERIFY(rig.object.stored->renewTime == rig.clock.utc());
}

void tst_LeaseCandidate::keepsWhatItFinds()
{
    Rig rig;
    rig.object.stored
        = CandidateRecord{u"davit"_s, u"1.0.0"_s, u"1.0.0"_s, u"NoStrategy"_s, 1s, 2s};
    rig.candidate.start();
    rig.executor.runAll();
    QCOMPARE(rig.object.calls, (QStringList{u"get"_s, u"update"_s}));
    QCOMPARE(rig.object.stored->binaryVersion, u"1.0.0"_s);
    QVERIFY(rig.object.stored->pingTime == std::optional<std::chrono::nanoseconds>(2s));
    QVERIFY(rig.object.stored->renewTime == rig.clock.utc());
}

void tst_LeaseCandidate::pings_data()
{
    QTest::addColumn<int>("renewSeconds"); // negative: none
    QTest::addColumn<int>("pingSeconds");
    QTest::addColumn<bool>("isAnswered");
    QTest::newRow("later than the renewal") << 10 << 11 << true;
    QTest::newRow("at the same time") << 10 << 10 << false;
    QTest::newRow("answered already") << 10 << 9 << false;
    QTest::newRow("none") << 10 << -1 << false;
    QTest::newRow("never renewed") << -1 << 1 << true;
}

void tst_LeaseCandidate::pings()
{
    QFETCH(const int, renewSeconds);
    QFETCH(const int, pingSeconds);
    Rig rig;
    rig.candidate.start();
    rig.executor.runAll();
    CandidateRecord seen;
    if (renewSeconds >= 0)
        seen.renewTime = std::chrono::seconds(renewSeconds);
    if (pingSeconds >= 0)
        seen.pingTime = std::chrono::seconds(pingSeconds);
    rig.candidate.observed(seen);
    rig.executor.runAll();
    const bool isAnswered = rig.object.calls.size() == 4;
    QTEST(isAnswered, "isAnswered");
    rig.advance(5min); // counted from the answer
    QCOMPARE(rig.object.calls.size(), isAnswered ? 6 : 4);
}

// Pings while a request is under way are answered by one more, not by one each.
void tst_LeaseCandidate::pingWhileBusy()
{
    Rig rig;
    rig.candidate.start();
    CandidateRecord ping;
    ping.pingTime = 1s;
    rig.candidate.observed(ping);
    rig.candidate.observed(ping);
    rig.executor.runAll();
    QCOMPARE(rig.object.calls, (QStringList{u"get"_s, u"create"_s, u"get"_s, u"update"_s}));
}

void tst_LeaseCandidate::triesAgain()
{
    Rig rig;
    rig.object.faults = {
        ErrorCode::ServiceUnavailable, ErrorCode::Unset, ErrorCode::Conflict, ErrorCode::Forbidden};
    rig.candidate.start();
    rig.executor.runAll();
    QCOMPARE(rig.object.calls, QStringList(u"get"_s));
    rig.advance(5ms);
    QCOMPARE(rig.object.calls.size(), 3); // get, create: 409
    rig.advance(10ms);
    QCOMPARE(rig.object.calls.size(), 4);
    QCOMPARE(rig.failures, 3);
    rig.advance(19ms);
    QCOMPARE(rig.object.calls.size(), 4);
    rig.advance(1ms);
    QCOMPARE(rig.object.calls.mid(4), (QStringList{u"get"_s, u"create"_s}));
    rig.object.faults = {ErrorCode::ServiceUnavailable};
    rig.advance(5min);
    QCOMPARE(rig.object.calls.size(), 7);
    rig.advance(5ms); // the row of failures began anew
    QCOMPARE(rig.object.calls.size(), 9);
}

void tst_LeaseCandidate::endsSilently()
{
    ManualClock clock;
    ManualExecutor executor;
    FakeObject object(executor);
    {
        LeaseCandidate candidate({}, {object, clock, executor, {}});
        candidate.start();
    }
    executor.runAll();
    clock.advance(10min, &executor);
    executor.runAll();
    QCOMPARE(object.calls, QStringList());
}

QTEST_GUILESS_MAIN(tst_LeaseCandidate)
#include "tst_leasecandidate.moc"
