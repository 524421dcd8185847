// What 20,000 realistic Pods cost in the pool, and how fast they are decoded. Memory is asserted
// (it hardly differs between runs), speed is only printed.
#include "../../bench/podgenerator.h"

#include <davit/priv/poolaccess.h>

#include <QElapsedTimer>
#include <QTest>
#include <optional>

using namespace davit;

namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr int kPods = 20000;
#else
constexpr int kPods = 2000; // slow builds: enough to see a wrong layout
#endif
constexpr double kMaxBytesPerPod = 2000; // with tables, free lists and rounding

} // namespace

class tst_PodMemory : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void pods();
    void updates();
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

QTEST_GUILESS_MAIN(tst_PodMemory)
#include "tst_podmemory.moc"
