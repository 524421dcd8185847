// What a plugin's view shows of a running informer: filters, metadata only, indexes, listers,
// delivery. Rules S-8 to S-11, I-15, I-16.
#include "factorybench.h"

#include <codec/watchdecoder.h>

#include <QtCore/qcoreapplication.h>
#include <QtCore/qfile.h>

using namespace fakes;
using namespace davit::cache;
using davit::priv::Notification;
using Bench = FactoryBench;

namespace {

QByteArray caseFile(const char *name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1StringView(name));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is missing", name);
    return file.readAll();
}

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

class tst_View : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void t66_filteringUpdates_data();
    void t66_filteringUpdates();
    void metadataView();
    void wrongSelectors_data();
    void wrongSelectors();
    void indexesOfAView();
    void s10_get();
    void s8_nothingIsSelected();
    void b28_throwingIndexFunction();
    void b28_case();
    void i20_slowHandler();
    void t60_lateView_data();
    void t60_lateView();
    void indexesMoveAlong();
    void readsOfAView();
    void listerOutlivesItsInformer();
    void b33_slowAndFast();
    void severalNamespaces();
    void t61_registrations_data();
    void t61_registrations();
    void variants_data();
    void variants();
    void secretsAsMetadata();
};

void tst_View::t66_filteringUpdates_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QStringList>("heard");
    QTest::newRow("I-22: yes, yes") << kGreen << kGreen << L({"~n/x@11>n/x@12"});
    QTest::newRow("T66: no, yes") << kRed << kGreen << L({"+n/x@12"});
    QTest::newRow("I-22: yes, no") << kGreen << kRed << L({"-n/x@11"});
    QTest::newRow("I-22: no, no") << kRed << kRed << QStringList();
}

void tst_View::t66_filteringUpdates()
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

void tst_View::metadataView()
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

void tst_View::wrongSelectors_data()
{
    QTest::addColumn<QString>("labels");
    QTest::addColumn<QString>("fields");
    QTest::newRow("labels") << "a in (b"
                            << "";
    QTest::newRow("fields") << ""
                            << "metadata.name~x";
}

void tst_View::wrongSelectors()
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

void tst_View::indexesOfAView()
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
    QList<Object> found;
    QVERIFY(second.lister().byIndex(u"byName"_s, u"two-c"_s, &found).isOk());
    QCOMPARE(texts(found), L({"m/c@3"}));
    QVERIFY(
        second.lister().byIndex(u"byName"_s, u"two-b"_s, &found).isOk()); // no objects: no error
    QVERIFY(found.isEmpty());
    const Status unknown = second.lister().byIndex(u"byColour"_s, u"red"_s, &found);
    QCOMPARE(unknown.error().code(), ErrorCode::InvalidArgument);
    QCOMPARE(unknown.error().message(),
        u"index \"byColour\" of demo.example/v1 Widget was never added"_s);
}

// S-10: NotFound names the kind and the key.
void tst_View::s10_get()
{
    Bench bench;
    PluginView view = bench.view(green());
    bench.list(u"with labels colour=green"_s, {three()[0], three()[2]}, u"10"_s);
    const Lister lister = view.lister();
    const Result<Object> there = lister.get({u"n"_s, u"a"_s});
    QVERIFY(there.isOk());
    QCOMPARE(text(there.value()), u"n/a@1"_s);
    const Result<Object> absent = lister.get({u"n"_s, u"b"_s});
    QCOMPARE(absent.error().code(), ErrorCode::NotFound);
    QCOMPARE(absent.error().message(), u"demo.example/v1 Widget n/b is not in the cache"_s);
    QCOMPARE(lister.get({{}, u"c"_s}).error().message(),
        u"demo.example/v1 Widget c is not in the cache"_s);
}

void tst_View::s8_nothingIsSelected()
{
    Bench bench;
    PluginView view = bench.view(everything());
    bench.list(QString(), three(), u"10"_s);
    LabelSelector nothing;
    QVERIFY(LabelSelector::fromValue(Value(), &nothing).isOk());
    QVERIFY(view.lister().list(nothing).isEmpty());
    QVERIFY(view.lister().inNamespace(u"n"_s, nothing).isEmpty());
    QCOMPARE(view.lister().list(LabelSelector()).size(), 3); // the empty one selects all
}

void tst_View::b28_throwingIndexFunction()
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

// The case's own events, and a function that throws where the label is missing.
void tst_View::b28_case()
{
    class ByTeam final : public IndexFunction
    {
    public:
        QStringList values(const Object &object) const override
        {
            if (!object["metadata"_L1]["labels"_L1]["team"_L1].isString())
                throw std::runtime_error("no team");
            return {object.label("team"_L1)};
        }
    };
    const QJsonArray after
        = QJsonDocument::fromJson(caseFile("B28-want.json")).object()[u"after"_s].toArray();
    Bench bench;
    PluginView view = bench.view(everything());
    QVERIFY(view.backend->addIndex(u"by-team"_s, std::make_shared<ByTeam>()).isOk());
    bench.list(QString(), {}, u"100"_s);
    codec::WatchDecoder decoder({});
    const QList<QByteArray> lines = caseFile("B28-events.ndjson").trimmed().split('\n');
    QCOMPARE(lines.size(), after.size());
    qsizetype without = 0;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const QJsonObject event = QJsonDocument::fromJson(lines[i]).object();
        const QJsonObject metadata = event[u"object"_s][u"metadata"_s].toObject();
        without += event[u"type"_s] != u"DELETED"_s && !metadata.contains(u"labels"_s) ? 1 : 0;
        bench.send({}, decoder.feed(lines[i] + '\n'));
        const QJsonObject want = after[i].toObject();
        const auto keys = [&](const QString &index, const QString &value) {
            QStringList all;
            for (const Object &object : view.lister().byIndex(index, value))
                all += toString(object.key());
            all.sort();
            return all;
        };
        if (want.contains(u"team x"_s))
            QCOMPARE(keys(u"by-team"_s, u"x"_s), want[u"team x"_s].toVariant().toStringList());
        if (want.contains(u"namespace apps"_s))
            QCOMPARE(keys(u"namespace"_s, u"apps"_s),
                want[u"namespace apps"_s].toVariant().toStringList());
        QCOMPARE(bench.faults.seen.size(), without); // each told, with the index's name
    }
    QVERIFY(without > 0);
    QCOMPARE(bench.faults.seen.front(), u"index function by-team: no team"_s);
}

// I-20: more than 1024 wait, those in hand included, and one took more than 100 ms.
void tst_View::i20_slowHandler()
{
    fake::Lines lines;
    FactoryOptions options;
    options.log = Logger(lines, u"cache"_s);
    Bench bench(true, options);
    PluginView view = bench.view(everything());
    std::vector<Object> items;
    for (int i = 0; i < 1030; ++i)
        items.push_back(widget(QStringLiteral("n/w%1@%2").arg(i).arg(i + 1)));
    bench.list({}, std::move(items), u"2000"_s);
    const std::vector<Notification> batch = view.backend->takeBatch();
    QCOMPARE(batch.size(), 1030u);
    const auto handle = [&](std::size_t which, std::chrono::nanoseconds span) {
        bench.clock.advance(span, &bench.executor);
        view.backend->handled(batch[which]);
    };
    handle(0, 100ms); // not more than that
    QCOMPARE(lines.seen, QStringList());
    handle(1, 101ms);
    handle(2, 200ms); // told once a minute
    const QString line = u"3|cache|a handler is slow, and many notifications wait for it|plugin="
                         "|resource=demo.example/v1 Widget|object=%1|seconds=0.101|waiting=1028"_s;
    QCOMPARE(lines.seen, QStringList(line.arg(toString(batch[1].object.key()))));
    bench.clock.advance(1min, &bench.executor);
    view.backend->handled(batch[3]);
    QCOMPARE(lines.seen.size(), 2);
    for (std::size_t i = 4; i < 8; ++i) // 1024 are not too many
        handle(i, 0s);
    bench.clock.advance(1min, &bench.executor);
    view.backend->handled(batch[8]);
    QCOMPARE(lines.seen.size(), 2);
}

void tst_View::t60_lateView_data()
{
    QTest::addColumn<Delivery>("delivery");
    QTest::addColumn<int>("stored"); // when it comes
    QTest::newRow("T60: every event") << Delivery::EveryEvent << 2;
    QTest::newRow("T60: latest") << Delivery::Latest << 2;
    QTest::newRow("I-23: nothing is there") << Delivery::EveryEvent << 0;
}

// A handle has synced once the last call for what was there when it came has returned.
void tst_View::t60_lateView()
{
    QFETCH(const Delivery, delivery);
    QFETCH(const int, stored);
    Bench bench;
    PluginView first = bench.view(everything());
    const std::vector<Object> all = three();
    bench.list(QString(), {all.begin(), all.begin() + stored}, u"10"_s);
    QCOMPARE(bench.factory->unsynced(), QStringList()); // the informer has
    PluginView late = bench.view(everything().delivery(delivery));
    if (stored > 0) {
        const std::vector<Notification> batch = late.backend->takeBatch();
        QStringList told;
        for (const Notification &n : batch)
            told += PluginView::line(n);
        told.sort();
        QCOMPARE(told, L({"+n/a@1!", "+n/b@2!"}));
        for (const Notification &n : batch) {
            QVERIFY(!late.backend->hasSynced());
            late.backend->handled(n);
        }
    }
    QVERIFY(late.backend->hasSynced());
    const std::vector<Notification> last = late.backend->takeBatch();
    QCOMPARE(last.size(), 1u);
    QCOMPARE(last.front().kind, Notification::Kind::Synced);
}

void tst_View::indexesMoveAlong()
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

void tst_View::readsOfAView()
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

void tst_View::listerOutlivesItsInformer()
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

void tst_View::b33_slowAndFast()
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

void tst_View::severalNamespaces()
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

void tst_View::t61_registrations_data()
{
    QTest::addColumn<int>("informers");
    QTest::newRow("T61: one handler, asked for twice") << 2;
    QTest::newRow("I-12: three times") << 3;
}

// A handler that shall hear twice asks twice: each informer delivers, each ends on its own.
void tst_View::t61_registrations()
{
    QFETCH(const int, informers);
    Bench bench;
    QStringList heard;
    QObject handler;
    std::vector<std::unique_ptr<Informer>> asked;
    for (int i = 0; i < informers; ++i) {
        asked.push_back(std::make_unique<Informer>(*bench.view(everything()).backend.release()));
        QObject::connect(asked.back().get(), &Informer::added, &handler,
            [&](const Object &object) { heard += text(object); });
    }
    bench.list({}, {}, u"10"_s);
    bench.send({}, {happened(Type::Added, widget(u"n/a@11"))});
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard.count(u"n/a@11"_s), informers);
    asked.pop_back();
    bench.run();
    bench.send({}, {happened(Type::Added, widget(u"n/b@12"))});
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard.count(u"n/b@12"_s), informers - 1);
    QCOMPARE(bench.running(), L({""})); // one watch for all of them
}

void tst_View::variants_data()
{
    QTest::addColumn<Payload>("payload");
    QTest::addColumn<QString>("scope");
    QTest::addColumn<bool>("hasSpec");
    QTest::newRow("F-5: dynamic: any kind by its name, whole objects")
        << Payload::Full << "" << true;
    QTest::newRow("F-5: metadata only") << Payload::Metadata << "(metadata)" << false;
}

// Kinds are asked for by name; no type is compiled in anywhere.
void tst_View::variants()
{
    QFETCH(const Payload, payload);
    QFETCH(const QString, scope);
    QFETCH(const bool, hasSpec);
    Bench bench;
    PluginView view = bench.view(everything().payload(payload));
    QCOMPARE(bench.running(), QStringList{scope});
    std::vector<Object> items = three();
    if (!hasSpec) {
        for (Object &item : items)
            item = priv::metadataOnly(item); // as the source decodes for such a scope
    }
    bench.list(scope, std::move(items), u"10"_s);
    QCOMPARE(view.heard(), L({"+m/c@3!", "+n/a@1!", "+n/b@2!"}));
    const Object a = view.lister().find({u"n"_s, u"a"_s});
    QCOMPARE(toString(a.gvk()), toString(kWidget));
    QCOMPARE(a.label("colour"_L1), u"green"_s);
    QCOMPARE(!a["spec"_L1].isMissing(), hasSpec);
    LabelSelector red;
    QVERIFY(LabelSelector::parse(u"colour=red", &red).isOk());
    QCOMPARE(texts(view.lister().list(red)), L({"n/b@2"}));
}

// A masked view never shows a payload, also where another plugin has the whole object cached, and
// through every door.
void tst_View::secretsAsMetadata()
{
    Bench bench;
    PluginView full = bench.view(everything());
    bench.list({}, three(), u"10"_s);
    PluginView masked = bench.view(everything().payload(Payload::Metadata));
    QStringList seenByIndex;
    class Spy final : public IndexFunction
    {
    public:
        explicit Spy(QStringList &seen) : m_seen(seen) { }
        QStringList values(const Object &object) const override
        {
            m_seen += object["spec"_L1].isMissing() ? u"masked"_s : u"payload"_s;
            return {u"x"_s};
        }

    private:
        QStringList &m_seen;
    };
    QVERIFY(masked.backend->addIndex(u"spy"_s, std::make_shared<Spy>(seenByIndex)).isOk());
    bench.run();
    QCOMPARE(seenByIndex, L({"masked", "masked", "masked"}));
    QList<Object> all = masked.lister().list() + masked.lister().inNamespace(u"n"_s)
        + masked.lister().byIndex(u"spy"_s, u"x"_s);
    all += masked.lister().find({u"n"_s, u"a"_s});
    QCOMPARE(all.size(), 9);
    for (const Object &object : std::as_const(all))
        QVERIFY(object["spec"_L1].isMissing() && object.toJson().indexOf("size") < 0);
}

QTEST_GUILESS_MAIN(tst_View)
#include "tst_view.moc"
