#include "testing/manualclock.h"
#include "workqueue/queueregistry.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>
#include <atomic>
#include <random>
#include <set>
#include <thread>

using namespace davit;
using namespace davit::workqueue;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

using Story = std::function<void()>;

WorkKey key(const QString &name)
{
    return {{QString(), name}, QString()};
}
WorkKey key(const char *name)
{
    return key(QString::fromLatin1(name));
}

class Counts final : public QueueObserver
{
public:
    void depthChanged(int priority, qsizetype items) override
    {
        depth[priority] = items;
        lowest = std::min(lowest, items);
    }
    void added() override { ++adds; }
    void handedOut(std::chrono::nanoseconds time) override { waited = time; }
    void finished(std::chrono::nanoseconds) override { ++finishes; }
    void retried() override { ++retries; }
    std::map<int, qsizetype> depth;
    qsizetype lowest = 0;
    int adds = 0;
    int finishes = 0;
    int retries = 0;
    std::chrono::nanoseconds waited{-1};
};

struct Fixture
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    Counts counts;
    PriorityQueue queue{time, executor, std::make_unique<ExponentialLimiter>(5ms, 1000s), &counts};
    PriorityQueue::Consumer consumer = queue.attach();

    void add(const char *name, int priority = 0, std::chrono::nanoseconds after = 0ns)
    {
        AddOptions options;
        options.priority = priority;
        options.after = after;
        queue.add(key(name), options);
    }
    // The next ready key's name, done at once; empty when there is none.
    QString next()
    {
        const std::optional<WorkItem> item = queue.tryGet(consumer);
        if (!item)
            return QString();
        const bool isDone = queue.done(item->key).isOk();
        return isDone ? item->key.object.name : QStringLiteral("not done");
    }
    void advance(std::chrono::nanoseconds by)
    {
        time.advance(by);
        executor.runAll();
    }
};

void byPriorityThenAge() // T77, W-19
{
    Fixture f;
    f.add("a");
    f.add("b", 5);
    f.add("c", 5);
    QCOMPARE(f.counts.depth, (std::map<int, qsizetype>{{0, 1}, {5, 2}}));
    QCOMPARE(f.next(), QStringLiteral("b"));
    QCOMPARE(f.next(), QStringLiteral("c"));
    QCOMPARE(f.next(), QStringLiteral("a"));
    QCOMPARE(f.counts.depth, (std::map<int, qsizetype>{{0, 0}, {5, 0}}));
}

void priorityOnlyRises() // T78, W-18
{
    Fixture f;
    f.add("b");
    f.add("a");
    f.add("a", 1);
    f.add("a", -1);
    const std::optional<WorkItem> first = f.queue.tryGet(f.consumer);
    QVERIFY(first && first->key == key("a"));
    QCOMPARE(first->priority, 1);
    QCOMPARE(f.next(), QStringLiteral("b"));
    f.add("late", 0); // a raised one goes behind the others of its level
    f.add("c", 1);
    f.add("late", 1);
    QCOMPARE(f.next(), QStringLiteral("c"));
    QCOMPARE(f.next(), QStringLiteral("late"));
}

void readyBeatsDelay() // T79, W-18, W-23
{
    Fixture f;
    f.add("x", 0, 1h);
    QCOMPARE(f.queue.length(), 0);
    QCOMPARE(f.counts.adds, 0);
    QCOMPARE(f.counts.retries, 1);
    f.add("x");
    QCOMPARE(f.queue.length(), 1);
    QCOMPARE(f.counts.adds, 1);
    QCOMPARE(f.counts.retries, 1);
    QCOMPARE(f.next(), QStringLiteral("x"));
    f.advance(2h);
    QCOMPARE(f.next(), QString());
}

void shutDownDropsAll() // T80, W-22
{
    Fixture f;
    f.add("a");
    f.add("b", 3);
    f.add("c", 0, 1s);
    QVERIFY(f.queue.tryGet(f.consumer));
    f.queue.shutDown();
    QVERIFY(!f.queue.get(f.consumer));
    f.add("d");
    f.advance(2s);
    QCOMPARE(f.queue.length(), 0);
    QCOMPARE(f.queue.stats().waiting, 0);
    QVERIFY(f.queue.done(key("b")).isOk());
    QCOMPARE(f.counts.depth, (std::map<int, qsizetype>{{0, 0}, {3, 0}}));
}

void shutDownWithThreeReady() // T80
{
    Fixture f;
    for (const char *name : {"a", "b", "c"})
        f.add(name);
    QCOMPARE(f.queue.length(), 3);
    f.queue.shutDown();
    QVERIFY(!f.queue.get(f.consumer)); // at once, and none of them
    QCOMPARE(f.queue.length(), 0);
}

void keepsTheEarlierMoment() // W-18
{
    Fixture f;
    f.add("x", 0, 50ms);
    f.add("x", 0, 30ms);
    f.add("x", 0, 70ms);
    QVERIFY(f.time.untilNextTimer() == 30ms);
    f.advance(29ms);
    QCOMPARE(f.queue.length(), 0);
    f.advance(1ms);
    QCOMPARE(f.queue.length(), 1);
    QCOMPARE(f.next(), QStringLiteral("x"));
    f.advance(1h);
    QCOMPARE(f.queue.length(), 0);
}

void ageCountsFromReady() // W-19, B38
{
    Fixture f;
    f.add("first", 0, 10ms);
    f.add("second");
    f.advance(10ms);
    f.add("third");
    QCOMPARE(f.next(), QStringLiteral("second"));
    f.advance(7ms);
    QCOMPARE(f.next(), QStringLiteral("first"));
    QVERIFY(f.counts.waited == 7ms); // its delay is no waiting
    QCOMPARE(f.next(), QStringLiteral("third"));
}

void processedKeyIsHeld() // W-20
{
    Fixture f;
    f.add("x");
    f.add("y", -1);
    QVERIFY(f.queue.tryGet(f.consumer)->key == key("x"));
    f.add("x", 9);
    QCOMPARE(f.queue.length(), 2);
    QVERIFY(f.queue.processing(f.consumer) == std::vector<WorkKey>{key("x")});
    QCOMPARE(f.next(), QStringLiteral("y"));
    QCOMPARE(f.next(), QString());
    QVERIFY(f.queue.done(key("x")).isOk());
    const std::optional<WorkItem> again = f.queue.tryGet(f.consumer);
    QVERIFY(again && again->key == key("x"));
    QCOMPARE(again->priority, 9);
}

void doneWithoutGet() // W-3, Davit's way
{
    Fixture f;
    f.add("x");
    QCOMPARE(f.queue.done(key("x")).error().code(), ErrorCode::InvalidArgument);
    QCOMPARE(f.queue.length(), 1);
}

void emptyLevelsAreLeftOut()
{
    Fixture f;
    for (int priority = 0; priority < 20; ++priority) { // more than it keeps counters for
        f.add("k", priority);
        QCOMPARE(f.queue.stats().readyByPriority, (std::map<int, qsizetype>{{priority, 1}}));
        QCOMPARE(f.next(), u"k"_s);
        QVERIFY(f.queue.stats().readyByPriority.empty());
    }
}

// The steps of B38-priority.json, on its clock: one worker, 10 ms a run.
void importantAndDelayed() // B38-priority.json
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B38-priority.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject input = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(input[u"cost"_s].toString(), u"10 ms a run"_s);
    std::multimap<qint64, QJsonObject> adds;
    for (const QJsonValue &step : input[u"steps"_s].toArray()) {
        if (step[u"add"_s].isObject())
            adds.emplace(step[u"t"_s].toInteger(), step[u"add"_s].toObject());
    }
    QCOMPARE(adds.size(), size_t(3));
    Fixture f;
    const auto add = [&f](const QJsonObject &what) {
        AddOptions options;
        options.priority = what[u"priority"_s].toInt();
        if (what[u"keys"_s] == u"bulk-0..bulk-9999"_s) {
            for (int i = 0; i < 10000; ++i)
                f.queue.add(key(u"bulk-%1"_s.arg(i)), options);
        }
        for (const QJsonValue &one : what[u"keys"_s].toArray())
            f.queue.add(key(one.toString()), options);
    };
    std::map<QString, std::vector<qint64>> runs;
    for (qint64 t = 0; t < 3000; t += 10) {
        for (; !adds.empty() && adds.begin()->first <= t; adds.erase(adds.begin()))
            add(adds.begin()->second);
        if (t == 2000)
            QCOMPARE(f.counts.depth[0], 1);
        const std::optional<WorkItem> item = f.queue.tryGet(f.consumer);
        QVERIFY(item);
        const QString name = item->key.object.name;
        runs[name].push_back(t);
        f.advance(10ms);
        if (name == u"user" && runs[name].size() == 1)
            f.add("user", item->priority, 1s); // its answer: again in a second
        QVERIFY(f.queue.done(item->key).isOk());
        QCOMPARE(f.queue.stats().ready, f.counts.depth[0] + f.counts.depth[-100]);
    }
    QCOMPARE(runs[u"user"_s], (std::vector<qint64>{10, 1020})); // before 1035, not at 100000
    QCOMPARE(runs[u"bulk-9999"_s], std::vector<qint64>{2000});
    QCOMPARE(runs.size(), size_t(299)); // nothing starves: every other run was one of the bulk
    QCOMPARE(f.counts.lowest, 0);
}

// W-21: what is ready counts, neither what waits for its time nor what is in hands.
void lengthIsWhatIsReady() // W-21
{
    Fixture f;
    f.add("now");
    f.add("later", 0, 1s);
    QCOMPARE(f.queue.length(), 1);
    QVERIFY(f.queue.tryGet(f.consumer));
    QCOMPARE(f.queue.length(), 0);
    QCOMPARE(f.queue.stats().waiting, 1);
    QCOMPARE(f.queue.stats().processing, 1);
    f.advance(1s);
    QCOMPARE(f.queue.length(), 1);
}

// W-24: the limiter of a controller's queue counts each key alone; no bucket for all of them.
void noOverallBucket()
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    QueueRegistry registry(time, executor);
    const auto queue = registry.queue(u"plugin"_s, u"controller"_s, 5ms, 1000s);
    AddOptions retry;
    retry.isRateLimited = true;
    for (int i = 0; i < 1000; ++i)
        queue->add(key(QString::number(i)), retry);
    time.advance(5ms);
    executor.runAll();
    QCOMPARE(queue->length(), 1000);
}

void retryKeepsPriority() // B38
{
    Fixture f;
    f.add("x", -100);
    const std::optional<WorkItem> item = f.queue.tryGet(f.consumer);
    AddOptions retry;
    retry.isRateLimited = true;
    retry.priority = item->priority;
    f.queue.add(item->key, retry);
    QVERIFY(f.queue.done(item->key).isOk());
    f.advance(5ms);
    QCOMPARE(f.queue.tryGet(f.consumer)->priority, -100);
}

void causes()
{
    Fixture f;
    AddOptions options;
    options.cause = {Cause::Type::Added, QStringLiteral("v1 Secret"),
        {QStringLiteral("team-a"), QStringLiteral("key")}, 0};
    f.queue.add(key("x"), options);
    options.cause.type = Cause::Type::Updated;
    f.queue.add(key("x"), options);
    options.cause = {Cause::Type::Retry, {}, {}, 3};
    f.queue.add(key("x"), options);
    QStringList texts;
    const std::optional<WorkItem> item = f.queue.tryGet(f.consumer);
    QVERIFY(item);
    for (const Cause &cause : item->causes)
        texts += toString(cause);
    QCOMPARE(texts,
        (QStringList{QStringLiteral("retry 3"), QStringLiteral("updated v1 Secret team-a/key"),
            QStringLiteral("added v1 Secret team-a/key")}));

    for (int i = 1; i <= 9; ++i) {
        options.cause.attempt = i;
        f.queue.add(key("y"), options);
    }
    const std::vector<Cause> kept = f.queue.tryGet(f.consumer)->causes;
    QCOMPARE(kept.size(), PriorityQueue::kMaxCauses);
    QCOMPARE(kept.front().attempt, 9);
}

void detachedConsumer()
{
    Fixture f;
    const PriorityQueue::Consumer second = f.queue.attach();
    f.add("x");
    QVERIFY(f.queue.tryGet(f.consumer));
    f.add("x");
    f.queue.detach(f.consumer);
    QVERIFY(!f.queue.get(f.consumer));
    QVERIFY(!f.queue.tryGet(second)); // still in the first one's hands
    QVERIFY(f.queue.processing(second).empty());
    QVERIFY(f.queue.done(key("x")).isOk());
    QVERIFY(f.queue.get(second)->key == key("x"));

    std::thread blocked([&] { f.queue.get(second); });
    f.queue.detach(second);
    blocked.join();
}

void pausedQueue()
{
    Fixture f;
    f.queue.pause();
    f.add("x");
    QVERIFY(!f.queue.tryGet(f.consumer));
    QCOMPARE(f.queue.length(), 1);
    f.queue.resume();
    QCOMPARE(f.next(), QStringLiteral("x"));
}

void dueAtOneMoment()
{
    Fixture f;
    QStringList added;
    for (int i = 0; i < 40; ++i) {
        added += u"key-%1"_s.arg(i);
        f.add(qPrintable(added.back()), 0, 1s);
    }
    f.advance(1s);
    QStringList got;
    for (QString name = f.next(); !name.isEmpty(); name = f.next())
        got += name;
    QCOMPARE(got, added);
}

// Keys whose texts are the same when written one behind the other.
void packedKeys()
{
    const std::vector<WorkKey> keys{{{u"a"_s, u"bc"_s}, {}}, {{u"ab"_s, u"c"_s}, {}},
        {{{}, u"abc"_s}, {}}, {{u"abc"_s, {}}, {}}, {{u"a"_s, u"b"_s}, u"c"_s},
        {{{}, u"a"_s}, u"bc"_s}, {{{}, {}}, u"abc"_s}, {{{}, u"\u00e4\U0001f600"_s}, {}}};
    Fixture f;
    AddOptions later;
    later.after = 1s;
    for (const WorkKey &key : keys)
        f.queue.add(key, later);
    QCOMPARE(f.queue.stats().waiting, qsizetype(keys.size()));
    f.queue.add(keys.front());
    QCOMPARE(f.queue.stats().waiting, qsizetype(keys.size()) - 1);
    f.advance(1s);
    for (const WorkKey &key : keys) {
        const std::optional<WorkItem> item = f.queue.tryGet(f.consumer);
        QVERIFY(item && item->key == key);
        QCOMPARE(f.queue.processing(f.consumer).size(), size_t(1));
        QVERIFY(f.queue.processing(f.consumer).front() == key);
        QVERIFY(f.queue.done(key).isOk());
    }
}

struct Card
{
    int value = 0;
    quint32 place = 0;
};
struct ByValue
{
    static quint32 &place(Card &card) { return card.place; }
    static bool isBefore(const Card &a, const Card &b) { return a.value < b.value; }
};

void heap()
{
    std::mt19937 random(7);
    std::vector<Card> cards(300);
    IndexedHeap<Card, ByValue> heap;
    std::set<std::pair<int, Card *>> expected;
    for (int step = 0; step < 20000; ++step) {
        Card &card = cards[random() % cards.size()];
        if (expected.erase({card.value, &card}) > 0) {
            heap.remove(card);
        } else {
            card.value = int(random() % 1000);
            heap.push(card);
            expected.emplace(card.value, &card);
        }
        QCOMPARE(heap.size(), expected.size());
        if (!expected.empty())
            QCOMPARE(heap.first().value, expected.begin()->first);
    }
    const int limit = 400;
    std::set<const Card *> front;
    heap.visitFront(
        [&](const Card &card) { return card.value < limit && front.insert(&card).second; });
    const auto end = expected.lower_bound({limit, nullptr});
    QCOMPARE(front.size(), size_t(std::distance(expected.begin(), end)));
}

void registry()
{
    testing::ManualClock time;
    testing::ManualExecutor executor;
    Counts counts;
    QStringList asked;
    QueueRegistry registry(time, executor, [&](const QString &plugin, const QString &controller) {
        asked += plugin + QLatin1Char('.') + controller;
        return &counts;
    });
    const QString plugin = QStringLiteral("replicator");
    const QString name = QStringLiteral("copies");
    const auto queue = registry.queue(plugin, name, 5ms, 1s);
    QVERIFY(registry.queue(plugin, name, 7ms, 1s) == queue);
    QVERIFY(registry.queue(plugin, QStringLiteral("other"), 5ms, 1s) != queue);
    QCOMPARE(asked,
        (QStringList{QStringLiteral("replicator.copies"), QStringLiteral("replicator.other")}));
    AddOptions options;
    options.isRateLimited = true;
    queue->add(key("x"), options);
    QVERIFY(time.untilNextTimer() == 7ms); // the delays named last
    QCOMPARE(registry.entries().size(), size_t(2));
    registry.remove(plugin);
    QVERIFY(queue->isShutDown());
    QVERIFY(registry.entries().empty());
    QVERIFY(registry.queue(plugin, name, 5ms, 1s) != queue);
}

} // namespace

class tst_PriorityQueue : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stories_data();
    void stories();
    void rateLimitedAndAfter_data();
    void rateLimitedAndAfter();
    void neverTwoWorkersForOneKey();
};

void tst_PriorityQueue::stories_data()
{
    QTest::addColumn<Story>("story");
    QTest::newRow("T77: by priority, then by age") << Story(byPriorityThenAge);
    QTest::newRow("T78: a priority only rises") << Story(priorityOnlyRises);
    QTest::newRow("levels that emptied are left out") << Story(emptyLevelsAreLeftOut);
    QTest::newRow("T79: ready beats a delay") << Story(readyBeatsDelay);
    QTest::newRow("T80: shut down, all is dropped") << Story(shutDownDropsAll);
    QTest::newRow("T80: three ready items") << Story(shutDownWithThreeReady);
    QTest::newRow("W-18: the earlier moment") << Story(keepsTheEarlierMoment);
    QTest::newRow("B38, W-19: age counts from the moment it is ready") << Story(ageCountsFromReady);
    QTest::newRow("W-20: a key in hands") << Story(processedKeyIsHeld);
    QTest::newRow("W-3: done without get") << Story(doneWithoutGet);
    QTest::newRow("B38: important and delayed") << Story(importantAndDelayed);
    QTest::newRow("W-21: length is what is ready") << Story(lengthIsWhatIsReady);
    QTest::newRow("W-24: no bucket for all keys") << Story(noOverallBucket);
    QTest::newRow("B38: a retry keeps its priority") << Story(retryKeepsPriority);
    QTest::newRow("causes") << Story(causes);
    QTest::newRow("a consumer that leaves") << Story(detachedConsumer);
    QTest::newRow("a paused queue") << Story(pausedQueue);
    QTest::newRow("queues outlive plugins") << Story(registry);
    QTest::newRow("due at one moment: in the order of adding") << Story(dueAtOneMoment);
    QTest::newRow("keys that look alike in one text") << Story(packedKeys);
    QTest::newRow("the heap beside a sorted set") << Story(heap);
}

void tst_PriorityQueue::stories()
{
    QFETCH(const Story, story);
    story();
}

void tst_PriorityQueue::rateLimitedAndAfter_data() // W-17
{
    QTest::addColumn<int>("afterMs");
    QTest::addColumn<int>("delayMs");
    QTest::newRow("limiter alone") << 0 << 5;
    QTest::newRow("after is earlier") << 2 << 2;
    QTest::newRow("limiter is earlier") << 100 << 5;
}

void tst_PriorityQueue::rateLimitedAndAfter()
{
    QFETCH(const int, afterMs);
    QFETCH(const int, delayMs);
    Fixture f;
    AddOptions options;
    options.isRateLimited = true;
    options.after = std::chrono::milliseconds(afterMs);
    f.queue.add(key("x"), options);
    QVERIFY(f.time.untilNextTimer() == std::chrono::milliseconds(delayMs));
    f.queue.add(key("x"), options); // asked also while the key is queued
    QCOMPARE(f.queue.requeues(key("x")), 2);
    f.queue.forget(key("x"));
    QCOMPARE(f.queue.requeues(key("x")), 0);
}

void tst_PriorityQueue::neverTwoWorkersForOneKey()
{
    support::TimeSource &time = support::systemTimeSource();
    testing::ManualExecutor executor;
    auto limiter = std::make_unique<ExponentialLimiter>(1ns, 1us);
    PriorityQueue queue(time, executor, std::move(limiter));
    constexpr int kKeys = 5;
    std::array<std::atomic<int>, kKeys> inside{};
    std::atomic<int> overlaps = 0;
    std::atomic<int> runs = 0;
    const PriorityQueue::Consumer consumers[2] = {queue.attach(), queue.attach()};
    std::vector<std::thread> threads;
    for (int w = 0; w < 4; ++w) {
        threads.emplace_back([&, w] {
            while (const std::optional<WorkItem> got = queue.get(consumers[w % 2])) {
                const int n = got->key.object.name.toInt();
                std::atomic<int> &mine = inside[size_t(n)];
                overlaps += mine.fetch_add(1);
                if (++runs % 3 == 0) {
                    AddOptions retry;
                    retry.isRateLimited = true;
                    queue.add(got->key, retry);
                } else {
                    queue.forget(got->key);
                }
                mine.fetch_sub(1);
                if (!queue.done(got->key).isOk())
                    ++overlaps;
            }
        });
    }
    for (int i = 0; i < 6000; ++i) {
        AddOptions options;
        options.priority = i % 3;
        queue.add(key(QString::number(i % kKeys)), options);
        if (i == 3000)
            queue.detach(consumers[0]);
    }
    queue.add(key("0")); // moves what is due
    while (queue.stats().ready > 0)
        std::this_thread::yield();
    queue.shutDown();
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(overlaps.load(), 0);
    QVERIFY(runs.load() >= kKeys);
    QCOMPARE(queue.stats().processing, 0);
}

QTEST_GUILESS_MAIN(tst_PriorityQueue)
#include "tst_priorityqueue.moc"
