// What keys that wait for their time take of memory: 100,000 distinct ones at most 25 MB, and 42
// where the failures of each are counted, too. And that
// the longest delay does not end at once.
#include <testing/manualclock.h>
#include <workqueue/delayingqueue.h>
#include <workqueue/priorityqueue.h>

#include <QTest>
#include <malloc.h>

using namespace davit;
using namespace davit::workqueue;
using namespace std::chrono_literals;

namespace {

constexpr int kKeys = 100'000;

WorkKey keyOf(int i)
{
    return {{QStringLiteral("team-%1").arg(i % 50), QStringLiteral("service-%1-7d4b9c6f5d").arg(i)},
        {}};
}

struct Queues
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    DelayingQueue delaying{time, executor};
    PriorityQueue priority{time, executor, std::make_unique<ExponentialLimiter>(5ms, 1000s)};
};

using Add = std::function<void(Queues &, const WorkKey &)>;

} // namespace
Q_DECLARE_METATYPE(Add)
Q_DECLARE_METATYPE(AddOptions)

class tst_WaitingKeys : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void bytes_data();
    void bytes();
    void endlessDelay_data();
    void endlessDelay();
};

void tst_WaitingKeys::bytes_data()
{
    QTest::addColumn<Add>("add");
    QTest::addColumn<double>("mostMegabytes");
    QTest::newRow("delaying queue")
        << Add([](Queues &queues, const WorkKey &key) { queues.delaying.addAfter(key, 1h); })
        << 25.0;
    QTest::newRow("priority queue") << Add([](Queues &queues, const WorkKey &key) {
        AddOptions options;
        options.after = 1h;
        queues.priority.add(key, options);
    }) << 25.0;
    QTest::newRow("priority queue, by back-off") << Add([](Queues &queues, const WorkKey &key) {
        AddOptions options;
        options.isRateLimited = true;
        queues.priority.add(key, options);
    }) << 42.0;
}

void tst_WaitingKeys::bytes()
{
    QFETCH(const Add, add);
    Queues queues;
    const auto before = quint64(::mallinfo2().uordblks);
    for (int i = 0; i < kKeys; ++i)
        add(queues, keyOf(i));
    const quint64 bytes = quint64(::mallinfo2().uordblks) - before;
    QCOMPARE(queues.delaying.waitingCount() + queues.priority.stats().waiting, kKeys);
    QFETCH(const double, mostMegabytes);
    qInfo("%.1f MB", double(bytes) / 1e6);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QCOMPARE(bytes, 0U); // a sanitizer's heap does not say what is in use
#else
    QVERIFY(double(bytes) / 1e6 <= mostMegabytes);
#endif
}

void tst_WaitingKeys::endlessDelay_data() // B35
{
    QTest::addColumn<AddOptions>("options");
    AddOptions after;
    after.after = std::chrono::nanoseconds::max();
    QTest::newRow("B35 W-17: after") << after;
    AddOptions atLeast;
    atLeast.atLeast = std::chrono::nanoseconds::max();
    QTest::newRow("B35: at least") << atLeast;
    AddOptions limited;
    limited.isRateLimited = true;
    QTest::newRow("B35 W-17: the limiter's") << limited;
}

void tst_WaitingKeys::endlessDelay()
{
    QFETCH(const AddOptions, options);
    constexpr std::chrono::nanoseconds kLongest = std::chrono::nanoseconds::max();
    testing::ManualClock time;
    testing::ManualExecutor executor;
    PriorityQueue queue(time, executor, std::make_unique<ExponentialLimiter>(kLongest, kLongest));
    time.advance(1h);
    AddOptions later;
    later.after = 48h;
    queue.add(keyOf(1), later);
    queue.add(keyOf(1), options); // is later than what it waits for
    queue.add(keyOf(2), options);
    time.advance(24h, &executor);
    QCOMPARE(queue.length(), 0);
    QCOMPARE(queue.stats().waiting, 2);
    time.advance(24h, &executor);
    QCOMPARE(queue.length(), 1);
}

QTEST_GUILESS_MAIN(tst_WaitingKeys)
#include "tst_waitingkeys.moc"
