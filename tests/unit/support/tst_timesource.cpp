// The machine's clock and the manual one stand behind the same class: what both promise is asked of
// both. The machine's rows wait for milliseconds of real time, which is what they are about.
#include <support/moment.h>
#include <support/permit.h>
#include <support/timesource.h>
#include <testing/manualclock.h>

#include <QTest>
#include <atomic>
#include <limits>
#include <semaphore>

using namespace std::chrono_literals;
using davit::support::systemTimeSource;
using davit::testing::ManualClock;
using davit::testing::ManualExecutor;

class tst_TimeSource : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void momentAfter_data();
    void momentAfter();
    void manualOrder();
    void manualEndless();
    void systemEndless();
    void manualChain();
    void manualCancel();
    void manualClocksMoveTogether();
    void permit();
    void permitOfTheMachine();
    void systemFiresInOrder();
    void systemCancelled();
    void systemIsMonotonic();
};

namespace {

class DirectExecutor final : public davit::support::Executor
{
public:
    void post(Work work) override { work(); }
};

} // namespace

void tst_TimeSource::manualOrder()
{
    ManualClock clock;
    ManualExecutor executor;
    QByteArray seen;
    clock.callAfter(2s, executor, [&] { seen += 'b'; });
    clock.callAfter(1s, executor, [&] { seen += 'a'; });
    clock.callAfter(2s, executor, [&] { seen += 'c'; });
    clock.callAfter(0s, executor, [&] { seen += '0'; });
    clock.callAfter(3s, executor, [&] { seen += 'd'; });
    QCOMPARE(executor.pendingItems(), 1);
    clock.advance(2s);
    QCOMPARE(seen, QByteArray()); // posted, not run
    QCOMPARE(executor.runAll(), 4);
    QCOMPARE(seen, QByteArray("0abc"));
    QCOMPARE(clock.pendingTimers(), 1);
    QCOMPARE(clock.untilNextTimer()->count(), std::chrono::nanoseconds(1s).count());
}

void tst_TimeSource::momentAfter_data()
{
    QTest::addColumn<qint64>("now");
    QTest::addColumn<qint64>("delay");
    QTest::addColumn<qint64>("moment");
    constexpr qint64 kLast = std::numeric_limits<qint64>::max();
    QTest::newRow("soon") << qint64(7) << qint64(5) << qint64(12);
    QTest::newRow("in the past") << qint64(7) << qint64(-5) << qint64(2);
    QTest::newRow("just fits") << qint64(7) << kLast - 7 << kLast;
    QTest::newRow("just does not fit") << qint64(7) << kLast - 6 << kLast;
    QTest::newRow("at the end of time") << kLast << qint64(1) << kLast;
    QTest::newRow("longest of all") << kLast << kLast << kLast;
}

void tst_TimeSource::momentAfter()
{
    QFETCH(const qint64, now);
    QFETCH(const qint64, delay);
    const std::chrono::nanoseconds moment = davit::support::momentAfter(
        std::chrono::nanoseconds(now), std::chrono::nanoseconds(delay));
    QTEST(qint64(moment.count()), "moment");
}

void tst_TimeSource::manualEndless() // B35
{
    ManualClock clock;
    ManualExecutor executor;
    clock.advance(1h);
    clock.callAfter(std::chrono::nanoseconds::max(), executor, [] { QFAIL("it is not due"); });
    clock.advance(24h, &executor);
    QCOMPARE(clock.pendingTimers(), 1);
}

void tst_TimeSource::systemEndless() // B35
{
    DirectExecutor executor;
    std::binary_semaphore done{0};
    std::atomic<bool> isEarly = false;
    const auto endless = systemTimeSource().callAfter(
        std::chrono::nanoseconds::max(), executor, [&] { isEarly = true; });
    systemTimeSource().callAfter(1ms, executor, [&] { done.release(); });
    done.acquire();
    systemTimeSource().cancel(endless);
    QVERIFY(!isEarly);
}

void tst_TimeSource::manualChain()
{
    ManualClock clock;
    ManualExecutor executor;
    std::vector<long long> at;
    std::function<void()> again = [&] {
        at.push_back(clock.monotonic() / 1s);
        clock.callAfter(10s, executor, again);
    };
    clock.callAfter(10s, executor, again);
    clock.advance(35s, &executor);
    QCOMPARE(at, (std::vector<long long>{10, 20, 30}));
}

void tst_TimeSource::manualCancel()
{
    ManualClock clock;
    ManualExecutor executor;
    const auto id = clock.callAfter(1s, executor, [] { QFAIL("cancelled"); });
    clock.cancel(id);
    clock.cancel(12345); // unknown: nothing
    clock.advance(1min, &executor);
    QCOMPARE(executor.runAll(), 0);
}

void tst_TimeSource::manualClocksMoveTogether()
{
    ManualClock clock(100s);
    clock.advance(5s);
    QCOMPARE(clock.monotonic().count(), std::chrono::nanoseconds(5s).count());
    QCOMPARE(clock.utc().count(), std::chrono::nanoseconds(105s).count());
    clock.shiftUtc(-50s);
    QCOMPARE(clock.monotonic().count(), std::chrono::nanoseconds(5s).count());
    QCOMPARE(clock.utc().count(), std::chrono::nanoseconds(55s).count());
}

void tst_TimeSource::permit()
{
    ManualClock clock;
    davit::support::Permit permit(clock, QStringLiteral("why"));
    QCOMPARE(permit.refusal(), QStringLiteral("why"));
    QVERIFY(!permit.isValid());
    QVERIFY(!permit.extend(0s)); // too late for the first time is no end
    QVERIFY(permit.extend(10s));
    QVERIFY(permit.isValid());
    QVERIFY(permit.extend(5s)); // never shortened
    clock.shiftUtc(3600s);
    clock.advance(9s);
    QVERIFY(permit.isValid());
    QVERIFY(permit.extend(20s));
    clock.advance(11s);
    QVERIFY(!permit.extend(30s)); // it had run out, though nobody had asked yet
    QVERIFY(!permit.isValid());

    davit::support::Permit asked(clock, QString());
    QVERIFY(asked.extend(21s));
    clock.advance(1s);
    QVERIFY(!asked.isValid());
    QVERIFY(!asked.extend(60s)); // someone was refused already

    davit::support::Permit revoked(clock, QString());
    QVERIFY(revoked.extend(60s));
    revoked.revoke();
    QVERIFY(!revoked.isValid());
    QVERIFY(!revoked.extend(90s));
}

void tst_TimeSource::permitOfTheMachine()
{
    const auto &time = systemTimeSource();
    const auto now = davit::support::sinceBoot(time);
    davit::support::Permit permit(time, QString());
    QVERIFY(permit.extend(now + 1h));
    QVERIFY(permit.isValid());
    davit::support::Permit late(time, QString());
    QVERIFY(!late.extend(now));
    QVERIFY(davit::support::sinceBoot(time) >= now);
}

void tst_TimeSource::systemFiresInOrder()
{
    auto &time = systemTimeSource();
    DirectExecutor executor; // works run on the timer thread
    QByteArray seen;
    std::binary_semaphore done(0);
    const auto start = time.monotonic();
    time.callAfter(20ms, executor, [&] { seen += 'b'; });
    time.callAfter(10ms, executor, [&] { seen += 'a'; });
    time.callAfter(30ms, executor, [&] {
        seen += 'c';
        done.release();
    });
    done.acquire();
    QVERIFY(time.monotonic() - start >= 30ms);
    QCOMPARE(seen, QByteArray("abc"));
}

void tst_TimeSource::systemCancelled()
{
    auto &time = systemTimeSource();
    DirectExecutor executor;
    bool hasFired = false;
    std::binary_semaphore done(0);
    const auto id = time.callAfter(5ms, executor, [&] { hasFired = true; });
    time.cancel(id);
    time.callAfter(20ms, executor, [&] { done.release(); });
    done.acquire();
    QVERIFY(!hasFired);
}

void tst_TimeSource::systemIsMonotonic()
{
    auto &time = systemTimeSource();
    auto last = time.monotonic();
    for (int i = 0; i < 1000; ++i) {
        const auto now = time.monotonic();
        QVERIFY(now >= last);
        last = now;
    }
    QVERIFY(time.utc() > std::chrono::hours(24 * 365 * 50)); // past 2020
}

QTEST_GUILESS_MAIN(tst_TimeSource)
#include "tst_timesource.moc"
