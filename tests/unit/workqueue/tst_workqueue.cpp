#include "testing/manualclock.h"
#include "workqueue/workqueue.h"

#include <QTest>
#include <atomic>
#include <future>
#include <thread>

using namespace davit;
using namespace davit::workqueue;
using namespace std::chrono_literals;

namespace {

using Story = std::function<void()>;

WorkKey key(const char *name)
{
    return {{QString(), QString::fromLatin1(name)}, QString()};
}

class Counts final : public QueueObserver
{
public:
    void depthChanged(int, qsizetype items) override { depth = items; }
    void added() override { ++adds; }
    void handedOut(std::chrono::nanoseconds time) override { waited = time; }
    void finished(std::chrono::nanoseconds time) override { worked = time; }
    void retried() override { ++retries; }
    qsizetype depth = 0;
    int adds = 0;
    int retries = 0;
    std::chrono::nanoseconds waited{-1};
    std::chrono::nanoseconds worked{-1};
};

class LastFirst final : public QueueOrder
{
public:
    void push(const WorkKey &key) override { keys.push_back(key); }
    WorkKey pop() override
    {
        const WorkKey last = keys.back();
        keys.pop_back();
        return last;
    }
    void touch(const WorkKey &) override { ++touched; }
    qsizetype length() const override { return qsizetype(keys.size()); }
    std::vector<WorkKey> keys;
    int touched = 0;
};

void addedThreeTimes() // T68
{
    testing::ManualClock time;
    WorkQueue queue(time);
    for (int i = 0; i < 3; ++i)
        queue.add(key("x"));
    QCOMPARE(queue.length(), 1);
    QVERIFY(queue.tryGet() == key("x"));
    QCOMPARE(queue.length(), 0);
    QVERIFY(!queue.tryGet());
}

void addedWhileProcessed() // T69
{
    testing::ManualClock time;
    Counts counts;
    WorkQueue queue(time, &counts);
    queue.add(key("x"));
    QVERIFY(queue.tryGet());
    queue.add(key("x"));
    queue.add(key("x"));
    QCOMPARE(queue.length(), 0);
    QVERIFY(queue.done(key("x")).isOk());
    QVERIFY(queue.tryGet() == key("x"));
    QVERIFY(queue.done(key("x")).isOk());
    QVERIFY(!queue.tryGet());
    QCOMPARE(counts.adds, 2); // counts the insertion also while it is processed (W-1)
}

void drainIgnoresWhatWaits() // T70
{
    testing::ManualClock time;
    WorkQueue queue(time);
    queue.add(key("x"));
    QVERIFY(queue.tryGet());
    queue.add(key("y"));
    auto drain = std::async(std::launch::async, [&] { queue.shutDownWithDrain(); });
    while (!queue.isShuttingDown())
        std::this_thread::yield();
    QVERIFY(queue.done(key("x")).isOk());
    drain.get();
    QVERIFY(queue.get() == key("y"));
}

void drainWaitsForWhatCameBack() // T71
{
    testing::ManualClock time;
    WorkQueue queue(time);
    queue.add(key("x"));
    QVERIFY(queue.tryGet());
    queue.add(key("x"));
    std::atomic<bool> hasDrained = false;
    auto drain = std::async(std::launch::async, [&] {
        queue.shutDownWithDrain();
        hasDrained = true;
    });
    while (!queue.isShuttingDown())
        std::this_thread::yield();
    QVERIFY(queue.done(key("x")).isOk());
    QVERIFY(queue.get() == key("x"));
    QVERIFY(!hasDrained);
    QVERIFY(queue.done(key("x")).isOk());
    drain.get();
    QVERIFY(!queue.get());
}

void order() // W-2
{
    testing::ManualClock time;
    auto policy = std::make_unique<LastFirst>();
    LastFirst &seen = *policy;
    WorkQueue queue(time, nullptr, std::move(policy));
    queue.add(key("a"));
    queue.add(key("b"));
    queue.add(key("a"));
    QCOMPARE(seen.touched, 1);
    QVERIFY(queue.tryGet() == key("b"));
    queue.add(key("b")); // processed: not told
    queue.add(key("b"));
    QCOMPARE(seen.touched, 1);
    QVERIFY(queue.tryGet() == key("a"));
}

void doneWithoutGet() // W-3, Davit's way
{
    testing::ManualClock time;
    WorkQueue queue(time);
    queue.add(key("x"));
    const Status status = queue.done(key("x"));
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    QCOMPARE(status.error().message(),
        QStringLiteral("work queue: done with x, which was not handed out"));
    QCOMPARE(queue.length(), 1);
    QVERIFY(queue.tryGet());
    QVERIFY(!queue.tryGet());
}

void shutDownHandsOutTheRest() // W-4
{
    testing::ManualClock time;
    WorkQueue queue(time);
    queue.add(key("a"));
    queue.shutDown();
    queue.add(key("b"));
    QVERIFY(queue.get() == key("a"));
    QVERIFY(!queue.get());
    QVERIFY(queue.isShuttingDown());
}

void shutDownEndsDrain() // W-4, W-5
{
    testing::ManualClock time;
    WorkQueue queue(time);
    queue.add(key("x"));
    QVERIFY(queue.tryGet());
    auto drain = std::async(std::launch::async, [&] { queue.shutDownWithDrain(); });
    while (!queue.isShuttingDown())
        std::this_thread::yield();
    queue.shutDown();
    drain.get();
    QCOMPARE(queue.stats().processing, 1);
}

void observer() // 6.4
{
    testing::ManualClock time;
    Counts counts;
    WorkQueue queue(time, &counts);
    queue.add(key("x"));
    queue.add(key("y"));
    QCOMPARE(counts.depth, 2);
    time.advance(3s);
    QVERIFY(queue.tryGet());
    QCOMPARE(counts.depth, 1);
    QVERIFY(counts.waited == 3s);
    time.advance(2s);
    QVERIFY(queue.tryGet());
    QVERIFY(counts.waited == 5s);
    time.advance(4s);
    const QueueStats stats = queue.stats();
    QCOMPARE(stats.processing, 2);
    QVERIFY(stats.unfinishedWork == 10s);
    QVERIFY(stats.longestRunning == 6s);
    QVERIFY(queue.done(key("x")).isOk());
    QVERIFY(counts.worked == 6s);
}

} // namespace

class tst_WorkQueue : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stories_data();
    void stories();
    void names_data();
    void names();
    void neverTwoWorkersForOneKey();
};

void tst_WorkQueue::stories_data()
{
    QTest::addColumn<Story>("story");
    QTest::newRow("T68: added three times") << Story(addedThreeTimes);
    QTest::newRow("T69: added while it is processed") << Story(addedWhileProcessed);
    QTest::newRow("T70: a drain ignores what waits") << Story(drainIgnoresWhatWaits);
    QTest::newRow("T71: a drain waits for what came back") << Story(drainWaitsForWhatCameBack);
    QTest::newRow("W-2: an order of its own") << Story(order);
    QTest::newRow("W-3: done without get") << Story(doneWithoutGet);
    QTest::newRow("W-4: shut down, the rest is handed out") << Story(shutDownHandsOutTheRest);
    QTest::newRow("W-5: shutting down ends a drain") << Story(shutDownEndsDrain);
    QTest::newRow("6.4: what is counted") << Story(observer);
}

void tst_WorkQueue::stories()
{
    QFETCH(const Story, story);
    story();
}

void tst_WorkQueue::names_data()
{
    QTest::addColumn<QString>("namespaceName");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("cluster");
    QTest::addColumn<QString>("text");
    QTest::newRow("namespaced") << QStringLiteral("a") << QStringLiteral("b") << QString()
                                << QStringLiteral("a/b");
    QTest::newRow("cluster scope")
        << QString() << QStringLiteral("b") << QString() << QStringLiteral("b");
    QTest::newRow("another cluster") << QStringLiteral("a") << QStringLiteral("b")
                                     << QStringLiteral("edge") << QStringLiteral("edge:a/b");
}

void tst_WorkQueue::names()
{
    QFETCH(const QString, namespaceName);
    QFETCH(const QString, name);
    QFETCH(const QString, cluster);
    QTEST(toString(WorkKey{{namespaceName, name}, cluster}), "text");
}

void tst_WorkQueue::neverTwoWorkersForOneKey() // W-1
{
    testing::ManualClock time;
    WorkQueue queue(time);
    constexpr int kKeys = 7;
    constexpr int kAdds = 4000;
    std::array<std::atomic<int>, kKeys> inside{};
    std::atomic<int> overlaps = 0;
    std::atomic<int> runs = 0;
    std::vector<std::thread> workers;
    for (int w = 0; w < 4; ++w) {
        workers.emplace_back([&] {
            while (const std::optional<WorkKey> got = queue.get()) {
                std::atomic<int> &mine = inside[size_t(got->object.name.toInt())];
                overlaps += mine.fetch_add(1);
                ++runs;
                mine.fetch_sub(1);
                if (!queue.done(*got).isOk())
                    ++overlaps;
            }
        });
    }
    std::vector<std::thread> producers;
    for (int p = 0; p < 2; ++p) {
        producers.emplace_back([&, p] {
            for (int i = 0; i < kAdds; ++i)
                queue.add({{QString(), QString::number((i + p) % kKeys)}, QString()});
        });
    }
    for (std::thread &producer : producers)
        producer.join();
    queue.shutDownWithDrain();
    for (std::thread &worker : workers)
        worker.join();
    QCOMPARE(overlaps.load(), 0);
    QVERIFY(runs.load() >= kKeys);
    QCOMPARE(queue.length(), 0);
}

QTEST_GUILESS_MAIN(tst_WorkQueue)
#include "tst_workqueue.moc"
