// Pieces side by side: each once, in chunks, on so many threads; stop; what is thrown. Rule 6.6.
#include "workqueue/parallelize.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace davit;
using namespace davit::workqueue;

class tst_Parallelize : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void pieces_data();
    void pieces();
    void sideBySide();
    void stop_data();
    void stop();
    void faults_data();
    void faults();
};

void tst_Parallelize::pieces_data()
{
    QTest::addColumn<int>("workers");
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("chunkSize");
    QTest::addColumn<int>("done");
    QTest::addColumn<int>("mostThreads");
    QTest::newRow("no pieces") << 4 << 0 << 1 << 0 << 0;
    QTest::newRow("no workers") << 0 << 10 << 1 << 0 << 0;
    QTest::newRow("one worker") << 1 << 100 << 1 << 100 << 1;
    QTest::newRow("several workers") << 4 << 1000 << 1 << 1000 << 4;
    QTest::newRow("no more workers than chunks") << 8 << 6 << 3 << 6 << 2;
    QTest::newRow("a last chunk that is short") << 2 << 10 << 4 << 10 << 2;
    QTest::newRow("a chunk larger than all") << 4 << 10 << 100 << 10 << 1;
    QTest::newRow("a chunk of nothing is one piece") << 2 << 10 << 0 << 10 << 2;
}

void tst_Parallelize::pieces()
{
    QFETCH(const int, workers);
    QFETCH(const int, count);
    QFETCH(const int, chunkSize);
    std::mutex mutex;
    std::vector<std::pair<int, std::thread::id>> ran; // in the order in which they began
    const Status status = parallelizeUntil({}, {workers, count, chunkSize}, [&](qsizetype piece) {
        const std::lock_guard lock(mutex);
        ran.emplace_back(int(piece), std::this_thread::get_id());
    });
    QVERIFY(status.isOk());
    QTEST(int(ran.size()), "done");
    std::set<std::thread::id> threads;
    for (const auto &[piece, thread] : ran)
        threads.insert(thread);
    QFETCH(const int, mostThreads);
    QVERIFY(int(threads.size()) <= mostThreads);
    std::vector<int> sorted;
    for (const auto &[piece, thread] : ran)
        sorted.push_back(piece);
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < int(sorted.size()); ++i)
        QCOMPARE(sorted[std::size_t(i)], i); // each once
    // Within a chunk: in order, on one thread.
    const int size = std::max(chunkSize, 1);
    for (std::size_t i = 0; i < ran.size(); ++i) {
        for (std::size_t j = i + 1; j < ran.size(); ++j) {
            if (ran[i].first / size == ran[j].first / size)
                QVERIFY(ran[i].first < ran[j].first && ran[i].second == ran[j].second);
        }
    }
}

// Would wait for ever if they ran one after the other.
void tst_Parallelize::sideBySide()
{
    std::barrier meeting(3);
    const Status status
        = parallelizeUntil({}, {3, 3, 1}, [&](qsizetype) { meeting.arrive_and_wait(); });
    QVERIFY(status.isOk());
}

void tst_Parallelize::stop_data()
{
    QTest::addColumn<int>("stopsIn"); // this piece; -1: before the first
    QTest::addColumn<int>("done"); // by one worker
    QTest::newRow("before it begins") << -1 << 0;
    QTest::newRow("in the first piece") << 0 << 1;
    QTest::newRow("in the middle of a chunk") << 4 << 5;
    QTest::newRow("in the last piece") << 9 << 10;
}

void tst_Parallelize::stop()
{
    QFETCH(const int, stopsIn);
    std::stop_source source;
    if (stopsIn < 0)
        source.request_stop();
    int done = 0;
    const Status status = parallelizeUntil(source.get_token(), {1, 10, 3}, [&](qsizetype piece) {
        ++done;
        if (piece == stopsIn)
            source.request_stop();
    });
    QVERIFY(status.isOk());
    QTEST(done, "done");
}

void tst_Parallelize::faults_data()
{
    QTest::addColumn<int>("workers");
    QTest::addColumn<int>("chunkSize");
    QTest::addColumn<int>("done");
    QTest::newRow("the other chunks go on") << 1 << 1 << 9;
    QTest::newRow("the rest of its chunk is skipped") << 1 << 5 << 8;
    QTest::newRow("with several workers") << 4 << 1 << 9;
}

void tst_Parallelize::faults()
{
    QFETCH(const int, workers);
    QFETCH(const int, chunkSize);
    std::atomic<int> done = 0;
    const Status status = parallelizeUntil({}, {workers, 10, chunkSize}, [&](qsizetype piece) {
        if (piece == 3)
            throw std::runtime_error("broke");
        ++done;
    });
    QTEST(int(done), "done");
    QCOMPARE(status.error().code(), ErrorCode::PluginFault);
    QCOMPARE(status.error().message(), QStringLiteral("piece 3 of 10 threw: broke"));
}

QTEST_GUILESS_MAIN(tst_Parallelize)
#include "tst_parallelize.moc"
