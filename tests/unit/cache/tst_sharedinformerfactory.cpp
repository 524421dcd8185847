// Views and the factory: who shares which watch, what a view shows of a wider informer, moving to
// one without loss, listers, indexes, the end.
#include "factorybench.h"

#include <map>

using namespace fakes;
using namespace davit::cache;
using davit::priv::Notification;
using Bench = FactoryBench;

namespace {

// What follows `word` in the text of a scope, up to the next part of it.
QString partOf(const QString &scope, QStringView word)
{
    const qsizetype at = scope.indexOf(word);
    if (at < 0)
        return {};
    QString part = scope.mid(at + word.size());
    for (const QStringView next : {u" with labels ", u" with fields ", u" (metadata)"}) {
        if (const qsizetype end = part.indexOf(next); end >= 0)
            part.truncate(end);
    }
    return part;
}

// What a server would show of it to a watch of this scope; null: nothing.
Object servedTo(const QString &scope, const Object &object)
{
    const QString space = scope.startsWith(u"in ") ? partOf(scope, u"in ") : QString();
    LabelSelector labels;
    FieldSelector fields;
    if (!LabelSelector::parse(partOf(scope, u"with labels "), &labels).isOk()
        || !FieldSelector::parse(partOf(scope, u"with fields "), &fields).isOk())
        qFatal("%s", qUtf8Printable(scope));
    if ((!space.isEmpty() && object.namespaceName() != space) || !labels.matches(object)
        || !fields.matches(object))
        return {};
    return scope.contains(u"(metadata)") ? priv::metadataOnly(object) : object;
}

// "~n/a@1>n/a@11"
QStringList changesOf(QStringList shown)
{
    for (QString &one : shown)
        one = u'~' + one + u'>' + QString(one).replace(u'@', u"@1"_s);
    return shown;
}

QStringList textsOf(QStringList shown, const QString &form)
{
    for (QString &one : shown)
        one = form.arg(one);
    return shown;
}

} // namespace

class tst_SharedInformerFactory : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void pairs_data();
    void pairs();
    void covers_data();
    void covers();
    void widening();
    void wideningBeforeTheNarrowSynced();
    void wideOneThatNeverSyncs();
    void viewThatComesWhileWidening();
    void viewThatEndsWhileWidening();
    void lastOneOut();
    void listersCount();
    void shutdown();
    void states();
    void onRealStrands();
};

// NOLINTNEXTLINE(readability-function-size): one table
void tst_SharedInformerFactory::pairs_data()
{
    QTest::addColumn<InformerRequest>("running"); // synced before the other is asked for
    QTest::addColumn<InformerRequest>("asked");
    QTest::addColumn<QStringList>("watches"); // scopes that run once both have synced
    QTest::addColumn<QStringList>("shown"); // by the view that was asked for
    const auto row = [](const char *name, const InformerRequest &running,
                         const InformerRequest &asked, Texts watches, Texts shown) {
        QTest::newRow(name) << running << asked << L(watches) << L(shown);
    };
    const auto meta = [](InformerRequest request) {
        return InformerRequest(request.payload(Payload::Metadata));
    };
    const auto named = [](const char *name) {
        return std::move(
            InformerRequest(kWidget).withFields(u"metadata.name="_s + QLatin1StringView(name)));
    };
    const auto fields = [](QStringView text) {
        return std::move(InformerRequest(kWidget).withFields(text.toString()));
    };
    const auto labels = [](QStringView text) {
        return std::move(InformerRequest(kWidget).withLabels(text.toString()));
    };
    const auto several
        = [](Texts spaces) { return std::move(InformerRequest(kWidget).inNamespaces(L(spaces))); };
    row("the same twice", everything(), everything(), {""}, {"m/c@3", "n/a@1", "n/b@2"});
    row("namespace on all", everything(), in("n"), {""}, {"n/a@1", "n/b@2"});
    row("labels on all", everything(), green(), {""}, {"m/c@3", "n/a@1"});
    row("fields on all", everything(), named("b"), {""}, {"n/b@2"});
    row("metadata on full", everything(), meta(everything()), {""}, {"m/c@3", "n/a@1", "n/b@2"});
    row("all of them on all", everything(), meta(in("n").withLabels(u"colour=green"_s)), {""},
        {"n/a@1"});
    row("labels in a namespace on the namespace", in("n"), in("n").withLabels(u"colour=green"_s),
        {"in n"}, {"n/a@1"});
    row("labels in a namespace on the labels", green(), in("m").withLabels(u"colour=green"_s),
        {"with labels colour=green"}, {"m/c@3"});
    row("all on namespace: the wider replaces", in("n"), everything(), {""},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("all on labels: the wider replaces", green(), everything(), {""},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("full on metadata: the wider replaces", meta(everything()), everything(), {""},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("all on fields: the wider replaces", named("b"), everything(), {""},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("namespace on labels in it: the wider replaces", in("n").withLabels(u"colour=green"_s),
        in("n"), {"in n"}, {"n/a@1", "n/b@2"});
    row("labels on labels in a namespace: the wider replaces",
        in("n").withLabels(u"colour=green"_s), green(), {"with labels colour=green"},
        {"m/c@3", "n/a@1"});
    row("metadata of all on metadata in a namespace: the wider replaces", meta(in("n")),
        meta(everything()), {"(metadata)"}, {"m/c@3", "n/a@1", "n/b@2"});
    row("full in a namespace on metadata in it: the wider replaces", meta(in("n")), in("n"),
        {"in n"}, {"n/a@1", "n/b@2"});
    row("full in a namespace, metadata of all: neither covers the other", in("n"),
        meta(everything()), {"(metadata)", "in n"}, {"m/c@3", "n/a@1", "n/b@2"});
    row("metadata of all, full in a namespace: neither covers the other", meta(everything()),
        in("n"), {"(metadata)", "in n"}, {"n/a@1", "n/b@2"});
    row("metadata in a namespace on full of all", everything(), meta(in("m")), {""}, {"m/c@3"});
    row("labels and fields on labels", green(), green().withFields(u"metadata.name=c"_s),
        {"with labels colour=green"}, {"m/c@3"});
    row("two namespaces", in("n"), in("m"), {"in m", "in n"}, {"m/c@3"});
    row("two label selectors", green(), InformerRequest(kWidget).withLabels(u"colour=red"_s),
        {"with labels colour=green", "with labels colour=red"}, {"n/b@2"});
    row("the same labels, written otherwise", green(),
        InformerRequest(kWidget).withLabels(u" colour == green"_s), {"with labels colour=green"},
        {"m/c@3", "n/a@1"});
    row("namespace and labels: neither covers the other", in("n"), green(),
        {"in n", "with labels colour=green"}, {"m/c@3", "n/a@1"});
    row("a field of the spec on metadata", meta(everything()),
        meta(InformerRequest(kWidget).withFields(u"spec.size=1"_s)),
        {"(metadata)", "with fields spec.size=1 (metadata)"}, {"n/a@1"});
    row("a field of the metadata on metadata", meta(everything()), meta(named("b")), {"(metadata)"},
        {"n/b@2"});
    row("a field of the spec, in a namespace and in all, metadata alone: neither covers the other",
        meta(fields(u"spec.size=1")), meta(in("n").withFields(u"spec.size=1"_s)),
        {"in n with fields spec.size=1 (metadata)", "with fields spec.size=1 (metadata)"},
        {"n/a@1"});
    row("fields in a namespace on the namespace", in("n"), in("n").withFields(u"spec.size=1"_s),
        {"in n"}, {"n/a@1"});
    row("fields in a namespace on the fields", fields(u"spec.size!=2"),
        in("n").withFields(u"spec.size!=2"_s), {"with fields spec.size!=2"}, {"n/a@1"});
    row("fields on fields in a namespace: the wider replaces",
        in("n").withFields(u"spec.size!=2"_s), fields(u"spec.size!=2"),
        {"with fields spec.size!=2"}, {"m/c@3", "n/a@1"});
    row("namespace and fields: neither covers the other", in("n"), fields(u"spec.size!=2"),
        {"in n", "with fields spec.size!=2"}, {"m/c@3", "n/a@1"});
    row("labels and fields on fields", fields(u"spec.size=1"), green().withFields(u"spec.size=1"_s),
        {"with fields spec.size=1"}, {"n/a@1"});
    row("labels and fields: neither covers the other", green(), fields(u"spec.size=2"),
        {"with fields spec.size=2", "with labels colour=green"}, {"n/b@2"});
    row("two field selectors", named("a"), named("b"),
        {"with fields metadata.name=a", "with fields metadata.name=b"}, {"n/b@2"});
    row("a field twice, on the same once", named("c"), fields(u"metadata.name=c,metadata.name=c"),
        {"with fields metadata.name=c"}, {"m/c@3"});
    row("more fields on fewer", fields(u"spec.size!=2"), fields(u"metadata.name=c,spec.size!=2"),
        {"with fields spec.size!=2"}, {"m/c@3"});
    row("fewer fields on more: the wider replaces", fields(u"metadata.name=c,spec.size!=2"),
        fields(u"spec.size!=2"), {"with fields spec.size!=2"}, {"m/c@3", "n/a@1"});
    row("more labels on fewer", green(), labels(u"colour=green,tier"), {"with labels colour=green"},
        {"m/c@3"});
    row("fewer labels on more: the wider replaces", labels(u"colour=green,tier"), green(),
        {"with labels colour=green"}, {"m/c@3", "n/a@1"});
    row("more labels in a namespace on fewer in all", labels(u"colour in (blue,green)"),
        in("m").withLabels(u"tier,colour in (green,blue)"_s),
        {"with labels colour in (blue,green)"}, {"m/c@3"});
    row("label sets that share a term: neither covers the other", labels(u"colour=green,tier"),
        labels(u"colour=green,!tier"),
        {"with labels colour=green,!tier", "with labels colour=green,tier"}, {"n/a@1"});
    row("labels and namespace: neither covers the other", green(), in("n"),
        {"in n", "with labels colour=green"}, {"n/a@1", "n/b@2"});
    row("fields and namespace: neither covers the other", fields(u"spec.size!=2"), in("n"),
        {"in n", "with fields spec.size!=2"}, {"n/a@1", "n/b@2"});
    row("fields and labels: neither covers the other", fields(u"spec.size=2"), green(),
        {"with fields spec.size=2", "with labels colour=green"}, {"m/c@3", "n/a@1"});
    row("full with labels, metadata of all: neither covers the other", green(), meta(everything()),
        {"(metadata)", "with labels colour=green"}, {"m/c@3", "n/a@1", "n/b@2"});
    row("full with fields, metadata of all: neither covers the other", named("b"),
        meta(everything()), {"(metadata)", "with fields metadata.name=b"},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("metadata of all, full with labels: neither covers the other", meta(everything()), green(),
        {"(metadata)", "with labels colour=green"}, {"m/c@3", "n/a@1"});
    row("metadata of all, full with fields: neither covers the other", meta(everything()),
        named("b"), {"(metadata)", "with fields metadata.name=b"}, {"n/b@2"});
    row("metadata with labels on metadata of all", meta(everything()), meta(green()),
        {"(metadata)"}, {"m/c@3", "n/a@1"});
    row("metadata in a namespace on metadata of all", meta(everything()), meta(in("m")),
        {"(metadata)"}, {"m/c@3"});
    row("metadata of all on metadata with labels: the wider replaces", meta(green()),
        meta(everything()), {"(metadata)"}, {"m/c@3", "n/a@1", "n/b@2"});
    row("metadata of all on metadata with fields: the wider replaces", meta(named("b")),
        meta(everything()), {"(metadata)"}, {"m/c@3", "n/a@1", "n/b@2"});
    row("metadata twice", meta(everything()), meta(everything()), {"(metadata)"},
        {"m/c@3", "n/a@1", "n/b@2"});
    row("one namespace twice", in("n"), in("n"), {"in n"}, {"n/a@1", "n/b@2"});
    row("fields twice", named("b"), named("b"), {"with fields metadata.name=b"}, {"n/b@2"});
    row("several namespaces on all", everything(), several({"m", "o"}), {""}, {"m/c@3"});
    row("all on several namespaces: the wider replaces", several({"m", "n"}), everything(), {""},
        {"m/c@3", "n/a@1", "n/b@2"});
}

void tst_SharedInformerFactory::pairs()
{
    QFETCH(const InformerRequest, running);
    QFETCH(const InformerRequest, asked);
    Bench bench;
    std::size_t answered = 0;
    // What a server would give each of them.
    const auto answer = [&] {
        for (; answered < bench.sources.size(); ++answered) {
            const QString scope = bench.sources[answered].first;
            std::vector<Object> items;
            for (const Object &object : three()) {
                if (const Object served = servedTo(scope, object); !served.isNull())
                    items.push_back(served);
            }
            bench.sources[answered].second->answerList(std::move(items), u"10"_s);
            bench.run();
            bench.sources[answered].second->open();
        }
    };
    PluginView first = bench.view(running);
    answer();
    const QStringList firstHeard = first.heard();
    PluginView second = bench.view(asked);
    answer();
    bench.run();
    QTEST(texts(second.lister().list()), "shown");
    QTEST(bench.running(), "watches");
    QFETCH(const QStringList, shown);
    QCOMPARE(second.heard(), textsOf(shown, u"+%1!"_s));
    QVERIFY(second.backend->hasSynced());
    QCOMPARE(first.heard(), QStringList()); // nobody disturbed the first
    const QStringList firstShown = texts(first.lister().list());
    QCOMPARE(firstShown.size(), firstHeard.size());
    for (const Object &object : second.lister().list())
        QCOMPARE(object.isMetadataOnly(), asked.payload() == Payload::Metadata);
    for (const QString &scope : bench.running()) { // what happens from here on
        for (const Object &object : three(u"1"_s)) {
            if (const Object served = servedTo(scope, object); !served.isNull())
                bench.send(scope, {happened(Type::Modified, served)});
        }
    }
    QCOMPARE(first.heard(), changesOf(firstShown));
    QCOMPARE(second.heard(), changesOf(shown));
}

void tst_SharedInformerFactory::covers_data()
{
    QTest::addColumn<QString>("wide");
    QTest::addColumn<QString>("narrow");
    QTest::addColumn<bool>("covers");
    // namespace;labels;fields;m for metadata
    QTest::newRow("itself") << "n;a=b;metadata.name=x;m"
                            << "n;a=b;metadata.name=x;m" << true;
    QTest::newRow("full does not stand on metadata") << ";;;m"
                                                     << ";;;" << false;
    QTest::newRow("other namespace") << "n;;;"
                                     << "m;;;" << false;
    QTest::newRow("all does not stand on one namespace") << "n;;;"
                                                         << ";;;" << false;
    QTest::newRow("other labels") << ";a=b;;"
                                  << ";a=c;;" << false;
    QTest::newRow("none does not stand on labels") << ";a=b;;"
                                                   << ";;;" << false;
    QTest::newRow("fields on full") << ";;;"
                                    << ";;spec.size=1;" << true;
    QTest::newRow("fields of the spec on metadata") << ";;;m"
                                                    << ";;spec.size=1;m" << false;
    QTest::newRow("metadata fields on metadata") << ";;;m"
                                                 << ";;metadata.name=1;m" << true;
    QTest::newRow("one more label") << ";a=b;;"
                                    << ";a=b,c=d;;" << true;
    QTest::newRow("one label less") << ";a=b,c=d;;"
                                    << ";a=b;;" << false;
    QTest::newRow("commas in a set of labels") << ";a in (b,c);;"
                                               << ";a in (b,c),d;;" << true;
    QTest::newRow("a set of labels is one term") << ";a in (b,c);;"
                                                 << ";a in (b,d),c;;" << false;
    QTest::newRow("one more field") << ";;a=b;"
                                    << ";;a=b,c=d;" << true;
    QTest::newRow("a comma in the value of a field") << ";;a=b\\,c;"
                                                     << ";;a=b\\,c,d=e;" << true;
    QTest::newRow("half a value") << ";;a=b;"
                                  << ";;a=b\\,c;" << false;
    QTest::newRow("one more field of the spec on metadata")
        << ";;metadata.name=1;m"
        << ";;metadata.name=1,spec.size=1;m" << false;
    QTest::newRow("what only the server can judge of metadata") << ";;spec.size=1;m"
                                                                << "n;;spec.size=1;m" << false;
}

void tst_SharedInformerFactory::covers()
{
    QFETCH(const QString, wide);
    QFETCH(const QString, narrow);
    const auto scope = [](const QString &text) {
        const QStringList parts = text.split(u';');
        return WatchScope{kWidget, parts[0], parts[1], parts[2], parts[3] == u"m"};
    };
    QTEST(scope(wide).covers(scope(narrow)), "covers");
    WatchScope other = scope(narrow);
    other.gvk.kind = u"Gadget"_s;
    QVERIFY(!scope(wide).covers(other));
}

void tst_SharedInformerFactory::widening()
{
    Bench bench;
    PluginView narrow = bench.view(in("n"));
    bench.list(u"in n"_s, widgets({"n/a@1", "n/b@2", "n/gone@3"}), u"10"_s);
    QCOMPARE(narrow.heard(), L({"+n/a@1!", "+n/b@2!", "+n/gone@3!"}));
    const auto narrowWatch = bench.source(u"in n"_s).calls.back();
    PluginView wide = bench.view(everything());
    // The narrow watch is ahead: the wide one must catch up before anybody moves.
    bench.send(u"in n"_s, {happened(Type::Modified, widget(u"n/a@20"))});
    QCOMPARE(narrow.heard(), L({"~n/a@1>n/a@20"}));
    bench.list(QString(), widgets({"n/a@1", "n/b@2", "n/gone@3", "m/c@4"}), u"12"_s);
    QCOMPARE(narrow.heard(), QStringList());
    QCOMPARE(text(narrow.lister().find({u"n"_s, u"a"_s})), u"n/a@20"_s); // never back in time
    bench.send({}, {happened(Type::Deleted, widget(u"n/gone@15"))});
    QCOMPARE(bench.running(), L({"", "in n"}));
    bench.send({}, {happened(Type::Modified, widget(u"n/a@20"))});
    QCOMPARE(bench.running(), L({""})); // moved; the narrow watch has ended
    QVERIFY(!narrowWatch->isAlive);
    QCOMPARE(narrow.heard(), L({"-n/gone@3?"}));
    QCOMPARE(texts(narrow.lister().list()), L({"n/a@20", "n/b@2"}));
    bench.send({},
        {happened(Type::Modified, widget(u"n/b@21")), happened(Type::Added, widget(u"m/d@22"))});
    QCOMPARE(narrow.heard(), L({"~n/b@2>n/b@21"}));
    QVERIFY(narrow.backend->hasSynced());
}

void tst_SharedInformerFactory::wideningBeforeTheNarrowSynced()
{
    Bench bench;
    PluginView narrow = bench.view(in("n"));
    PluginView wide = bench.view(everything());
    bench.list(QString(), widgets({"n/a@1", "m/c@4"}), u"12"_s);
    QCOMPARE(bench.running(), L({""}));
    QCOMPARE(narrow.heard(), L({"+n/a@1!"}));
    QVERIFY(narrow.backend->hasSynced());
    QVERIFY(narrow.lister().hasSynced());
}

// A plugin whose wide request is refused must not take a modest one down with it (B32).
void tst_SharedInformerFactory::wideOneThatNeverSyncs()
{
    Bench bench;
    PluginView wide = bench.view(everything());
    bench.source(QString()).failList(error(ErrorCode::Forbidden, u"list Widget: forbidden"_s));
    bench.run();
    PluginView modest = bench.view(in("n"));
    bench.list(u"in n"_s, widgets({"n/a@1"}), u"10"_s);
    QCOMPARE(modest.heard(), L({"+n/a@1!"}));
    QVERIFY(modest.backend->hasSynced());
    QVERIFY(!wide.backend->hasSynced());
    QCOMPARE(bench.factory->unsynced(), QStringList(toString(kWidget)));
    QCOMPARE(
        bench.factory->states().front().reflector.lastError.message(), u"list Widget: forbidden"_s);
    bench.clock.advance(2s, &bench.executor);
    bench.list(QString(), widgets({"n/a@1", "m/c@2"}), u"20"_s); // the rule was granted
    QCOMPARE(bench.running(), L({""}));
    QVERIFY(wide.backend->takeBatch().size() > 0u);
    QCOMPARE(modest.heard(), QStringList());
}

void tst_SharedInformerFactory::viewThatComesWhileWidening()
{
    Bench bench;
    PluginView narrow = bench.view(in("n"));
    bench.list(u"in n"_s, widgets({"n/a@1"}), u"10"_s);
    PluginView wide = bench.view(everything());
    bench.source(QString()).answerList(widgets({"n/a@1", "m/c@2"}), u"20"_s);
    // Asked for before the strand has run: on the narrow one still.
    PluginView late;
    QVERIFY(bench.factory->makeInformer(kWidgets, in("n"), bench.faults, &late.backend).isOk());
    bench.run();
    bench.source(QString()).open();
    QCOMPARE(bench.running(), L({""}));
    QCOMPARE(late.heard(), L({"+n/a@1!"}));
    bench.send({}, {happened(Type::Modified, widget(u"n/a@21"))});
    QCOMPARE(late.heard(), L({"~n/a@1>n/a@21"}));
}

void tst_SharedInformerFactory::viewThatEndsWhileWidening()
{
    Bench bench;
    PluginView narrow = bench.view(in("n"));
    bench.list(u"in n"_s, widgets({"n/a@1"}), u"100"_s);
    PluginView wide = bench.view(everything());
    bench.list(QString(), widgets({"n/a@1"}), u"20"_s); // behind: the move waits
    narrow.backend.reset();
    bench.run();
    bench.send({}, {happened(Type::Modified, widget(u"n/a@101"))});
    QCOMPARE(bench.running(), L({""}));
    QCOMPARE(bench.factory->states().front().users, 1);
}

void tst_SharedInformerFactory::lastOneOut()
{
    Bench bench;
    PluginView first = bench.view(everything());
    PluginView second = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    QCOMPARE(bench.factory->states().front().users, 2);
    first.backend.reset();
    bench.run();
    QCOMPARE(bench.running(), L({""}));
    QCOMPARE(second.heard().size(), 3);
    second.backend.reset();
    bench.run();
    QCOMPARE(bench.running(), QStringList());
    QCOMPARE(bench.sources.size(), 1u);
    PluginView again = bench.view(everything()); // a new watch
    QCOMPARE(bench.sources.size(), 2u);
}

void tst_SharedInformerFactory::listersCount()
{
    Bench bench;
    priv::ListerBackend *backend = nullptr;
    QVERIFY(bench.factory->makeLister(kWidgets, green(), &backend).isOk());
    {
        const Lister lister(*backend);
        bench.run();
        QVERIFY(!lister.hasSynced());
        bench.list(u"with labels colour=green"_s, {widget(u"n/a@1", kGreen)}, u"10"_s);
        QVERIFY(lister.hasSynced());
        QCOMPARE(texts(lister.list()), L({"n/a@1"}));
        PluginView wide = bench.view(everything());
        bench.list(QString(), three(), u"11"_s);
        QCOMPARE(bench.running(), L({""})); // listers move, too
        QCOMPARE(texts(lister.list()), L({"m/c@3", "n/a@1"}));
        wide.backend.reset();
        bench.run();
        QCOMPARE(bench.running(), L({""})); // the lister keeps it
    }
    bench.run();
    QCOMPARE(bench.running(), QStringList());
}

void tst_SharedInformerFactory::shutdown()
{
    Bench bench;
    PluginView view = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    QCOMPARE(view.heard().size(), 3);
    bench.factory->shutdown();
    bench.factory->shutdown();
    bench.run();
    QCOMPARE(view.heard(), QStringList()); // nothing is told about the end
    QVERIFY(!bench.source(QString()).calls.back()->isAlive);
    std::unique_ptr<priv::InformerBackend> late;
    QCOMPARE(
        bench.factory->makeInformer(kWidgets, everything(), bench.faults, &late).error().code(),
        ErrorCode::Canceled);
    QCOMPARE(view.lister().count(), 3);
    bench.factory.reset();
    view.backend.reset(); // after the factory: allowed
    bench.run();
}

void tst_SharedInformerFactory::states()
{
    Bench bench;
    PluginView view = bench.view(in("n"));
    ResourceState state = bench.factory->states().front();
    QCOMPARE(state.scope.toText(), u"demo.example/v1 Widget in n"_s);
    QVERIFY(!state.hasSynced);
    QCOMPARE(state.reflector.phase, ReflectorPhase::Listing);
    QCOMPARE(bench.factory->unsynced(), L({"demo.example/v1 Widget in n"}));
    bench.list(u"in n"_s, widgets({"n/a@1", "n/b@2"}), u"10"_s);
    state = bench.factory->states().front();
    QVERIFY(state.hasSynced);
    QCOMPARE(state.objects, 2);
    QCOMPARE(state.users, 1);
    QCOMPARE(state.reflector.resourceVersion, u"10"_s);
    QCOMPARE(state.reflector.progress.objects, 2);
    QCOMPARE(bench.factory->unsynced(), QStringList());
}

// The whole path on the pool's threads and an Informer on this one.
// NOLINTNEXTLINE(readability-function-size): one run on real threads
void tst_SharedInformerFactory::onRealStrands()
{
    // Sends two objects, then the end marker, then updates, from the strand itself.
    class Busy final : public ListerWatcher
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
            executor.post([&sink] {
                sink.onWatchOpened();
                std::vector<codec::WatchEvent> events;
                for (int i = 0; i < 50; ++i)
                    events.push_back(happened(
                        Type::Added, widget(QStringLiteral("n/o%1@%2").arg(i).arg(i + 1))));
                events.push_back(bookmark(u"50"_s, true));
                sink.onWatchEvents(std::move(events), 100);
            });
            for (int v = 51; v <= 1050; ++v) {
                executor.post([&sink, v] {
                    sink.onWatchEvents({happened(Type::Modified,
                                           widget(QStringLiteral("n/o%1@%2").arg(v % 50).arg(v)))},
                        100);
                });
            }
            return std::make_unique<Operation>();
        }
    };
    QThreadPool pool;
    pool.setMaxThreadCount(2);
    NoTransport nowhere;
    Faults faults;
    FactoryOptions options;
    options.source = [](const WatchScope &) { return std::make_unique<Busy>(); };
    SharedInformerFactory factory(nowhere, pool, support::systemTimeSource(), options);
    factory.start();
    std::map<QString, Object> replay;
    int wrong = 0;
    std::unique_ptr<priv::InformerBackend> backend;
    QVERIFY(factory.makeInformer(kWidgets, everything(), faults, &backend).isOk());
    Informer informer(*backend.release());
    const Lister lister = informer.lister();
    QObject::connect(&informer, &Informer::added, &informer, [&](const Object &object, bool) {
        if (!replay[object.name()].isNull()) // the wait below may have made an empty entry
            ++wrong;
        replay[object.name()] = object;
    });
    QObject::connect(
        &informer, &Informer::updated, &informer, [&](const Object &before, const Object &after) {
            if (!(replay[after.name()] == before))
                ++wrong;
            // The store shows this state or a later one.
            const Object read = lister.find(after.key());
            if (read.resourceVersion().toInt() < after.resourceVersion().toInt())
                ++wrong;
            replay[after.name()] = after;
        });
    QVERIFY(informer.addIndexBy(u"byName"_s, [](const Object &o) { return QStringList{o.name()}; })
                .isOk());
    QTRY_COMPARE(lister.find({u"n"_s, u"o0"_s}).resourceVersion(), u"1050"_s); // the last event
    QTRY_COMPARE(replay[u"o0"_s].resourceVersion(), u"1050"_s);
    QVERIFY(informer.hasSynced());
    QCOMPARE(wrong, 0);
    QCOMPARE(lister.byIndex(u"byName"_s, u"o7"_s).size(), 1);
    QCOMPARE(replay.size(), 50u);
    for (const Object &object : lister.list())
        QVERIFY(replay[object.name()] == object);
    std::unique_ptr<priv::InformerBackend> brief; // comes and goes beside it
    QVERIFY(factory.makeInformer(kWidgets, in("n"), faults, &brief).isOk());
    brief.reset();
    QVERIFY(faults.seen.isEmpty());
    factory.shutdown();
    QCOMPARE(lister.count(), 50);
}

QTEST_GUILESS_MAIN(tst_SharedInformerFactory)
#include "tst_sharedinformerfactory.moc"
