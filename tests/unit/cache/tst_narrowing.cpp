// Nothing is cached that nobody asked for: what a shared informer holds once users have left it.
#include "factorybench.h"
#include "informerbench.h"

#include <davit/priv/poolaccess.h>

#include <QTest>

using namespace fakes;
using namespace davit::cache;

namespace {

using Bench = FactoryBench;

InformerRequest meta(InformerRequest request)
{
    return std::move(request.payload(Payload::Metadata));
}

// The one view that is left on the watch of three(), which somebody had begun for everything.
PluginView leftAlone(Bench &bench, const InformerRequest &request)
{
    PluginView wide = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    PluginView view = bench.view(request);
    (void)view.heard();
    wide.backend.reset();
    bench.run();
    return view;
}

} // namespace

class tst_Narrowing : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void whoStays_data();
    void whoStays();
    void leavesTheView();
    void relist();
    void wideAgain();
    void whileAnotherComes();
    void movedView();
    void keepOnly();
};

void tst_Narrowing::whoStays_data()
{
    QTest::addColumn<QList<InformerRequest>>("staying");
    QTest::addColumn<int>("objects"); // stored
    QTest::addColumn<bool>("isWhole"); // there, of the namespace n
    const auto row = [](const char *name, const QList<InformerRequest> &staying, int objects,
                         bool isWhole) { QTest::newRow(name) << staying << objects << isWhole; };
    row("a namespace", {in("n")}, 2, true);
    row("labels", {green()}, 2, false);
    row("namespace and labels", {in("m"), InformerRequest(kWidget).withLabels(u"colour=red"_s)}, 2,
        false);
    row("metadata of all", {meta(everything())}, 3, false);
    row("metadata of a namespace", {meta(in("n"))}, 2, false);
    row("metadata of all, whole in a namespace", {meta(everything()), in("n")}, 3, true);
    row("a shard, here of the namespace m",
        {std::move(InformerRequest(kWidget).withShard(
            u"shardRange(object.metadata.namespace, '0x0000000000000000', '0xaf63e34c8601f871')"_s))},
        1, false);
    row("metadata by a field of the spec: judged by the whole",
        {meta(InformerRequest(kWidget).withFields(u"spec.size=1"_s))}, 1, false);
    row("somebody who wants all as well", {in("n"), everything()}, 3, true);
}

// The one who wanted everything leaves: the others see what they saw, and hear nothing of it.
void tst_Narrowing::whoStays()
{
    QFETCH(const QList<InformerRequest>, staying);
    Bench bench;
    PluginView wide = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    std::vector<PluginView> views;
    std::vector<QStringList> shown;
    for (const InformerRequest &request : staying) {
        views.push_back(bench.view(request));
        (void)views.back().heard();
        shown.push_back(texts(views.back().lister().list()));
    }
    QCOMPARE(bench.factory->states().front().objects, 3);
    wide.backend.reset();
    bench.run();
    QTEST(int(bench.factory->states().front().objects), "objects");
    QCOMPARE(bench.running(), L({""})); // the watch stays as it is
    for (std::size_t i = 0; i < views.size(); ++i) {
        QCOMPARE(views[i].heard(), QStringList());
        QCOMPARE(texts(views[i].lister().list()), shown[i]);
    }
    // What is not there any more is watched anew for who asks.
    QFETCH(const bool, isWhole);
    {
        const PluginView whole = bench.view(in("n"));
        QCOMPARE(bench.sources.size(), isWhole ? 1u : 2u);
    }
    bench.run();
    for (const Object &object : three(u"1"_s))
        bench.send(QString(), {happened(Type::Modified, object)});
    for (std::size_t i = 0; i < views.size(); ++i)
        QCOMPARE(views[i].heard().size(), shown[i].size()); // live, and no others
    QTEST(int(bench.factory->states().front().objects), "objects");
}

// What moves out of the views that are left is deleted there, what moves in is added.
void tst_Narrowing::leavesTheView()
{
    Bench bench;
    PluginView view = leftAlone(bench, green());
    bench.send(QString(), {happened(Type::Modified, widget(u"n/a@11", kRed))});
    QCOMPARE(view.heard(), L({"-n/a@1"}));
    QCOMPARE(bench.factory->states().front().objects, 1);
    bench.send(QString(), {happened(Type::Modified, widget(u"n/b@12", kGreen))});
    QCOMPARE(view.heard(), L({"+n/b@12"}));
    bench.send(QString(), {happened(Type::Deleted, widget(u"n/a@13", kRed))});
    QCOMPARE(view.heard(), QStringList());
    bench.send(QString(), {happened(Type::Modified, widget(u"n/b@11", kRed))}); // an old state
    QCOMPARE(view.heard(), QStringList());
    QCOMPARE(bench.factory->states().front().storeVersion, u"13"_s);
}

void tst_Narrowing::relist()
{
    Bench bench;
    PluginView view = leftAlone(bench, green());
    bench.source(QString()).end(error(ErrorCode::Expired, u"watch Widget: too old"_s));
    bench.run();
    bench.clock.advance(2s, &bench.executor);
    bench.list(QString(),
        {widget(u"n/a@21", kRed), widget(u"n/b@22", kGreen), widget(u"m/c@3", kGreen)}, u"30"_s);
    QStringList heard = view.heard();
    heard.removeAll(u"~m/c@3>m/c@3"_s); // a relist tells equal versions, too (I-7)
    QCOMPARE(heard, L({"+n/b@22", "-n/a@1?"}));
    QCOMPARE(bench.factory->states().front().objects, 2);
}

// Who asks for all again gets all: by a new watch, to which the others move.
void tst_Narrowing::wideAgain()
{
    Bench bench;
    PluginView view = leftAlone(bench, in("n"));
    PluginView again = bench.view(everything());
    QCOMPARE(bench.sources.size(), 2u);
    bench.sources.back().second->answerList(three(), u"12"_s);
    bench.run();
    bench.sources.back().second->open();
    bench.run();
    QCOMPARE(texts(again.lister().list()), L({"m/c@3", "n/a@1", "n/b@2"}));
    QCOMPARE(bench.running(), L({""})); // one watch
    QCOMPARE(view.heard(), QStringList());
    QCOMPARE(texts(view.lister().list()), L({"n/a@1", "n/b@2"}));
}

// Between the question and the first look somebody else leaves.
void tst_Narrowing::whileAnotherComes()
{
    Bench bench;
    PluginView wide = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    PluginView view = bench.view(in("n"));
    PluginView late;
    QVERIFY(
        bench.factory->makeInformer(kWidgets, everything(), bench.faults, &late.backend).isOk());
    wide.backend.reset();
    bench.run();
    QCOMPARE(bench.factory->states().front().objects, 3);
    QCOMPARE(late.heard().size(), 3);
    QCOMPARE(bench.sources.size(), 1u);
}

// A view that was narrower than the informer it comes from hears of its own objects alone.
void tst_Narrowing::movedView()
{
    Bench bench;
    PluginView whole = bench.view(in("n"));
    bench.list(u"in n"_s, widgets({"n/a@1", "n/b@2"}), u"10"_s);
    PluginView view = bench.view(in("n").withLabels(u"colour=green"_s));
    bench.send(u"in n"_s,
        {happened(Type::Modified, widget(u"n/a@11", kGreen)),
            happened(Type::Modified, widget(u"n/b@12", kRed))});
    QCOMPARE(view.heard(), L({"+n/a@11"}));
    PluginView wide = bench.view(everything());
    bench.list(QString(), {widget(u"n/a@11", kGreen)}, u"20"_s); // b is gone
    QCOMPARE(bench.running(), L({""}));
    QCOMPARE(view.heard(), QStringList());
    QCOMPARE(texts(view.lister().list()), L({"n/a@11"}));
}

// The store itself: of a, metadata; of b, nothing; c whole.
void tst_Narrowing::keepOnly()
{
    InformerBench bench;
    bench.sync({"a@1", "b@2", "c@3"}, u"10"_s);
    bench.informer->keepOnly([](const Object &object) {
        if (object.name() == u"b"_s)
            return Object();
        return object.name() == u"c"_s ? object : priv::metadataOnly(object);
    });
    const auto stored = [&] { return bench.informer->store()->snapshot(); };
    const auto find = [&](const char *name) {
        return stored()->objects.find({QString(), QString::fromLatin1(name)});
    };
    QCOMPARE(stored()->objects.size(), 2);
    QVERIFY(find("a").isMetadataOnly());
    QVERIFY(!find("c").isMetadataOnly());
    QCOMPARE(stored()->resourceVersion, u"10"_s);
    QCOMPARE(bench.heard(), QStringList());
    bench.send({happened(Type::Modified, widget(u"a@11")), happened(Type::Added, widget(u"b@12"))});
    QVERIFY(find("a").isMetadataOnly());
    QCOMPARE(find("a").resourceVersion(), u"11"_s);
    QCOMPARE(stored()->objects.size(), 2);
    QCOMPARE(stored()->resourceVersion, u"12"_s);
    bench.relist(widgets({"a@11", "b@12", "c@13"}), u"20"_s);
    QVERIFY(find("a").isMetadataOnly());
    QVERIFY(find("b").isNull());
    QCOMPARE(find("c").resourceVersion(), u"13"_s);
}

QTEST_GUILESS_MAIN(tst_Narrowing)
#include "tst_narrowing.moc"
