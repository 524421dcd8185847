// What the end of a queue tells its observer of what was ready (W-4, W-12, W-22): the metrics of a
// queue that is gone stand at the last levels that they heard.
#include <testing/manualclock.h>
#include <workqueue/delayingqueue.h>
#include <workqueue/priorityqueue.h>

#include <QTest>

using namespace davit;
using namespace davit::workqueue;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

WorkKey key(QStringView name)
{
    return WorkKey{{}, name.toString()};
}

// "PRIORITY=ITEMS", a text a change.
class Levels final : public QueueObserver
{
public:
    void depthChanged(int priority, qsizetype items) override
    {
        heard += u"%1=%2"_s.arg(priority).arg(items);
    }
    void added() override { }
    void handedOut(std::chrono::nanoseconds) override { }
    void finished(std::chrono::nanoseconds) override { }
    void retried() override { }
    QStringList heard;
};

} // namespace

class tst_QueueLevels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void priorityQueue_data();
    void priorityQueue();
    void workQueue_data();
    void workQueue();
};

void tst_QueueLevels::priorityQueue_data()
{
    QTest::addColumn<QStringList>("steps"); // "+a5" adds with a priority, "~a0" with a delay
    QTest::addColumn<QStringList>("told"); // by shutDown()
    using L = QStringList;
    QTest::newRow("W-22 nothing was there") << L{} << L{};
    QTest::newRow("W-22 one level") << L{u"+a0"_s, u"+b0"_s} << L{u"0=0"_s};
    QTest::newRow("W-22 each level that has items")
        << L{u"+a5"_s, u"+b5"_s, u"+c0"_s, u"+d7"_s} << L{u"0=0"_s, u"5=0"_s, u"7=0"_s};
    QTest::newRow("W-22 a level that was emptied before")
        << L{u"+a5"_s, u"get"_s, u"+b0"_s} << L{u"0=0"_s};
    QTest::newRow("W-22 what waits for its time was no level") << L{u"~a0"_s} << L{};
    QTest::newRow("W-22 what came due in time was") << L{u"~a0"_s, u"wait"_s} << L{u"0=0"_s};
    QTest::newRow("W-22 added again while it is worked on")
        << L{u"+a3"_s, u"get"_s, u"+a3"_s} << L{u"3=0"_s};
}

void tst_QueueLevels::priorityQueue()
{
    QFETCH(const QStringList, steps);
    testing::ManualClock time;
    testing::ManualExecutor executor;
    Levels levels;
    PriorityQueue queue(time, executor, std::make_unique<ExponentialLimiter>(5ms, 1000s), &levels);
    const PriorityQueue::Consumer consumer = queue.attach();
    for (const QString &step : steps) {
        AddOptions options;
        if (step == u"get"_s) {
            QVERIFY(queue.tryGet(consumer));
            continue;
        }
        if (step == u"wait"_s) {
            time.advance(1h);
            executor.runAll();
            continue;
        }
        options.priority = step.mid(2).toInt();
        if (step.startsWith(u'~'))
            options.after = 1h;
        queue.add(key(step.mid(1, 1)), options);
    }
    levels.heard.clear();
    queue.shutDown();
    levels.heard.sort();
    QTEST(levels.heard, "told");
    levels.heard.clear();
    queue.shutDown();
    queue.add(key(u"late"));
    QCOMPARE(levels.heard, QStringList()); // once
    QCOMPARE(queue.length(), 0);
}

void tst_QueueLevels::workQueue_data()
{
    QTest::addColumn<int>("items");
    QTest::addColumn<int>("delayed");
    QTest::addColumn<QStringList>("told"); // by shutDown() and by those who take what is left
    using L = QStringList;
    QTest::newRow("W-4 nothing was there") << 0 << 0 << L{};
    QTest::newRow("W-4 what is ready is handed out, level by level")
        << 2 << 0 << L{u"0=1"_s, u"0=0"_s};
    QTest::newRow("W-12 what waits is dropped, and was no level") << 0 << 2 << L{};
    QTest::newRow("W-4, W-12 both") << 1 << 1 << L{u"0=0"_s};
}

void tst_QueueLevels::workQueue()
{
    QFETCH(const int, items);
    QFETCH(const int, delayed);
    testing::ManualClock time;
    testing::ManualExecutor executor;
    Levels levels;
    DelayingQueue queue(time, executor, &levels);
    for (int i = 0; i < items; ++i)
        queue.add(key(QString::number(i)));
    for (int i = 0; i < delayed; ++i)
        queue.addAfter(key(u"later"_s + QString::number(i)), 1s);
    levels.heard.clear();
    queue.shutDown();
    QCOMPARE(levels.heard, QStringList()); // not empty yet
    time.advance(1h);
    executor.runAll();
    while (const auto taken = queue.get())
        QVERIFY(queue.done(*taken).isOk());
    QTEST(levels.heard, "told");
}

QTEST_GUILESS_MAIN(tst_QueueLevels)
#include "tst_queuelevels.moc"
