// Views and the factory: who shares which watch, what a view shows of a wider informer, moving to
// one without loss, listers, indexes, the end.
// NOLINT(file-size): one fixture, and its rows
#include "fakes.h"

#include <cache/mailbox.h>
#include <cache/sharedinformerfactory.h>
#include <davit/informer.h>
#include <davit/lister.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qthreadpool.h>
#include <QtTest>
#include <map>

using namespace fakes;
using namespace davit::cache;
using davit::priv::Notification;

namespace {

class Faults final : public priv::FaultSink
{
public:
    QStringList seen;
    void fault(const char *entry, const QString &subject, const QString &what) noexcept override
    {
        const std::lock_guard lock(m_mutex);
        seen += QLatin1StringView(entry) + u' ' + subject + u": "_s + what;
    }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }

private:
    std::mutex m_mutex;
};

class NoTransport final : public transport::Transport
{
public:
    std::unique_ptr<transport::Exchange> start(
        const transport::Request &, support::Executor &, transport::ResponseSink &) override
    {
        return nullptr;
    }
    QString serverName() const override { return u"nowhere"_s; }
};

const transport::Resource kWidgets{kWidget, QStringLiteral("widgets"), true};
const QByteArray kGreen = R"({"colour":"green"})";
const QByteArray kRed = R"({"colour":"red"})";

// A plugin's view, emptied by hand.
struct PluginView
{
    std::unique_ptr<priv::InformerBackend> backend;
    Lister lister() const { return Lister(backend->lister()); }
    QStringList heard()
    {
        QStringList all;
        for (const Notification &n : backend->takeBatch()) {
            switch (n.kind) {
            case Notification::Kind::Added:
                all += u'+' + text(n.object) + (n.isInInitialList ? u"!"_s : QString());
                break;
            case Notification::Kind::Updated:
                all += u'~' + text(n.before) + u'>' + text(n.object);
                break;
            case Notification::Kind::Deleted:
                all += u'-' + text(n.object) + (n.isFinalStateUnknown ? u"?"_s : QString());
                break;
            case Notification::Kind::Synced:
                break;
            }
            backend->handled(n);
        }
        all.sort();
        return all;
    }
};

struct Bench
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    QThreadPool pool;
    NoTransport nowhere;
    Faults faults;
    std::vector<std::pair<QString, ScriptedSource *>> sources; // every one that was made
    std::unique_ptr<SharedInformerFactory> factory;

    explicit Bench(bool isStarted = true)
    {
        FactoryOptions options;
        options.executor = &executor;
        options.initialSync = [](const Gvk &) { return InitialSync::List; };
        options.source = [this](const WatchScope &scope) {
            auto made = std::make_unique<ScriptedSource>();
            sources.emplace_back(scope.toText().remove(toString(kWidget)).trimmed(), made.get());
            return made;
        };
        factory = std::make_unique<SharedInformerFactory>(nowhere, pool, clock, options);
        if (isStarted)
            factory->start();
    }
    ~Bench() { end(); }
    void end()
    {
        if (factory)
            factory->shutdown();
        executor.runAll();
        factory.reset();
        executor.runAll();
    }
    void run() { executor.runAll(); }
    PluginView view(const InformerRequest &request)
    {
        PluginView view;
        const Status status = factory->makeInformer(kWidgets, request, faults, &view.backend);
        if (!status.isOk())
            qFatal("%s", qUtf8Printable(status.error().message()));
        run();
        return view;
    }
    ScriptedSource &source(const QString &scope)
    {
        for (const auto &[name, made] : sources) {
            if (name == scope)
                return *made;
        }
        qFatal("no informer on \"%s\"", qUtf8Printable(scope));
    }
    // The list of an informer that was just asked for.
    void list(const QString &scope, std::vector<Object> items, const QString &version)
    {
        source(scope).answerList(std::move(items), version);
        run();
        source(scope).open();
    }
    void send(const QString &scope, std::vector<codec::WatchEvent> events)
    {
        source(scope).send(std::move(events));
        run();
    }
    QStringList running() const
    {
        QStringList all;
        for (const ResourceState &state : factory->states())
            all += state.scope.toText().remove(toString(kWidget)).trimmed();
        all.sort();
        return all;
    }
};

InformerRequest everything()
{
    return InformerRequest(kWidget);
}
InformerRequest in(const char *space)
{
    return std::move(InformerRequest(kWidget).inNamespaces(L({space})));
}
InformerRequest green()
{
    return std::move(InformerRequest(kWidget).withLabels(u"colour=green"_s));
}

// n/a green, n/b red, m/c green
std::vector<Object> three()
{
    return {widget(u"n/a@1", kGreen, 1), widget(u"n/b@2", kRed, 2), widget(u"m/c@3", kGreen, 3)};
}

using Requests = QList<InformerRequest>;

} // namespace
Q_DECLARE_METATYPE(davit::InformerRequest)

class tst_SharedInformerFactory : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void pairs_data();
    void pairs();
    void covers_data();
    void covers();
    void severalNamespaces();
    void t66_filteringUpdates_data();
    void t66_filteringUpdates();
    void metadataView();
    void widening();
    void wideningBeforeTheNarrowSynced();
    void wideOneThatNeverSyncs();
    void viewThatComesWhileWidening();
    void viewThatEndsWhileWidening();
    void lastOneOut();
    void listersCount();
    void t67_startTwice();
    void wrongSelectors_data();
    void wrongSelectors();
    void indexesOfAView();
    void b28_throwingIndexFunction();
    void indexesMoveAlong();
    void readsOfAView();
    void listerOutlivesItsInformer();
    void shutdown();
    void states();
    void b33_slowAndFast();
    void onRealStrands();
};

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
                const bool matches = (!scope.contains(u"in n") || object.namespaceName() == u"n")
                    && (!scope.contains(u"in m") || object.namespaceName() == u"m")
                    && (!scope.contains(u"green") || object.label("colour"_L1) == u"green")
                    && (!scope.contains(u"red") || object.label("colour"_L1) == u"red")
                    && (!scope.contains(u"spec.size=1") || object.name() == u"a");
                if (matches)
                    items.push_back(
                        scope.contains(u"(metadata)") ? priv::metadataOnly(object) : object);
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
    QFETCH(QStringList, shown);
    for (QString &one : shown)
        one = u'+' + one + u'!';
    QCOMPARE(second.heard(), shown);
    QVERIFY(second.backend->hasSynced());
    QCOMPARE(first.heard(), QStringList()); // nobody disturbed the first
    QCOMPARE(texts(first.lister().list()).size(), firstHeard.size());
    for (const Object &object : second.lister().list())
        QCOMPARE(object.isMetadataOnly(), asked.payload() == Payload::Metadata);
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

void tst_SharedInformerFactory::severalNamespaces()
{
    Bench bench;
    PluginView view = bench.view(InformerRequest(kWidget).inNamespaces(L({"n", "m", "n"})));
    QCOMPARE(bench.running(), L({"in m", "in n"}));
    bench.list(u"in n"_s, widgets({"n/a@1", "n/b@2"}), u"10"_s);
    QCOMPARE(view.heard(), L({"+n/a@1!", "+n/b@2!"}));
    QVERIFY(!view.backend->hasSynced()); // m is missing
    QVERIFY(!view.lister().hasSynced());
    bench.list(u"in m"_s, widgets({"m/c@3"}), u"10"_s);
    QCOMPARE(view.heard(), L({"+m/c@3!"}));
    QVERIFY(view.backend->hasSynced());
    QCOMPARE(texts(view.lister().list()), L({"m/c@3", "n/a@1", "n/b@2"}));
    QCOMPARE(texts(view.lister().inNamespace(u"m"_s)), L({"m/c@3"}));
    QCOMPARE(view.lister().count(), 3);
    QCOMPARE(text(view.lister().find({u"n"_s, u"b"_s})), u"n/b@2"_s);
}

void tst_SharedInformerFactory::t66_filteringUpdates_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QStringList>("heard");
    QTest::newRow("I-22: yes, yes") << kGreen << kGreen << L({"~n/x@11>n/x@12"});
    QTest::newRow("T66: no, yes") << kRed << kGreen << L({"+n/x@12"});
    QTest::newRow("I-22: yes, no") << kGreen << kRed << L({"-n/x@11"});
    QTest::newRow("I-22: no, no") << kRed << kRed << QStringList();
}

void tst_SharedInformerFactory::t66_filteringUpdates()
{
    QFETCH(const QByteArray, before);
    QFETCH(const QByteArray, after);
    Bench bench;
    PluginView wide = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    PluginView narrow = bench.view(green());
    bench.send({}, {happened(Type::Added, widget(u"n/x@11", before))});
    narrow.heard();
    bench.send({}, {happened(Type::Modified, widget(u"n/x@12", after))});
    QTEST(narrow.heard(), "heard");
    // Whether its deletion is told depends on what this view showed last.
    bench.send({}, {happened(Type::Deleted, widget(u"n/x@13", kGreen))});
    QCOMPARE(narrow.heard(), after == kGreen ? L({"-n/x@13"}) : QStringList());
}

void tst_SharedInformerFactory::metadataView()
{
    Bench bench;
    PluginView full = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    PluginView masked = bench.view(InformerRequest(kWidget).payload(Payload::Metadata));
    bench.send({}, {happened(Type::Modified, widget(u"n/a@11", kGreen, 99))});
    int count = 0;
    for (const Notification &n : masked.backend->takeBatch()) {
        if (n.kind == Notification::Kind::Synced)
            continue;
        QVERIFY(n.object["spec"_L1].isMissing());
        QVERIFY(n.before.isNull() || n.before["spec"_L1].isMissing());
        ++count;
    }
    QCOMPARE(count, 4);
    QVERIFY(masked.lister().find({u"n"_s, u"a"_s})["spec"_L1].isMissing());
    QVERIFY(!full.lister().find({u"n"_s, u"a"_s})["spec"_L1].isMissing());
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

void tst_SharedInformerFactory::t67_startTwice()
{
    Bench bench(false);
    PluginView early = bench.view(everything());
    QVERIFY(bench.source(QString()).calls.empty()); // F-2: not before start
    bench.factory->start();
    bench.factory->start();
    bench.run();
    QCOMPARE(bench.source(QString()).calls.size(), 1u);
    PluginView late = bench.view(in("n")); // asked for later: runs at once
    QCOMPARE(bench.source(u"in n"_s).calls.size(), 1u);
}

void tst_SharedInformerFactory::wrongSelectors_data()
{
    QTest::addColumn<QString>("labels");
    QTest::addColumn<QString>("fields");
    QTest::newRow("labels") << "a in (b"
                            << "";
    QTest::newRow("fields") << ""
                            << "metadata.name~x";
}

void tst_SharedInformerFactory::wrongSelectors()
{
    QFETCH(const QString, labels);
    QFETCH(const QString, fields);
    Bench bench;
    std::unique_ptr<priv::InformerBackend> backend;
    const Status status = bench.factory->makeInformer(kWidgets,
        InformerRequest(kWidget).withLabels(labels).withFields(fields), bench.faults, &backend);
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    QVERIFY(status.error().message().startsWith(u"watch demo.example/v1 Widget: "));
    QVERIFY(!backend && bench.sources.empty());
}

namespace {

class BySize final : public IndexFunction
{
public:
    QStringList values(const Object &object) const override
    {
        const int size = int(object["spec"_L1]["size"_L1].toInt());
        if (size == 2)
            throw std::runtime_error("two");
        return {QString::number(size)};
    }
};

} // namespace

void tst_SharedInformerFactory::indexesOfAView()
{
    Bench bench;
    PluginView first = bench.view(everything());
    PluginView second = bench.view(green());
    bench.list(QString(), three(), u"10"_s);
    const auto byName = [](const char *prefix) {
        class ByName final : public IndexFunction
        {
        public:
            explicit ByName(const char *prefix) : m_prefix(QLatin1StringView(prefix)) { }
            QStringList values(const Object &object) const override
            {
                return {m_prefix + object.name()};
            }

        private:
            const QString m_prefix;
        };
        return std::make_shared<ByName>(prefix);
    };
    QVERIFY(first.backend->addIndex(u"byName"_s, byName("one-")).isOk());
    QCOMPARE(first.backend->addIndex(u"byName"_s, byName("x-")).error().code(),
        ErrorCode::AlreadyExists);
    QCOMPARE(first.backend->addIndex(u"namespace"_s, byName("x-")).error().code(),
        ErrorCode::AlreadyExists);
    QVERIFY(second.backend->addIndex(u"byName"_s, byName("two-")).isOk()); // its own name space
    bench.run();
    QCOMPARE(first.lister().indexValues(u"byName"_s), L({"one-a", "one-b", "one-c"}));
    QCOMPARE(second.lister().indexValues(u"byName"_s), L({"two-a", "two-c"})); // what it shows
    QCOMPARE(texts(second.lister().byIndex(u"byName"_s, u"two-c"_s)), L({"m/c@3"}));
    QCOMPARE(texts(first.lister().byIndex(u"byName"_s, u"two-c"_s)), QStringList());
    QList<Object> none;
    QVERIFY(!first.backend->lister().byIndex(u"unknown"_s, u"x"_s, &none));
    QCOMPARE(second.lister().indexValues(u"namespace"_s), L({"m", "n"}));
}

void tst_SharedInformerFactory::b28_throwingIndexFunction()
{
    Bench bench;
    PluginView view = bench.view(everything());
    QVERIFY(view.backend->addIndex(u"bySize"_s, std::make_shared<BySize>()).isOk());
    bench.list(QString(), three(), u"10"_s);
    QCOMPARE(view.lister().indexValues(u"bySize"_s), L({"1", "3"}));
    QCOMPARE(view.lister().count(), 3);
    QCOMPARE(bench.faults.seen, L({"index function bySize: two"}));
    bench.send({},
        {happened(Type::Modified, widget(u"n/b@11", kRed, 4)),
            happened(Type::Modified, widget(u"n/a@12", kGreen, 2)),
            happened(Type::Deleted, widget(u"m/c@13", kGreen, 3))});
    QCOMPARE(view.lister().indexValues(u"bySize"_s), L({"4"}));
    QCOMPARE(texts(view.lister().byIndex(u"bySize"_s, u"4"_s)), L({"n/b@11"}));
    QCOMPARE(texts(view.lister().inNamespace(u"n"_s)), L({"n/a@12", "n/b@11"}));
    view.backend.reset(); // no call comes after this
    const qsizetype faults = bench.faults.seen.size();
    bench.run();
    QCOMPARE(bench.faults.seen.size(), faults);
}

void tst_SharedInformerFactory::indexesMoveAlong()
{
    Bench bench;
    PluginView narrow = bench.view(in("n"));
    QVERIFY(narrow.backend->addIndex(u"bySize"_s, std::make_shared<BySize>()).isOk());
    bench.list(u"in n"_s, {widget(u"n/a@1", {}, 1)}, u"10"_s);
    QCOMPARE(narrow.lister().indexValues(u"bySize"_s), L({"1"}));
    PluginView wide = bench.view(everything());
    bench.list(QString(), {widget(u"n/a@1", {}, 1), widget(u"m/c@3", {}, 3)}, u"20"_s);
    QCOMPARE(bench.running(), L({""}));
    QCOMPARE(narrow.lister().indexValues(u"bySize"_s), L({"1"})); // not m's
    bench.send({}, {happened(Type::Modified, widget(u"n/a@21", {}, 7))});
    QCOMPARE(narrow.lister().indexValues(u"bySize"_s), L({"7"}));
}

void tst_SharedInformerFactory::readsOfAView()
{
    Bench bench;
    PluginView wide = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    PluginView narrow = bench.view(in("n").withLabels(u"colour=green"_s));
    const Lister lister = narrow.lister();
    QVERIFY(lister.gvk() == kWidget);
    QCOMPARE(lister.count(), 1);
    QVERIFY(lister.find({u"n"_s, u"b"_s}).isNull()); // red
    QVERIFY(lister.find({u"m"_s, u"c"_s}).isNull()); // elsewhere
    QCOMPARE(text(lister.find({u"n"_s, u"a"_s})), u"n/a@1"_s);
    QCOMPARE(texts(lister.inNamespace(u"n"_s)), L({"n/a@1"}));
    QCOMPARE(texts(lister.inNamespace(u"m"_s)), QStringList());
    QCOMPARE(texts(lister.byIndex(u"namespace"_s, u"n"_s)), L({"n/a@1"}));
    QCOMPARE(lister.indexValues(u"namespace"_s), L({"n"}));
    LabelSelector red;
    QVERIFY(LabelSelector::parse(u"colour=red", &red).isOk());
    QCOMPARE(texts(wide.lister().list(red)), L({"n/b@2"}));
    QCOMPARE(texts(wide.lister().inNamespace(u"n"_s, red)), L({"n/b@2"}));
    QCOMPARE(texts(wide.lister().inNamespace(QString())), L({"m/c@3", "n/a@1", "n/b@2"})); // S-9
    QCOMPARE(texts(lister.list(red)), QStringList());
}

void tst_SharedInformerFactory::listerOutlivesItsInformer()
{
    Bench bench;
    PluginView view = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    const Lister lister = view.lister();
    view.backend.reset();
    bench.run();
    QCOMPARE(bench.running(), QStringList()); // it is no user
    QCOMPARE(lister.count(), 3); // as it was
    bench.end();
    QCOMPARE(lister.count(), 3);
}

void tst_SharedInformerFactory::shutdown()
{
    Bench bench;
    PluginView view = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    bench.factory->shutdown();
    bench.factory->shutdown();
    bench.run();
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

void tst_SharedInformerFactory::b33_slowAndFast()
{
    Bench bench;
    PluginView fast = bench.view(everything());
    PluginView slow = bench.view(everything().delivery(Delivery::Latest));
    PluginView patient = bench.view(everything().delivery(Delivery::EveryEvent));
    bench.list(QString(), widgets({"n/a@1", "n/b@2"}), u"10"_s);
    slow.heard();
    fast.heard();
    patient.heard();
    int version = 10;
    for (int i = 0; i < 1000; ++i) {
        const QString name = i % 2 ? u"n/a"_s : u"n/b"_s;
        bench.send(
            {}, {happened(Type::Modified, widget(name + u'@' + QString::number(++version)))});
        QCOMPARE(fast.heard().size(), 1); // at once
    }
    QCOMPARE(slow.heard(), L({"~n/a@1>n/a@1010", "~n/b@2>n/b@1009"}));
    QCOMPARE(patient.heard().size(), 1000); // T62: none lost
}

// The whole path on the pool's threads and an Informer on this one.
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
