// Shards of a collection (1.9): what is asked of the server, what is left out of the answer of one
// that cannot tell them apart, and which views share a watch.
#include "../loglines.h"
#include "factorybench.h"
#include "scriptedtransport.h"

#include <QtTest>

using namespace fakes;
using namespace davit::cache;
using Bench = FactoryBench;

namespace {

// By namespace, so that it can be read: the hash of "m" is below that of "n".
const QString kHasM = QStringLiteral(
    "shardRange(object.metadata.namespace, '0x0000000000000000', '0xaf63e34c8601f871')");
const QString kHasN = QStringLiteral(
    "shardRange(object.metadata.namespace, '0xaf63e34c8601f871', '0x10000000000000000')");

InformerRequest shard(const QString &selector)
{
    return std::move(InformerRequest(kWidget).withShard(selector));
}

RestCollection widgetsOf(const QString &selector)
{
    RestCollection collection;
    collection.resource = {kWidget, u"widgets"_s, true};
    collection.shardSelector = selector;
    return collection;
}

QByteArray line(const char *type, const char *space, const char *name, int version)
{
    return R"({"type":")" + QByteArray(type)
        + R"(","object":{"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":")"
        + name + R"(","namespace":")" + space + R"(","resourceVersion":")"
        + QByteArray::number(version) + "\"}}}\n";
}

} // namespace

class tst_Shards : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void asked_data();
    void asked();
    void versionIsOfAll();
    void listOfAServerThatSendsAll();
    void watchOfAServerThatSendsAll();
    void tweak();
    void pairs_data();
    void pairs();
    void wrongText();
};

void tst_Shards::asked_data()
{
    QTest::addColumn<bool>("isWatch");
    QTest::newRow("1.9 list") << false;
    QTest::newRow("1.9 watch") << true;
}

void tst_Shards::asked()
{
    QFETCH(const bool, isWatch);
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsOf(kHasN));
    Sink sink;
    transport::ListOptions options;
    options.isWatch = isWatch;
    const auto operation
        = isWatch ? source.watch(options, executor, sink) : source.list(options, executor, sink);
    const QByteArray wanted = "shardSelector=shardRange%28object.metadata.namespace%2C%20%27"
                              "0xaf63e34c8601f871%27%2C%20%270x10000000000000000%27%29";
    QVERIFY2(transport.targets.value(0).contains(wanted), transport.targets.value(0).constData());
}

void tst_Shards::versionIsOfAll()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestListerWatcher source(transport, widgetsOf(kHasN));
    Sink sink;
    const auto operation = source.askVersion(executor, sink);
    QVERIFY(!transport.targets.value(0).contains("shardSelector"));
}

void tst_Shards::listOfAServerThatSendsAll()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    fake::Lines lines;
    RestListerWatcher source(transport, widgetsOf(kHasN), Logger(lines, u"cache"_s));
    Sink sink;
    const auto operation = source.list({}, executor, sink);
    transport.answer(200,
        {R"({"kind":"WidgetList","apiVersion":"demo.example/v1","metadata":{"resourceVersion":"10"},"items":[)"
         R"({"metadata":{"name":"a","namespace":"m","resourceVersion":"1"}},)"
         R"({"metadata":{"name":"b","namespace":"n","resourceVersion":"2"}},)"
         R"({"metadata":{"name":"c","namespace":"m","resourceVersion":"3"}}]})"});
    QCOMPARE(sink.items, L({"n/b@2"}));
    QVERIFY(!sink.error.isError());
    QCOMPARE(lines.seen.size(), 1); // not one an object
    QVERIFY2(lines.seen.front().contains(u"ShardedListAndWatch"_s), qPrintable(lines.seen.front()));
}

void tst_Shards::watchOfAServerThatSendsAll()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    fake::Lines lines;
    RestListerWatcher source(transport, widgetsOf(kHasN), Logger(lines, u"cache"_s));
    Sink sink;
    const auto operation = source.watch({}, executor, sink);
    transport.answer(200,
        {line("ADDED", "n", "a", 11) + line("ADDED", "m", "b", 12) + line("MODIFIED", "m", "b", 13)
            + line("DELETED", "n", "a", 14)
            + R"({"type":"BOOKMARK","object":{"apiVersion":"demo.example/v1","kind":"Widget",)"
              R"("metadata":{"resourceVersion":"15"}}})"
              "\n"
              R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","reason":"Expired","code":410}})"
              "\n"});
    QCOMPARE(sink.events, L({"n/a@11", "n/a@14", "B 15", "ERROR Expired"}));
    QCOMPARE(lines.seen.size(), 1);
}

void tst_Shards::tweak()
{
    ScriptedTransport transport;
    testing::ManualExecutor executor;
    RestCollection collection = widgetsOf({});
    collection.tweak = [](transport::ListOptions *options) { options->shardSelector = kHasM; };
    RestListerWatcher source(transport, collection);
    Sink sink;
    const auto operation = source.watch({}, executor, sink);
    transport.answer(200, {line("ADDED", "n", "a", 11) + line("ADDED", "m", "b", 12)});
    QVERIFY(transport.targets.value(0).contains("shardSelector="));
    QCOMPARE(sink.events, L({"m/b@12"}));
}

void tst_Shards::pairs_data()
{
    QTest::addColumn<InformerRequest>("running"); // synced before the other is asked for
    QTest::addColumn<InformerRequest>("asked");
    QTest::addColumn<QStringList>("watches"); // scopes that run once both have synced
    QTest::addColumn<QStringList>("shown"); // by the view that was asked for
    const auto row = [](const char *name, const InformerRequest &running,
                         const InformerRequest &asked, const QStringList &watches, Texts shown) {
        QTest::newRow(name) << running << asked << watches << L(shown);
    };
    const QString ofM = u"of "_s + kHasM;
    const QString ofN = u"of "_s + kHasN;
    const QString both = kHasM + u" || "_s + kHasN;
    row("shard on all: its hash is computed here", everything(), shard(kHasM), {QString()},
        {"m/c@3"});
    row("all on shard: the wider replaces", shard(kHasM), everything(), {QString()},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("two shards: neither covers the other", shard(kHasM), shard(kHasN), {ofM, ofN},
        {"n/a@1", "n/b@2"});
    row("the same shard, written otherwise", shard(kHasN), shard(QString(kHasN).remove(u' ')),
        {ofN}, {"n/a@1", "n/b@2"});
    row("a shard within a larger one has its own watch", shard(both), shard(kHasN),
        {u"of "_s + both, ofN}, {"n/a@1", "n/b@2"});
    row("shard and labels on the shard", shard(kHasN), green().withShard(kHasN), {ofN}, {"n/a@1"});
    row("shard and labels on the labels", green(), green().withShard(kHasN),
        {u"with labels colour=green"_s}, {"n/a@1"});
    row("namespace and shard: neither covers the other", in("n"), shard(kHasN), {u"in n"_s, ofN},
        {"n/a@1", "n/b@2"});
    row("metadata of a shard on metadata of all",
        InformerRequest(kWidget).payload(Payload::Metadata),
        shard(kHasM).payload(Payload::Metadata), {u"(metadata)"_s}, {"m/c@3"});
}

// Sources that give all, as those of a server that knows no shards would, but for
// RestListerWatcher.
void tst_Shards::pairs()
{
    QFETCH(const InformerRequest, running);
    QFETCH(const InformerRequest, asked);
    Bench bench;
    std::size_t answered = 0;
    const auto answer = [&] {
        for (; answered < bench.sources.size(); ++answered) {
            const QString scope = bench.sources[answered].first;
            std::vector<Object> items;
            for (const Object &object : three()) {
                const bool isInN = object.namespaceName() == u"n"_s;
                const bool isServed = scope.contains(kHasM) || scope.contains(kHasN)
                    ? scope.contains(isInN ? kHasN : kHasM)
                    : !scope.startsWith(u"in n"_s) || isInN;
                const bool isGreen = object.label("colour"_L1) == u"green"_s;
                if (isServed && (isGreen || !scope.contains(u"colour=green"_s)))
                    items.push_back(
                        scope.contains(u"(metadata)"_s) ? priv::metadataOnly(object) : object);
            }
            bench.sources[answered].second->answerList(std::move(items), u"10"_s);
            bench.run();
            bench.sources[answered].second->open();
        }
    };
    PluginView first = bench.view(running);
    answer();
    const qsizetype firstHeard = first.heard().size();
    PluginView second = bench.view(asked);
    answer();
    bench.run();
    QTEST(texts(second.lister().list()), "shown");
    QTEST(bench.running(), "watches");
    QCOMPARE(first.lister().list().size(), firstHeard);
    QCOMPARE(first.heard(), QStringList()); // nobody disturbed the first
}

void tst_Shards::wrongText()
{
    Bench bench;
    std::unique_ptr<priv::InformerBackend> backend;
    const Status status
        = bench.factory->makeInformer(kWidgets, shard(u"bogus"_s), bench.faults, &backend);
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    QVERIFY2(status.error().message().startsWith(
                 u"watch demo.example/v1 Widget: shard selector \"bogus\": "_s),
        qPrintable(status.error().message()));
}

QTEST_GUILESS_MAIN(tst_Shards)
#include "tst_shards.moc"
