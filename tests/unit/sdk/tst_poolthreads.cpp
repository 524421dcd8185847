#include <davit/priv/poolaccess.h>

#include <QTest>
#include <array>
#include <atomic>
#include <random>
#include <thread>

using namespace davit;
using priv::PoolAccess;

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 100'000; // a thread; 25 operations each: 10^7 in all
constexpr std::size_t kDocuments = 24;
constexpr std::size_t kSlots = 8;

// Documents that share most of their parts, so that threads meet in the same blocks all the time.
std::vector<Object> documents()
{
    std::vector<Object> made(kDocuments);
    for (std::size_t i = 0; i < kDocuments; ++i) {
        const QByteArray json = R"({"metadata":{"name":"a name of some length )"
            + QByteArray::number(i) + R"("},"spec":{"image":"images.example.org/web:)"
            + QByteArray::number(i % 3) + R"(","ports":[8080,)" + QByteArray::number(i % 5)
            + R"(,9090,"http-metrics-port"]}})";
        if (!Object::fromJson(json, &made[i]).isOk())
            qFatal("the test's JSON is wrong");
    }
    return made;
}

} // namespace

class tst_PoolThreads : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void internCopyRelease();
    void decodeAndRead();
    void statsAndTrimMeanwhile();
};

// Each round: one intern, twelve copies, twelve releases, one of them of another thread's handle.
void tst_PoolThreads::internCopyRelease()
{
    const std::uint64_t before = priv::poolStats().liveBlocks;
    const std::vector<Object> sources = documents();
    std::array<std::atomic<std::uint64_t>, kSlots> slots{};
    std::atomic<int> wrong{0};
    const auto work = [&](unsigned seed) {
        std::minstd_rand random(seed);
        for (int i = 0; i < kRounds; ++i) {
            const Object &source = sources[random() % kDocuments];
            Object object = priv::internObject(source);
            const std::vector<Object> copies(11, object);
            wrong += copies[std::size_t(i % 11)] == object ? 0 : 1;
            const std::uint64_t mine = PoolAccess::release(Object(object));
            PoolAccess::drop(slots[random() % kSlots].exchange(mine, std::memory_order_acq_rel));
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
        threads.emplace_back(work, i + 1);
    for (std::thread &thread : threads)
        thread.join();
    for (std::atomic<std::uint64_t> &slot : slots)
        PoolAccess::drop(slot.exchange(0));
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(priv::poolStats().liveBlocks, before);
}

void tst_PoolThreads::decodeAndRead()
{
    const std::uint64_t before = priv::poolStats().liveBlocks;
    const std::vector<Object> sources = documents();
    QList<QByteArray> texts;
    for (const Object &source : sources)
        texts.append(source.toJson());
    std::array<std::atomic<std::uint64_t>, kSlots> slots{};
    std::atomic<int> wrong{0};
    const auto work = [&](unsigned seed) {
        std::minstd_rand random(seed);
        priv::ObjectDecoder decoder;
        for (int i = 0; i < 4000; ++i) {
            const auto which = qsizetype(random() % kDocuments);
            Object object;
            wrong += decoder.decode(texts[which], {}, &object).isError() ? 1 : 0;
            wrong += object == sources[std::size_t(which)] ? 0 : 1;
            const std::uint64_t mine = PoolAccess::release(std::move(object));
            const Object theirs = PoolAccess::adopt(
                slots[random() % kSlots].exchange(mine, std::memory_order_acq_rel));
            wrong += theirs.isNull() || texts.contains(theirs.toJson()) ? 0 : 1;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
        threads.emplace_back(work, i + 1);
    for (std::thread &thread : threads)
        thread.join();
    for (std::atomic<std::uint64_t> &slot : slots)
        PoolAccess::drop(slot.exchange(0));
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(priv::poolStats().liveBlocks, before);
}

void tst_PoolThreads::statsAndTrimMeanwhile()
{
    const std::uint64_t before = priv::poolStats().liveBlocks;
    std::atomic<bool> isDone{false};
    std::atomic<int> wrong{0};
    std::thread writer([&] {
        for (int i = 0; i < 300; ++i) {
            std::vector<Object> objects;
            priv::ObjectDecoder decoder;
            for (int j = 0; j < 50; ++j) {
                const QByteArray text = "{\"text\":\"a text of round " + QByteArray::number(i)
                    + " and number " + QByteArray::number(j) + "\"}";
                Object object;
                wrong += decoder.decode(text, {}, &object).isError() ? 1 : 0;
                wrong += object.toJson() == text ? 0 : 1;
                objects.push_back(object);
            }
        }
        isDone = true;
    });
    while (!isDone) {
        priv::trimPool();
        const priv::PoolStats stats = priv::poolStats();
        wrong += stats.liveBlocks < before ? 1 : 0;
    }
    writer.join();
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(priv::poolStats().liveBlocks, before);
}

QTEST_GUILESS_MAIN(tst_PoolThreads)
#include "tst_poolthreads.moc"
