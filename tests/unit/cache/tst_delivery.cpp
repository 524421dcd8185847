// Handlers that are slower than the cluster, over the whole path from events to notifications:
// Delivery::Latest and EveryEvent, T62, T64, case B33. The merging rules are in tst_mailbox.
#include "factorybench.h"

#include <cache/mailbox.h>

#include <QtCore/qfile.h>

using namespace fakes;
using namespace davit::cache;
using davit::priv::Notification;
using Bench = FactoryBench;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr int kShare = 20; // what release builds do 20 times as much of
#else
constexpr int kShare = 1;
#endif

// Objects from bytes, as they come.
class Maker
{
public:
    explicit Maker(int padding = 0) : m_padding(padding, 'p') { }
    Object make(int key, int version)
    {
        const QByteArray json = R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":)"
                                R"({"name":"w)"
            + QByteArray::number(key) + R"(","namespace":"n","uid":"u)" + QByteArray::number(key)
            + R"(","resourceVersion":")" + QByteArray::number(version) + R"("},"spec":{"p":")"
            + m_padding + R"("}})";
        Object object;
        const Error error = m_decoder.decode(json, {}, &object);
        if (error.isError())
            qFatal("%s", qPrintable(error.message()));
        return object;
    }

private:
    priv::ObjectDecoder m_decoder;
    const QByteArray m_padding;
};

qint64 versionOf(const Object &object)
{
    return object.resourceVersion().toLongLong();
}

// Takes everything, portion by portion, as the plugin's thread does.
template <typename F> void drain(priv::InformerBackend &backend, F &&each)
{
    for (auto batch = backend.takeBatch(); !batch.empty(); batch = backend.takeBatch()) {
        for (const Notification &n : batch) {
            each(n);
            backend.handled(n);
        }
    }
}

qsizetype pendingOf(const SharedInformerFactory &factory, const QString &owner)
{
    qsizetype pending = 0;
    for (const HandlerState &state : factory.handlers())
        pending += state.owner == owner ? state.pending : 0;
    return pending;
}

} // namespace

class tst_Delivery : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void latest_data();
    void latest();
    void everyEvent_data();
    void everyEvent();
    void b33_flood_data();
    void b33_flood();
    void t64_removed_data();
    void t64_removed();

private:
    static PluginView viewOf(Bench &bench, Delivery delivery, const QString &owner);
    static void sync(Bench &bench, Maker &maker, int keys);
};

PluginView tst_Delivery::viewOf(Bench &bench, Delivery delivery, const QString &owner)
{
    PluginView view;
    const Status status = bench.factory->makeInformer(
        kWidgets, everything().delivery(delivery), bench.faults, &view.backend, owner);
    if (!status.isOk())
        qFatal("%s", qPrintable(status.error().message()));
    bench.run();
    return view;
}

void tst_Delivery::sync(Bench &bench, Maker &maker, int keys)
{
    std::vector<Object> items;
    for (int key = 0; key < keys; ++key)
        items.push_back(maker.make(key, key + 1));
    bench.list({}, std::move(items), QString::number(keys));
}

void tst_Delivery::latest_data()
{
    QTest::addColumn<int>("updates");
    QTest::addColumn<int>("keys");
    QTest::newRow("100,000 updates of 10,000 keys while the handler sleeps; a 20th in debug")
        << 100'000 / kShare << 10'000 / kShare;
    if (qEnvironmentVariableIsSet("DAVIT_LONG")) // long_tst_delivery
        QTest::newRow("1,000,000 updates of 10,000 keys while the handler sleeps")
            << 1'000'000 << 10'000;
}

void tst_Delivery::latest()
{
    QFETCH(const int, updates);
    QFETCH(const int, keys);
    Bench bench;
    Maker maker;
    PluginView view = viewOf(bench, Delivery::Latest, u"sleeper"_s);
    sync(bench, maker, keys);
    std::vector<qint64> delivered(std::size_t(keys), 0);
    const auto hear = [&](const Notification &n) {
        if (n.kind == Notification::Kind::Synced)
            return;
        qint64 &last = delivered[n.object.name().mid(1).toUInt()];
        if (n.kind == Notification::Kind::Updated)
            QCOMPARE(versionOf(n.before), last); // what this handler was given last
        QVERIFY(versionOf(n.object) > last);
        last = versionOf(n.object);
    };
    drain(*view.backend, hear);
    QVERIFY(view.backend->hasSynced());
    const quint64 blocksOfAll = priv::poolStats().liveBlocks; // one version a key

    int version = keys;
    const auto flood = [&](int count) {
        constexpr int kAtOnce = 1000;
        for (int sent = 0; sent < count; sent += kAtOnce) {
            std::vector<codec::WatchEvent> events;
            for (int i = 0; i < kAtOnce; ++i, ++version)
                events.push_back(happened(Type::Modified, maker.make(version % keys, version + 1)));
            bench.send({}, std::move(events));
        }
    };
    flood(keys);
    const auto inHand = view.backend->takeBatch(); // the handler is in a slot, and sleeps there
    QCOMPARE(qsizetype(inHand.size()), Mailbox::kPortion);
    flood(updates - keys);
    QCOMPARE(pendingOf(*bench.factory, u"sleeper"_s), keys); // one entry a key
    // At most one version a key beside the current one, and what is in the handler's hands.
    const quint64 blocks = priv::poolStats().liveBlocks;
    const quint64 perVersion = blocksOfAll / quint64(keys) + 1;
    QVERIFY2(blocks <= blocksOfAll + quint64(keys + 2 * Mailbox::kPortion) * perVersion,
        qPrintable(QStringLiteral("%1 blocks, %2 before").arg(blocks).arg(blocksOfAll)));
    for (const Notification &n : inHand) {
        hear(n);
        view.backend->handled(n);
    }
    drain(*view.backend, hear);
    for (int key = 0; key < keys; ++key) { // no final state is missed
        const Object stored = view.lister().find({u"n"_s, u'w' + QString::number(key)});
        QCOMPARE(delivered[std::size_t(key)], versionOf(stored));
        QVERIFY(versionOf(stored) > version - keys);
    }
    QCOMPARE(pendingOf(*bench.factory, u"sleeper"_s), 0);
}

void tst_Delivery::everyEvent_data()
{
    QTest::addColumn<int>("events");
    QTest::newRow("T62: a slow handler and 5000 events") << 5000;
}

void tst_Delivery::everyEvent()
{
    QFETCH(const int, events);
    Bench bench;
    Maker maker;
    PluginView slow = viewOf(bench, Delivery::EveryEvent, u"slow"_s);
    PluginView other = viewOf(bench, Delivery::EveryEvent, u"other"_s);
    sync(bench, maker, 10);
    slow.heard();
    other.heard();
    for (int version = 11; version < 11 + events; ++version) {
        bench.send({}, {happened(Type::Modified, maker.make(version % 10, version))});
        const auto batch = other.backend->takeBatch();
        QCOMPARE(batch.size(), 1u); // at once, whoever else sleeps
        QCOMPARE(versionOf(batch.front().object), version);
    }
    QCOMPARE(pendingOf(*bench.factory, u"slow"_s), events);
    int version = 11;
    drain(*slow.backend, [&](const Notification &n) { // none is lost, and in order
        QCOMPARE(versionOf(n.object), version);
        ++version;
    });
    QCOMPARE(version, 11 + events);
}

void tst_Delivery::b33_flood_data()
{
    QTest::addColumn<QList<int>>("flood"); // events a second, seconds, keys, KiB; ms a slow event
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B33-flood.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject input = QJsonDocument::fromJson(file.readAll()).object();
    const QString text
        = input[u"stream"_s][u"rate"_s].toString() + input[u"handlers"_s][1][u"cost"_s].toString();
    QList<int> numbers;
    for (auto found = QRegularExpression(u"[0-9]+"_s).globalMatch(text); found.hasNext();)
        numbers += found.next().captured().toInt();
    QCOMPARE(numbers, QList<int>({2000, 60, 500, 4, 50}));
    QTest::newRow("B33: a flood, a quick handler and a slow one") << numbers;
}

// The seconds are the test's own.
void tst_Delivery::b33_flood()
{
    QFETCH(const QList<int>, flood);
    const int keys = flood[2];
    const int atOnce = flood[0] * flood[4] / 1000; // while the slow handler works on one event
    const int ticks = flood[1] * 1000 / flood[4] / kShare;
    Bench bench;
    Maker maker(flood[3] * 1024);
    PluginView fast = viewOf(bench, Delivery::EveryEvent, u"quick"_s);
    PluginView sleepy = viewOf(bench, Delivery::Latest, u"sleepy"_s);
    sync(bench, maker, keys);
    drain(*fast.backend, [](const Notification &) {});
    drain(*sleepy.backend, [](const Notification &) {});
    std::vector<Notification> inHand; // of the slow handler
    int version = keys;
    for (int tick = 0; tick < ticks; ++tick) {
        std::vector<codec::WatchEvent> events;
        for (int i = 0; i < atOnce; ++i, ++version)
            events.push_back(happened(Type::Modified, maker.make(version % keys, version + 1)));
        bench.send({}, std::move(events));
        qint64 last = 0;
        drain(*fast.backend, [&](const Notification &n) { last = versionOf(n.object); });
        QCOMPARE(last, version); // not a moment behind
        if (inHand.empty()) {
            inHand = sleepy.backend->takeBatch();
            std::reverse(inHand.begin(), inHand.end());
        }
        if (!inHand.empty()) {
            sleepy.backend->handled(inHand.back());
            inHand.pop_back();
        }
        const qsizetype waiting = pendingOf(*bench.factory, u"sleepy"_s); // the gauge
        QVERIFY(waiting <= keys);
        QVERIFY(tick < 10 || waiting > 0);
        QCOMPARE(pendingOf(*bench.factory, u"quick"_s), 0);
    }
    const quint64 before = priv::poolStats().liveBlocks;
    inHand.clear();
    sleepy.backend.reset(); // its plugin stops: the backlog is gone at once
    QVERIFY(priv::poolStats().liveBlocks + quint64(keys) / 2 < before);
    bench.run();
    QCOMPARE(bench.factory->handlers().size(), 1u);
}

void tst_Delivery::t64_removed_data()
{
    QTest::addColumn<Delivery>("delivery");
    QTest::newRow("T64: every event") << Delivery::EveryEvent;
    QTest::newRow("T64: latest") << Delivery::Latest;
}

void tst_Delivery::t64_removed()
{
    QFETCH(const Delivery, delivery);
    Bench bench;
    Maker maker;
    PluginView view = viewOf(bench, delivery, u"leaves"_s);
    PluginView stays = viewOf(bench, delivery, u"stays"_s);
    sync(bench, maker, 1);
    view.heard();
    stays.heard();
    // The Informer asks for what waits and is in its slot when it is deleted there.
    QStringList heard;
    auto *informer = new Informer(*view.backend.release());
    QObject::connect(informer, &Informer::updated, informer, [&](const Object &, const Object &o) {
        heard += text(o);
        if (heard.size() == 1)
            delete informer;
    });
    for (int version = 2; version < 12; ++version)
        bench.send({}, {happened(Type::Modified, maker.make(0, version))});
    QCoreApplication::sendPostedEvents();
    bench.run();
    QCOMPARE(heard.size(), 1); // the one in flight ended, those that waited are gone
    QCOMPARE(bench.factory->handlers().size(), 1u);
    bench.send({}, {happened(Type::Modified, maker.make(0, 20))});
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard.size(), 1);
    QVERIFY(!stays.heard().isEmpty());
}

QTEST_GUILESS_MAIN(tst_Delivery)
#include "tst_delivery.moc"
