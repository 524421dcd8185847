// Readers do not block the writer: two threads that list 20,000 objects in a loop slow the delivery
// of events to another plugin at most a tenth more than two threads that burn the same CPU without
// touching the cache. Pairs of runs, one after the other; the median of their ratios counts.
#include "factorybench.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qelapsedtimer.h>
#include <algorithm>
#include <atomic>
#include <thread>

using namespace fakes;
using namespace davit::cache;

namespace {

constexpr int kObjects = 20'000;
constexpr int kEvents = 40'000; // a run
constexpr int kAtOnce = 20; // events in one piece of the stream
constexpr int kPairs = 9;

QByteArray line(const char *type, int key, int version)
{
    return QByteArray(R"({"type":")") + type
        + R"(","object":{"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"w)"
        + QByteArray::number(key) + R"(","namespace":"n)" + QByteArray::number(key % 50)
        + R"(","uid":"u)" + QByteArray::number(key) + R"(","resourceVersion":")"
        + QByteArray::number(version) + R"(","labels":{"app":"a)" + QByteArray::number(key % 7)
        + "\"}},\"spec\":{\"size\":1}}}\n";
}

// Streams what the test gives it, decoded on the informer's own strand.
class Stream final : public ListerWatcher
{
public:
    std::unique_ptr<Operation> list(
        const transport::ListOptions &, support::Executor &, ListSink &) override
    {
        return nullptr;
    }
    std::unique_ptr<Operation> watch(
        const transport::ListOptions &, support::Executor &executor, WatchSink &sink) override
    {
        m_executor = &executor;
        m_sink = &sink;
        executor.post([this] {
            m_sink->onWatchOpened();
            QByteArray bytes;
            for (int key = 0; key < kObjects; ++key)
                bytes += line("ADDED", key, key + 1);
            std::vector<codec::WatchEvent> events = m_decoder.feed(bytes);
            events.push_back(bookmark(QString::number(kObjects), true));
            m_sink->onWatchEvents(std::move(events), bytes.size());
        });
        return std::make_unique<Operation>();
    }
    void send(const QByteArray &bytes)
    {
        m_executor->post(
            [this, bytes] { m_sink->onWatchEvents(m_decoder.feed(bytes), bytes.size()); });
    }

private:
    support::Executor *m_executor = nullptr;
    WatchSink *m_sink = nullptr;
    codec::WatchDecoder m_decoder{{}};
};

} // namespace

class tst_Readers : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void deliveryBesideReaders_data();
    void deliveryBesideReaders();
};

void tst_Readers::deliveryBesideReaders_data()
{
    QTest::addColumn<double>("mostOfBurning");
    QTest::newRow("two threads list 20,000 objects in a loop") << 1.10;
}

// NOLINTNEXTLINE(readability-function-size): one run on real threads
void tst_Readers::deliveryBesideReaders()
{
    QFETCH(const double, mostOfBurning);
    QThreadPool pool;
    NoTransport nowhere;
    Faults faults;
    Stream *stream = nullptr;
    FactoryOptions options;
    options.source = [&](const WatchScope &) {
        auto made = std::make_unique<Stream>();
        stream = made.get();
        return made;
    };
    SharedInformerFactory factory(nowhere, pool, support::systemTimeSource(), options);
    factory.start();
    std::unique_ptr<priv::InformerBackend> backend;
    QVERIFY(factory.makeInformer(kWidgets, everything(), faults, &backend).isOk());
    Informer informer(*backend.release());
    int heard = 0;
    QObject::connect(&informer, &Informer::updated, &informer, [&] { ++heard; });
    priv::ListerBackend *readers = nullptr;
    QVERIFY(factory.makeLister(kWidgets, everything(), &readers).isOk());
    const Lister lister(*readers);
    QTRY_VERIFY_WITH_TIMEOUT(informer.hasSynced(), 60000);
    QCOMPARE(lister.count(), kObjects);

    int version = kObjects;
    std::atomic<qint64> lists = 0;
    std::atomic<qint64> burnt = 0;
    const auto run = [&](bool isListing) {
        QByteArrayList pieces;
        for (int sent = 0; sent < kEvents; sent += kAtOnce) {
            QByteArray piece;
            for (int i = 0; i < kAtOnce; ++i, ++version)
                piece += line("MODIFIED", version % kObjects, version + 1);
            pieces += piece;
        }
        std::atomic<bool> isOver = false;
        std::vector<std::thread> others;
        for (int i = 0; i < 2; ++i) {
            others.emplace_back([&] {
                quint64 sum = 1;
                while (!isOver) {
                    if (isListing) {
                        lists += lister.list().size() == kObjects;
                    } else {
                        for (int k = 0; k < 100'000; ++k)
                            sum = sum * 6364136223846793005ULL + 1442695040888963407ULL;
                        burnt += qint64(sum & 1U);
                    }
                }
            });
        }
        const int target = heard + kEvents;
        QElapsedTimer timer;
        timer.start();
        for (const QByteArray &piece : std::as_const(pieces))
            stream->send(piece);
        while (heard < target)
            QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
        const qint64 took = timer.nsecsElapsed();
        isOver = true;
        for (std::thread &other : others)
            other.join();
        return double(took) / 1e6;
    };
    run(true); // warm
    std::vector<double> ratios;
    for (int pair = 0; pair < kPairs; ++pair) {
        const bool isListFirst = pair % 2 == 0;
        const double first = run(isListFirst);
        const double second = run(!isListFirst);
        const double listing = isListFirst ? first : second;
        const double burning = isListFirst ? second : first;
        ratios.push_back(listing / burning);
        qInfo("%d events beside two listing threads: %.0f ms, beside two burning ones: %.0f ms, "
              "ratio %.3f",
            kEvents, listing, burning, ratios.back());
    }
    std::sort(ratios.begin(), ratios.end());
    qInfo("median ratio %.3f; %lld lists of %d objects meanwhile", ratios[kPairs / 2],
        qlonglong(lists.load()), kObjects);
    QVERIFY(lists > 0);
    QVERIFY2(ratios[kPairs / 2] <= mostOfBurning, "readers slow the writer");
    factory.shutdown();
}

QTEST_GUILESS_MAIN(tst_Readers)
#include "tst_readers.moc"
