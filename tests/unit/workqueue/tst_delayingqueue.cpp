#include "testing/manualclock.h"
#include "workqueue/ratelimitingqueue.h"

#include <QTest>

using namespace davit;
using namespace davit::workqueue;
using namespace std::chrono_literals;

namespace {

const WorkKey kX{{QString(), QStringLiteral("x")}, QString()};
const WorkKey kY{{QString(), QStringLiteral("y")}, QString()};

struct Fixture
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    DelayingQueue queue{time, executor};
    void advance(std::chrono::nanoseconds by)
    {
        time.advance(by);
        executor.runAll();
    }
};

} // namespace

class tst_DelayingQueue : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void keepsTheEarlier_data();
    void keepsTheEarlier();
    void endlessDelay_data();
    void endlessDelay();
    void withoutDelay_data();
    void withoutDelay();
    void plainAddKeepsTheWaitingEntry();
    void oneTimerForMany();
    void dueAtOneMoment();
    void manyWait_data();
    void manyWait();
    void shutDownDropsWaiting();
    void timerAfterDeath();
    void rateLimited();
    void endlessLimit();
};

void tst_DelayingQueue::keepsTheEarlier_data()
{
    QTest::addColumn<int>("firstMs");
    QTest::addColumn<int>("secondMs");
    QTest::addColumn<int>("beforeMs"); // nothing yet
    QTest::addColumn<int>("readyMs"); // one item
    QTest::newRow("T72 later, then earlier") << 50 << 30 << 29 << 30;
    QTest::newRow("T73 earlier, then later") << 50 << 70 << 49 << 50;
}

void tst_DelayingQueue::keepsTheEarlier() // W-9
{
    QFETCH(const int, firstMs);
    QFETCH(const int, secondMs);
    QFETCH(const int, beforeMs);
    QFETCH(const int, readyMs);
    Fixture f;
    f.queue.addAfter(kX, std::chrono::milliseconds(firstMs));
    f.queue.addAfter(kX, std::chrono::milliseconds(secondMs));
    QCOMPARE(f.queue.waitingCount(), 1);
    f.advance(std::chrono::milliseconds(beforeMs));
    QCOMPARE(f.queue.length(), 0);
    f.advance(std::chrono::milliseconds(readyMs - beforeMs));
    QVERIFY(f.queue.tryGet() == kX);
    QVERIFY(f.queue.done(kX).isOk());
    f.advance(1h);
    QVERIFY(!f.queue.tryGet());
    QCOMPARE(f.queue.waitingCount(), 0);
}

// A moment that does not fit its type is not one in the past: the key would be ready at once, again
// and again.
void tst_DelayingQueue::endlessDelay_data()
{
    QTest::addColumn<qint64>("delayNs");
    const qint64 longest = std::chrono::nanoseconds::max().count();
    QTest::newRow("B35 W-8: the longest delay") << longest;
    QTest::newRow("B35 W-8: its moment just fits") << longest - qint64(1h / 1ns);
    QTest::newRow("B35 W-8: its moment just does not fit") << longest - qint64(1h / 1ns) + 1;
}

void tst_DelayingQueue::endlessDelay()
{
    QFETCH(const qint64, delayNs);
    Fixture f;
    f.advance(1h);
    f.queue.addAfter(kX, std::chrono::nanoseconds(delayNs));
    f.advance(24h);
    QCOMPARE(f.queue.length(), 0);
    QCOMPARE(f.queue.waitingCount(), 1);
    f.queue.addAfter(kX, 1s);
    f.advance(1s);
    QVERIFY(f.queue.tryGet() == kX);
}

void tst_DelayingQueue::withoutDelay_data()
{
    QTest::addColumn<int>("delayMs");
    QTest::newRow("T74 zero") << 0;
    QTest::newRow("T74 negative") << -1000;
}

void tst_DelayingQueue::withoutDelay() // W-8
{
    QFETCH(const int, delayMs);
    Fixture f;
    f.queue.addAfter(kX, std::chrono::milliseconds(delayMs));
    QCOMPARE(f.queue.length(), 1);
}

void tst_DelayingQueue::plainAddKeepsTheWaitingEntry() // W-10
{
    Fixture f;
    f.queue.addAfter(kX, 1s);
    f.queue.add(kX);
    QVERIFY(f.queue.tryGet() == kX);
    QVERIFY(f.queue.done(kX).isOk());
    f.advance(1s);
    QVERIFY(f.queue.tryGet() == kX);
}

void tst_DelayingQueue::oneTimerForMany()
{
    Fixture f;
    f.queue.addAfter(kY, 3s);
    f.queue.addAfter(kX, 1s);
    QVERIFY(f.time.untilNextTimer() == 1s);
    f.advance(1s);
    QCOMPARE(f.queue.length(), 1);
    QVERIFY(f.time.untilNextTimer() == 2s);
    f.advance(2s);
    QCOMPARE(f.queue.length(), 2);
    QVERIFY(!f.time.untilNextTimer());
}

void tst_DelayingQueue::dueAtOneMoment() // in the order of adding
{
    constexpr int kKeys = 40;
    Fixture f;
    for (int i = 0; i < kKeys; ++i)
        f.queue.addAfter({{QString(), QString::number(i)}, {}}, 1s);
    f.advance(1s);
    for (int i = 0; i < kKeys; ++i)
        QCOMPARE(f.queue.tryGet()->object.name, QString::number(i));
}

void tst_DelayingQueue::manyWait_data()
{
    QTest::addColumn<int>("keys");
    QTest::newRow("W-8: 100,000 keys wait, no limit") << 100'000;
}

void tst_DelayingQueue::manyWait()
{
    QFETCH(const int, keys);
    Fixture f;
    for (int i = 0; i < keys; ++i)
        f.queue.addAfter({{QString(), QString::number(i)}, {}}, std::chrono::seconds(1 + i % 60));
    QCOMPARE(f.queue.waitingCount(), keys);
    QCOMPARE(f.queue.length(), 0);
    f.advance(30s);
    QCOMPARE(f.queue.length() + f.queue.waitingCount(), keys);
    f.advance(30s);
    QCOMPARE(f.queue.length(), keys);
}

void tst_DelayingQueue::shutDownDropsWaiting() // W-12
{
    Fixture f;
    f.queue.addAfter(kX, 1s);
    f.queue.shutDown();
    f.queue.addAfter(kY, 1s);
    f.advance(2s);
    QVERIFY(!f.queue.get());
    QCOMPARE(f.queue.waitingCount(), 0);
}

void tst_DelayingQueue::timerAfterDeath()
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    auto queue = std::make_unique<DelayingQueue>(time, executor);
    queue->addAfter(kX, 1s);
    time.advance(1s); // the work is posted, and the queue dies before it runs
    queue.reset();
    executor.runAll();
    QVERIFY(!time.untilNextTimer());
}

void tst_DelayingQueue::rateLimited() // W-13
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    RateLimitingQueue queue(time, executor, std::make_unique<ExponentialLimiter>(1ms, 1000s));
    for (int i = 0; i < 3; ++i) {
        queue.addRateLimited(kX);
        const auto delay = std::chrono::milliseconds(1 << i);
        QVERIFY(time.untilNextTimer() == delay);
        time.advance(delay);
        executor.runAll();
        QVERIFY(queue.tryGet() == kX);
        QVERIFY(queue.done(kX).isOk());
    }
    QCOMPARE(queue.requeues(kX), 3);
    queue.forget(kX);
    QCOMPARE(queue.requeues(kX), 0);
}

void tst_DelayingQueue::endlessLimit() // B35, W-13
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    constexpr std::chrono::nanoseconds kLongest = std::chrono::nanoseconds::max();
    RateLimitingQueue queue(
        time, executor, std::make_unique<ExponentialLimiter>(kLongest, kLongest));
    time.advance(1h);
    queue.addRateLimited(kX);
    time.advance(24h, &executor);
    QCOMPARE(queue.length(), 0);
}

QTEST_GUILESS_MAIN(tst_DelayingQueue)
#include "tst_delayingqueue.moc"
