// What 20,000 realistic Pods cost in the pool, and how fast they are decoded. Memory is asserted
// (it hardly differs between runs), speed is only printed. With DAVIT_LONG also 165,000: their
// bytes and their time a Pod are those of 20,000.
#include "../../bench/podgenerator.h"

#include <davit/priv/poolaccess.h>

#include <QElapsedTimer>
#include <QTest>
#include <algorithm>
#include <ctime>
#include <optional>

using namespace davit;

namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr int kPods = 20000;
constexpr double kMaxBytesPerPod = 1450; // with tables, free lists and rounding
#else
constexpr int kPods = 2000; // slow builds: enough to see a wrong layout
constexpr double kMaxBytesPerPod = 2000; // fewer share what is equal
#endif

// Of each of `count` Pods that are held at once: their blocks, and decoding.
struct Cost
{
    double bytes = 0;
    double microseconds = 0;
};

std::uint64_t blockBytes()
{
    const priv::PoolStats stats = priv::poolStats();
    return stats.liveBytes + stats.wastedBytes;
}

double cpuMicroseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e6 + double(now.tv_nsec) / 1e3;
}

Cost costOf(int count)
{
    const std::uint64_t before = blockBytes();
    bench::PodGenerator generator;
    priv::ObjectDecoder decoder;
    std::vector<Object> objects(static_cast<std::size_t>(count));
    double spent = 0;
    for (Object &object : objects) {
        const QByteArray json = generator.next();
        const double begun = cpuMicroseconds();
        if (decoder.decode(json, {}, &object).isError())
            qFatal("a Pod that cannot be decoded");
        spent += cpuMicroseconds() - begun;
    }
    const double bytes = double(blockBytes() - before) / count;
    objects.clear();
    priv::trimPool();
    return {bytes, spent / count};
}

} // namespace

class tst_PodMemory : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void pods();
    void updates();
    void scales_data();
    void scales();
};

void tst_PodMemory::pods()
{
    const priv::PoolStats before = priv::poolStats();
    bench::PodGenerator generator;
    std::optional<priv::ObjectDecoder> decoder(std::in_place);
    std::vector<Object> objects(kPods);
    qint64 bytes = 0;
    qint64 nanoseconds = 0;
    QElapsedTimer timer;
    for (Object &object : objects) {
        const QByteArray json = generator.next();
        bytes += json.size();
        timer.start();
        const Error error = decoder->decode(json, {}, &object);
        nanoseconds += timer.nsecsElapsed();
        QVERIFY2(!error.isError(), qPrintable(error.message()));
    }
    const priv::PoolStats after = priv::poolStats();
    const auto perPod = [](std::uint64_t amount) { return double(amount) / kPods; };
    const double total
        = perPod(after.liveBytes + after.wastedBytes + after.freeBytes + after.tableBytes
            - before.liveBytes - before.wastedBytes - before.freeBytes - before.tableBytes);
    qInfo("%d Pods of %.0f bytes: %.0f bytes each (blocks %.0f, tables %.0f, free %.0f), %.1f "
          "blocks; "
          "%.0f MB/s",
        kPods, perPod(std::uint64_t(bytes)), total, perPod(after.liveBytes - before.liveBytes),
        perPod(after.tableBytes - before.tableBytes), perPod(after.freeBytes - before.freeBytes),
        perPod(after.liveBlocks - before.liveBlocks), double(bytes) * 1000 / double(nanoseconds));
    QVERIFY2(bytes / kPods > 10500 && bytes / kPods < 13000, "the generator's Pods are realistic");
    QVERIFY2(total <= kMaxBytesPerPod, QByteArray::number(total));
    objects.clear();
    decoder.reset(); // it remembers names
    QCOMPARE(priv::poolStats().liveBlocks, before.liveBlocks);
}

// What one more version of a Pod costs while the old one is held.
void tst_PodMemory::updates()
{
    bench::PodGenerator generator(2);
    priv::ObjectDecoder decoder;
    std::vector<Object> objects(4000);
    QList<QByteArray> updated;
    for (std::size_t i = 0; i < objects.size(); i += 2) {
        QVERIFY(!decoder.decode(generator.next(), {}, &objects[i]).isError());
        updated.append(generator.update());
    }
    const priv::PoolStats before = priv::poolStats();
    for (std::size_t i = 1; i < objects.size(); i += 2)
        QVERIFY(!decoder.decode(updated.at(qsizetype(i / 2)), {}, &objects[i]).isError());
    const double each = double(priv::poolStats().liveBytes - before.liveBytes) / 2000;
    qInfo("a second version of a Pod: %.0f bytes", each);
    QVERIFY(each < 900);
}

void tst_PodMemory::scales_data()
{
    QTest::addColumn<int>("few");
    QTest::addColumn<int>("many");
    QTest::addColumn<bool>("isTimed"); // only where a run is long enough to tell
    QTest::newRow("1,000 and 8,000 Pods") << 1000 << 8000 << false;
    if (qEnvironmentVariableIsSet("DAVIT_LONG"))
        QTest::newRow("20,000 and 165,000 Pods, five runs") << 20000 << 165000 << true;
}

void tst_PodMemory::scales()
{
    QFETCH(const int, few);
    QFETCH(const int, many);
    QFETCH(const bool, isTimed);
    QList<double> fewTimes;
    QList<double> manyTimes;
    for (int run = 0; run < (isTimed ? 5 : 1); ++run) {
        const Cost small = costOf(few);
        const Cost large = costOf(many);
        qInfo("%d Pods: %.0f bytes and %.1f us of CPU each; %d Pods: %.0f bytes and %.1f us", few,
            small.bytes, small.microseconds, many, large.bytes, large.microseconds);
        QVERIFY2(large.bytes <= small.bytes, QByteArray::number(large.bytes));
        fewTimes += small.microseconds;
        manyTimes += large.microseconds;
    }
    std::sort(fewTimes.begin(), fewTimes.end());
    std::sort(manyTimes.begin(), manyTimes.end());
    const double ratio = manyTimes.at(manyTimes.size() / 2) / fewTimes.at(fewTimes.size() / 2);
    QVERIFY2(!isTimed || ratio <= 1.4, QByteArray::number(ratio));
}

QTEST_GUILESS_MAIN(tst_PodMemory)
#include "tst_podmemory.moc"
