#include "transport/handover.h"
#include "transport/iothread.h"

#include <QTest>
#include <atomic>

using namespace davit;
using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

namespace {

// Runs what was posted when told to.
class ManualExecutor final : public support::Executor
{
public:
    void post(Work work) override { m_waiting.push_back(std::move(work)); }
    void run()
    {
        while (!m_waiting.empty()) {
            std::vector<Work> batch;
            batch.swap(m_waiting);
            for (Work &work : batch)
                work();
        }
    }
    void runOne()
    {
        const Work work = std::move(m_waiting.front());
        m_waiting.erase(m_waiting.begin());
        work();
    }
    size_t waiting() const { return m_waiting.size(); }

private:
    std::vector<Work> m_waiting;
};

class Recorder : public ResponseSink
{
public:
    void onHead(const ResponseHead &head) override
    {
        log.append(QByteArray::number(head.httpStatus));
    }
    void onBytes(const QByteArray &bytes) override
    {
        log.append(bytes.size() > 16 ? QByteArray::number(bytes.size()) : bytes);
        if (closeAtBytes)
            closeAtBytes->close();
        if (atBytes)
            atBytes();
    }
    void onFinished(const Error &error) override
    {
        log.append(error.isError() ? QByteArrayLiteral("error") : QByteArrayLiteral("end"));
    }

    QByteArrayList log;
    HandOver *closeAtBytes = nullptr;
    std::function<void()> atBytes;
};

} // namespace

class tst_HandOver : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void order();
    void onePostForABurst();
    void aSourceThatNeverPauses();
    void pausesAndResumes();
    void closeInsideTheSink();
    void closeBeforeDelivery();
    void closeWaitsForTheCallUnderWay();
    void ioThreadOrder();
    void ioThreadDropsAfterStop();
    void acrossThreads();
};

void tst_HandOver::order()
{
    ManualExecutor executor;
    Recorder sink;
    const auto handOver = std::make_shared<HandOver>(executor, sink, nullptr);
    handOver->putHead({200, {}, {}, {}});
    handOver->putBytes("a"_ba);
    executor.run();
    QCOMPARE(sink.log, (QByteArrayList{"200", "a"}));
    handOver->putBytes("b"_ba);
    handOver->putBytes(""_ba);
    handOver->finish(Error());
    executor.run();
    QCOMPARE(sink.log, (QByteArrayList{"200", "a", "b", "end"}));
}

void tst_HandOver::onePostForABurst()
{
    ManualExecutor executor;
    Recorder sink;
    const auto handOver = std::make_shared<HandOver>(executor, sink, nullptr);
    for (int i = 0; i < 100; ++i)
        handOver->putBytes("x"_ba);
    QCOMPARE(executor.waiting(), size_t(1));
    executor.run();
    QCOMPARE(sink.log.size(), 100);
}

void tst_HandOver::aSourceThatNeverPauses()
{
    ManualExecutor executor;
    Recorder sink;
    const auto handOver = std::make_shared<HandOver>(executor, sink, nullptr);
    handOver->putHead({200, {}, {}, {}});
    handOver->putBytes("a"_ba);
    handOver->putBytes("b"_ba);
    sink.atBytes = [&] { handOver->putBytes("more"_ba); };
    executor.runOne();
    QCOMPARE(sink.log, (QByteArrayList{"200", "a", "b"}));
    QCOMPARE(executor.waiting(), size_t(1));
    sink.atBytes = {};
    handOver->finish(Error());
    executor.runOne();
    QCOMPARE(sink.log, (QByteArrayList{"200", "a", "b", "more", "more", "end"}));
    QCOMPARE(executor.waiting(), size_t(0));
}

void tst_HandOver::pausesAndResumes()
{
    ManualExecutor executor;
    Recorder sink;
    int room = 0;
    const auto handOver = std::make_shared<HandOver>(executor, sink, [&](HandOver *) { ++room; });
    const QByteArray piece(256 * 1024, 'x');
    int taken = 0;
    for (; handOver->wantsBytes(); ++taken)
        handOver->putBytes(piece);
    QCOMPARE(taken, 4); // 1 MiB
    QCOMPARE(room, 0);
    executor.run();
    QCOMPARE(room, 1);
    QVERIFY(handOver->wantsBytes());
    QCOMPARE(sink.log.size(), 4);
}

void tst_HandOver::closeInsideTheSink()
{
    ManualExecutor executor;
    Recorder sink;
    const auto handOver = std::make_shared<HandOver>(executor, sink, nullptr);
    sink.closeAtBytes = handOver.get();
    handOver->putBytes("a"_ba);
    handOver->putBytes("b"_ba);
    handOver->finish(Error());
    executor.run();
    QCOMPARE(sink.log, (QByteArrayList{"a"}));
}

void tst_HandOver::closeBeforeDelivery()
{
    ManualExecutor executor;
    Recorder sink;
    const auto handOver = std::make_shared<HandOver>(executor, sink, nullptr);
    handOver->putHead({200, {}, {}, {}});
    handOver->close();
    executor.run();
    handOver->putBytes("a"_ba);
    handOver->finish(Error());
    QCOMPARE(executor.waiting(), size_t(0)); // the executor may be gone by now
    QVERIFY(sink.log.isEmpty());
}

void tst_HandOver::closeWaitsForTheCallUnderWay()
{
    class SlowSink final : public ResponseSink
    {
    public:
        void onHead(const ResponseHead &) override { }
        void onBytes(const QByteArray &) override
        {
            isInside = true;
            isInside.notify_all();
            for (int i = 0; i < 20; ++i)
                std::this_thread::yield();
            ++heard;
        }
        void onFinished(const Error &) override { }
        std::atomic<bool> isInside{false};
        int heard = 0; // plain: TSan proves that close() orders the two threads
    };
    IoThread executor;
    SlowSink sink;
    const auto handOver = std::make_shared<HandOver>(executor, sink, nullptr);
    handOver->putBytes("a"_ba);
    sink.isInside.wait(false);
    handOver->close();
    QCOMPARE(sink.heard, 1);
    executor.stop({});
}

void tst_HandOver::ioThreadOrder()
{
    std::vector<int> seen;
    bool wasInside = true;
    {
        IoThread io;
        for (int i = 0; i < 1000; ++i) {
            io.post([&, i] {
                seen.push_back(i);
                wasInside = wasInside && io.isCurrent();
            });
        }
        std::mutex mutex;
        std::condition_variable done;
        bool isDone = false;
        io.post([&] {
            const std::lock_guard lock(mutex);
            isDone = true;
            done.notify_one();
        });
        std::unique_lock lock(mutex);
        done.wait(lock, [&] { return isDone; });
        lock.unlock();
        io.stop({});
    }
    QVERIFY(wasInside);
    QCOMPARE(seen.size(), size_t(1000));
    QVERIFY(std::is_sorted(seen.begin(), seen.end()));
}

void tst_HandOver::ioThreadDropsAfterStop()
{
    IoThread io;
    QByteArrayList log;
    io.stop([&] { log.append("last"); });
    io.post([&] { log.append("late"); });
    io.stop([&] { log.append("second"); });
    QCOMPARE(log, (QByteArrayList{"last"}));
}

void tst_HandOver::acrossThreads()
{
    class Counter final : public ResponseSink
    {
    public:
        void onHead(const ResponseHead &) override { }
        void onBytes(const QByteArray &bytes) override { sum += bytes.size(); }
        void onFinished(const Error &) override
        {
            isFinished = true;
            isFinished.notify_all();
        }
        qint64 sum = 0;
        std::atomic<bool> isFinished{false};
    };
    IoThread io;
    IoThread executor;
    Counter sink;
    constexpr qint64 kTotal = 64 * 1024 * 1024;
    qint64 sent = 0;
    std::shared_ptr<HandOver> handOver;
    std::function<void()> pump = [&] {
        while (sent < kTotal && handOver->wantsBytes()) {
            handOver->putBytes(QByteArray(64 * 1024, 'x'));
            sent += 64 * 1024;
        }
        if (sent == kTotal) {
            sent = -1;
            handOver->finish(Error());
        }
    };
    handOver = std::make_shared<HandOver>(executor, sink, [&](HandOver *) {
        io.post([&] {
            if (sent >= 0)
                pump();
        });
    });
    io.post(pump);
    sink.isFinished.wait(false);
    QCOMPARE(sink.sum, kTotal);
    executor.stop({});
    io.stop({});
}

QTEST_GUILESS_MAIN(tst_HandOver)
#include "tst_handover.moc"
