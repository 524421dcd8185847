// The store: cases T50 to T55, B26, B28, B30, the trie against a plain
// map, and readers beside a writer.
#include "fakes.h"

#include <cache/resourceversion.h>
#include <davit/objectbuilder.h>

#include <QtCore/qfile.h>
#include <QtTest>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <tuple>

using namespace fakes;
using namespace davit::cache;

namespace {

using Story = std::function<void()>;

// The values of a comma-separated label.
IndexValues byLabel(const char *label)
{
    return [label](const Object &object) -> std::optional<QStringList> {
        return object.label(QLatin1StringView(label)).split(u'+', Qt::SkipEmptyParts);
    };
}

QStringList keysOf(const StoreSnapshot &snapshot, const char *index, const QString &value)
{
    QStringList keys;
    for (const Object &object : snapshot.byIndex(QLatin1StringView(index), value))
        keys += toString(object.key());
    keys.sort();
    return keys;
}

QByteArray caseFile(const char *name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1StringView(name));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is missing", name);
    return file.readAll();
}

void t50_versionOfTheStore()
{
    ThreadSafeStore store;
    store.put(widget(u"a@10"));
    store.put(widget(u"a@7"));
    QCOMPARE(store.working().resourceVersion, QStringLiteral("7")); // last write wins
    store.put(widget(u"b"));
    QCOMPARE(store.working().resourceVersion, QString());
    store.replace({}, QStringLiteral("12"));
    QCOMPARE(store.working().resourceVersion, QStringLiteral("12"));
    store.setResourceVersion({});
    QCOMPARE(store.working().resourceVersion, QString());
}

// A deletion that was seen moves the version, one that was inferred does not: in the informer,
// which knows the difference. T51.
void s1_replaceAndBookmark()
{
    ThreadSafeStore store;
    store.put(widget(u"a@9"));
    store.replace({}, {});
    QCOMPARE(store.working().resourceVersion, QString()); // given values are taken, even empty ones
    store.put(widget(u"a@9"));
    store.setResourceVersion(u"11"_s); // a bookmark
    QCOMPARE(store.working().resourceVersion, u"11"_s);
    QCOMPARE(text(store.find({{}, u"a"_s})), u"a@9"_s);
}

void t51_deletionLeavesTheVersion()
{
    ThreadSafeStore store;
    store.put(widget(u"a@9"));
    store.remove({{}, u"a"_s}); // a tombstone says nothing of versions
    QCOMPARE(store.working().resourceVersion, u"9"_s);
    store.setResourceVersion(u"12"_s); // as the informer does for a deletion that was seen
    QCOMPARE(store.working().resourceVersion, u"12"_s);
}

void t52_emptyBucketsVanish()
{
    ThreadSafeStore store;
    QVERIFY(store.addIndexers({{QStringLiteral("byUser"), byLabel("users")}}).isOk());
    store.put(widget(u"one@1", R"({"users":"ernie+bert"})"));
    store.put(widget(u"one@2", R"({"users":"bert"})"));
    store.publish();
    QCOMPARE(store.snapshot()->indexValues(QStringLiteral("byUser")), L({"bert"}));
    QVERIFY(!store.snapshot()->forEachOf(
        QStringLiteral("byUser"), QStringLiteral("ernie"), [](const Object &) {}));
}

void t53_lateIndexer()
{
    ThreadSafeStore store;
    store.put(widget(u"one@1", R"({"users":"ernie"})"));
    store.put(widget(u"two@2", R"({"users":"bert"})"));
    store.put(widget(u"tre@3", R"({"users":"ernie+oscar"})"));
    QVERIFY(store.addIndexers({{QStringLiteral("byUser"), byLabel("users")}}).isOk());
    store.publish();
    QCOMPARE(keysOf(*store.snapshot(), "byUser", QStringLiteral("ernie")), L({"one", "tre"}));
    store.removeIndexer(QStringLiteral("byUser"));
    store.publish();
    QVERIFY(!store.snapshot()->hasIndex(QStringLiteral("byUser")));
    QVERIFY(store.addIndexers({{QStringLiteral("byUser"), byLabel("users")}}).isOk());
}

void t54_indexerConflict()
{
    ThreadSafeStore store;
    QVERIFY(store.addIndexers({{QStringLiteral("x"), byLabel("x")}}).isOk());
    const Status status = store.addIndexers(
        {{QStringLiteral("y"), byLabel("y")}, {QStringLiteral("x"), byLabel("x")}});
    QCOMPARE(status.error().code(), ErrorCode::AlreadyExists);
    QVERIFY(!store.working().hasIndex(QStringLiteral("y"))); // none of them
    QVERIFY(!store.addIndexers({{QString(kNamespaceIndex), byLabel("x")}}).isOk());
}

void upserts()
{
    ThreadSafeStore store;
    QVERIFY(store.put(widget(u"apps/a@1")).isNull());
    QCOMPARE(text(store.put(widget(u"apps/a@2"))), QStringLiteral("apps/a@1"));
    QVERIFY(store.snapshot()->list().isEmpty()); // nothing shows before publish()
    store.publish();
    QCOMPARE(stored(store), L({"apps/a@2"}));
    const ObjectKey key{QStringLiteral("apps"), QStringLiteral("a")};
    QCOMPARE(text(store.snapshot()->objects.find(key)), QStringLiteral("apps/a@2"));
    QVERIFY(store.snapshot()->objects.find({{}, QStringLiteral("a")}).isNull());
    QCOMPARE(text(store.remove(key)), QStringLiteral("apps/a@2"));
    QVERIFY(store.remove(key).isNull()); // an absent key is no error
    store.publish();
    QCOMPARE(stored(store), QStringList());
}

void replace()
{
    ThreadSafeStore store;
    store.replace(widgets({"n/a@1", "n/b@2", "m/c@3"}), QStringLiteral("3"));
    store.replace(widgets({"n/b@5", "m/d@4", "n/b@6"}), QStringLiteral("9"));
    store.publish();
    QCOMPARE(stored(store), L({"m/d@4", "n/b@6"})); // of twins the last
    QCOMPARE(store.snapshot()->indexValues(QStringLiteral("namespace")), L({"m", "n"}));
    QCOMPARE(keysOf(*store.snapshot(), "namespace", QStringLiteral("n")), L({"n/b"}));
}

void b26_churn()
{
    ThreadSafeStore store;
    QVERIFY(store
                .addIndexers({{QStringLiteral("owner"),
                    [](const Object &o) {
                        return std::optional(QStringList{o.label(QLatin1StringView("owner"))});
                    }}})
                .isOk());
    const auto round = [&](int n) {
        const Object w = widget(QStringLiteral("ns-%1/w@%2").arg(n).arg(1000 + 2 * n),
            QStringLiteral(R"({"owner":"o-%1"})").arg(n).toUtf8());
        store.put(w);
        store.publish();
        store.remove(w.key());
        store.publish();
        return store.snapshot()->indexValues(QStringLiteral("owner")).isEmpty()
            && store.snapshot()->indexValues(QString(kNamespaceIndex)).isEmpty();
    };
    for (int n = 0; n < 1000; ++n)
        QVERIFY(round(n));
    const quint64 blocks = priv::poolStats().liveBlocks;
    for (int n = 1000; n < 5000; ++n)
        QVERIFY(round(n));
    QCOMPARE(priv::poolStats().liveBlocks, blocks); // its strings went, too
}

void b28_failingIndexFunction()
{
    ThreadSafeStore store;
    QVERIFY(store
                .addIndexers({{u"team"_s,
                    [](const Object &o) -> std::optional<QStringList> {
                        if (!o.root()["metadata"_L1]["labels"_L1]["team"_L1].isString())
                            return std::nullopt; // it threw
                        return QStringList{o.label("team"_L1)};
                    }}})
                .isOk());
    const QJsonArray after
        = QJsonDocument::fromJson(caseFile("B28-want.json")).object()[u"after"_s].toArray();
    const QList<QByteArray> lines = caseFile("B28-events.ndjson").trimmed().split('\n');
    QCOMPARE(lines.size(), after.size());
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const QJsonObject event = QJsonDocument::fromJson(lines[i]).object();
        const Object object = fromJson(QJsonDocument(event[u"object"_s].toObject()).toJson());
        const QJsonObject want = after[i].toObject();
        QCOMPARE(object.resourceVersion(), want[u"rv"_s].toString());
        if (event[u"type"_s].toString() == u"DELETED")
            store.remove(object.key());
        else
            store.put(object);
        store.publish();
        for (const auto &[member, index, value] : {std::tuple("team x", "team", "x"),
                 std::tuple("namespace apps", "namespace", "apps")}) {
            if (want.contains(QLatin1StringView(member)))
                QCOMPARE(keysOf(*store.snapshot(), index, QLatin1StringView(value)),
                    want[QLatin1StringView(member)].toVariant().toStringList());
        }
    }
    QVERIFY(store.snapshot()->indexValues(u"team"_s).isEmpty());
}

// Its answers of yesterday must leave no ghost behind.
void b28_indexFunctionChangesItsMind()
{
    ThreadSafeStore store;
    std::optional<QStringList> answer = L({"x", "y"});
    QVERIFY(store.addIndexers({{QStringLiteral("fickle"), [&](const Object &) { return answer; }}})
                .isOk());
    store.put(widget(u"a@1"));
    answer = std::nullopt;
    store.put(widget(u"a@2"));
    store.publish();
    QVERIFY(store.snapshot()->indexValues(QStringLiteral("fickle")).isEmpty());
    answer = L({"z"});
    store.put(widget(u"a@3"));
    answer = L({"other"});
    store.remove({{}, QStringLiteral("a")});
    store.publish();
    QVERIFY(store.snapshot()->indexValues(QStringLiteral("fickle")).isEmpty());
}

// B30-plan.json: P1 changes what it was given, P2 gets and lists 10000 times meanwhile, then a new
// version comes that differs in nothing else.
void b30_sharedObjectsDoNotChange()
{
    const QJsonArray plan
        = QJsonDocument::fromJson(caseFile("B30-plan.json")).object()[u"do"_s].toArray();
    QVERIFY(plan[1].toString().contains(u"10000 times"));
    ThreadSafeStore store;
    store.put(fromJson(caseFile("B30-deployment.json")));
    store.publish();
    const ObjectKey key{u"apps"_s, u"web"_s};
    const auto isAsItCame = [](const Object &seen) {
        const Value container = seen["spec"_L1]["template"_L1]["spec"_L1]["containers"_L1].at(0);
        return container["env"_L1].at(0)["value"_L1].equals("1"_L1)
            && seen.label("hacked"_L1).isEmpty();
    };
    std::atomic<bool> isOver = false;
    std::atomic<int> wrong = 0;
    std::thread p2([&] {
        for (int i = 0; i < 10000; ++i) {
            wrong += !isAsItCame(store.snapshot()->objects.find(key));
            for (const Object &object : store.snapshot()->list())
                wrong += !isAsItCame(object);
        }
        isOver = true;
    });
    int changes = 0;
    do { // P1 has no way to change but a copy of its own
        ObjectBuilder builder(store.snapshot()->objects.find(key));
        builder.setLabel(u"hacked"_s, u"yes"_s)
            .set(L({"spec", "template", "spec", "containers", "0", "env", "0", "value"}), u"2"_s);
        QVERIFY(!isAsItCame(builder.build()));
        ++changes;
    } while (!isOver);
    p2.join();
    QVERIFY(changes > 0);
    QCOMPARE(wrong.load(), 0);
    QByteArray json = caseFile("B30-deployment.json");
    json.replace("\"77\"", "\"78\"");
    const Object before = store.put(fromJson(json));
    store.publish();
    const Object after = store.find(key);
    QVERIFY(!haveSameVersion(before, after));
    const auto withoutVersion = [](const Object &object) {
        return ObjectBuilder(object).remove(L({"metadata", "resourceVersion"})).toJson();
    };
    QCOMPARE(withoutVersion(before), withoutVersion(after));
    QVERIFY(before["spec"_L1] == after["spec"_L1]);
}

void snapshotsStay()
{
    ThreadSafeStore store;
    store.replace(widgets({"n/a@1", "n/b@2"}), QStringLiteral("2"));
    store.publish();
    const auto old = store.snapshot();
    store.put(widget(u"n/a@3"));
    store.remove({QStringLiteral("n"), QStringLiteral("b")});
    store.put(widget(u"m/c@4"));
    store.publish();
    QCOMPARE(texts(old->list()), L({"n/a@1", "n/b@2"}));
    QCOMPARE(
        texts(old->byIndex(QString(kNamespaceIndex), QStringLiteral("n"))), L({"n/a@1", "n/b@2"}));
    QCOMPARE(stored(store), L({"m/c@4", "n/a@3"}));
    QCOMPARE(store.heldSnapshots(), 2);
}

void sweepsOnTheStrand()
{
    testing::ManualExecutor strand;
    ThreadSafeStore store(&strand);
    store.put(widget(u"only/here@1"));
    store.publish();
    auto held = store.snapshot();
    store.remove({QStringLiteral("only"), QStringLiteral("here")});
    store.publish();
    const quint64 withIt = priv::poolStats().liveBlocks;
    std::thread([&] { held.reset(); }).join(); // the last holder is some reader
    QCOMPARE(priv::poolStats().liveBlocks, withIt); // readers never free trees
    QVERIFY(strand.runAll() > 0);
    QVERIFY(priv::poolStats().liveBlocks < withIt);
    QCOMPARE(store.heldSnapshots(), 1);
    store.detach();
}

void outlivesTheStore()
{
    const quint64 before = priv::poolStats().liveBlocks;
    std::shared_ptr<const StoreSnapshot> held;
    {
        testing::ManualExecutor strand;
        ThreadSafeStore store(&strand);
        store.put(widget(u"n/a@1"));
        store.publish();
        held = store.snapshot();
        store.detach();
    }
    QCOMPARE(texts(held->list()), L({"n/a@1"}));
    held.reset();
    QCOMPARE(priv::poolStats().liveBlocks, before);
}

void readersBesideAWriter()
{
    // The writer moves one object between namespaces: each snapshot shows it exactly once, in store
    // and index alike, and versions never go back.
    ThreadSafeStore store;
    std::vector<Object> others;
    for (int i = 0; i < 200; ++i)
        others.push_back(widget(QStringLiteral("n%1/o%2@1").arg(i % 7).arg(i)));
    store.replace(others, QStringLiteral("1"));
    store.publish();
    std::atomic<bool> isOver = false;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> readers;
    for (int r = 0; r < 3; ++r) {
        readers.emplace_back([&] {
            qulonglong last = 0;
            while (!isOver) {
                const auto snapshot = store.snapshot();
                const qulonglong version = snapshot->resourceVersion.toULongLong();
                qsizetype indexed = 0;
                for (const QString &value : snapshot->indexValues(QString(kNamespaceIndex)))
                    indexed += snapshot->byIndex(QString(kNamespaceIndex), value).size();
                if (version < last || indexed != snapshot->objects.size()
                    || snapshot->list().size() != snapshot->objects.size())
                    ++wrong;
                last = version;
            }
        });
    }
    for (int i = 2; i < 400; ++i) {
        store.put(widget(QStringLiteral("m%1/x@%2").arg(i % 5).arg(i)));
        if (i > 2)
            store.remove({QStringLiteral("m%1").arg((i - 1) % 5), QStringLiteral("x")});
        store.setResourceVersion(QString::number(i));
        store.publish();
    }
    isOver = true;
    for (std::thread &reader : readers)
        reader.join();
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(store.snapshot()->objects.size(), 201);
}

} // namespace

class tst_ThreadSafeStore : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stories_data();
    void stories();
    void t55_keys_data();
    void t55_keys();
    void indexes_data();
    void indexes();
    void compareVersions_data();
    void compareVersions();
    void trieAgainstMap_data();
    void trieAgainstMap();
};

void tst_ThreadSafeStore::stories_data()
{
    QTest::addColumn<Story>("story");
    QTest::newRow("T50, S-1: the last write wins") << Story(t50_versionOfTheStore);
    QTest::newRow("S-1: lists and bookmarks") << Story(s1_replaceAndBookmark);
    QTest::newRow("T51: a deletion that was not seen") << Story(t51_deletionLeavesTheVersion);
    QTest::newRow("T52: empty buckets vanish") << Story(t52_emptyBucketsVanish);
    QTest::newRow("T53: an index added later") << Story(t53_lateIndexer);
    QTest::newRow("T54: a name that is taken") << Story(t54_indexerConflict);
    QTest::newRow("upserts") << Story(upserts);
    QTest::newRow("replace") << Story(replace);
    QTest::newRow("B26: buckets and strings of churn") << Story(b26_churn);
    QTest::newRow("B28: a failing index function") << Story(b28_failingIndexFunction);
    QTest::newRow("B28: a fickle index function") << Story(b28_indexFunctionChangesItsMind);
    QTest::newRow("B30: shared objects do not change") << Story(b30_sharedObjectsDoNotChange);
    QTest::newRow("S-4: snapshots stay as they were") << Story(snapshotsStay);
    QTest::newRow("sweeps run on the strand") << Story(sweepsOnTheStrand);
    QTest::newRow("a snapshot outlives its store") << Story(outlivesTheStore);
    QTest::newRow("readers beside a writer") << Story(readersBesideAWriter);
}

void tst_ThreadSafeStore::stories()
{
    QFETCH(const Story, story);
    story();
}

void tst_ThreadSafeStore::t55_keys_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("isGood");
    QTest::addColumn<QString>("namespaceName");
    QTest::addColumn<QString>("name");
    QTest::newRow("name alone") << "a" << true << ""
                                << "a";
    QTest::newRow("namespace and name") << "a/b" << true << "a"
                                        << "b";
    QTest::newRow("empty") << "" << true << ""
                           << "";
    QTest::newRow("empty namespace") << "/b" << true << ""
                                     << "b";
    QTest::newRow("empty name") << "a/" << true << "a"
                                << "";
    QTest::newRow("T55: three parts") << "a/b/c" << false << ""
                                      << "";
}

void tst_ThreadSafeStore::t55_keys()
{
    QFETCH(const QString, text);
    QFETCH(const bool, isGood);
    ObjectKey key;
    QCOMPARE(parseObjectKey(text, &key).isOk(), isGood);
    if (isGood) {
        QTEST(key.namespaceName, "namespaceName");
        QTEST(key.name, "name");
    }
}

void tst_ThreadSafeStore::indexes_data()
{
    QTest::addColumn<QByteArray>("labels");
    QTest::addColumn<QStringList>("values");
    QTest::newRow("no value: no bucket") << QByteArray(R"({})") << QStringList();
    QTest::newRow("one value") << QByteArray(R"({"users":"a"})") << L({"a"});
    QTest::newRow("several") << QByteArray(R"({"users":"b+a"})") << L({"a", "b"});
    QTest::newRow("a value given twice counts once")
        << QByteArray(R"({"users":"a+b+a"})") << L({"a", "b"});
}

void tst_ThreadSafeStore::indexes()
{
    QFETCH(const QByteArray, labels);
    QFETCH(const QStringList, values);
    ThreadSafeStore store;
    QVERIFY(store.addIndexers({{QStringLiteral("u"), byLabel("users")}}).isOk());
    store.put(widget(u"n/o@1", labels));
    store.publish();
    const auto snapshot = store.snapshot();
    QCOMPARE(snapshot->indexValues(QStringLiteral("u")), values);
    for (const QString &value : values)
        QCOMPARE(keysOf(*snapshot, "u", value), L({"n/o"}));
    QVERIFY(snapshot->byIndex(QStringLiteral("u"), QStringLiteral("other")).isEmpty());
    QVERIFY(!snapshot->hasIndex(QStringLiteral("unknown")));
    store.remove({QStringLiteral("n"), QStringLiteral("o")});
    store.publish();
    QVERIFY(store.snapshot()->indexValues(QStringLiteral("u")).isEmpty());
}

void tst_ThreadSafeStore::compareVersions_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<QString>("order");
    QTest::newRow("numbers") << "9"
                             << "10"
                             << "<";
    QTest::newRow("equal") << "10"
                           << "10"
                           << "=";
    QTest::newRow("greater") << "5000"
                             << "4100"
                             << ">";
    QTest::newRow("64 bits") << "18446744073709551614"
                             << "18446744073709551615"
                             << "<";
    QTest::newRow("beyond") << "18446744073709551616"
                            << "1"
                            << "?";
    QTest::newRow("no number") << "a"
                               << "10"
                               << "?";
    QTest::newRow("leading zero") << "010"
                                  << "9"
                                  << "?";
    QTest::newRow("empty") << ""
                           << "9"
                           << "?";
    QTest::newRow("same text") << "x"
                               << "x"
                               << "=";
    QTest::newRow("sign") << "-1"
                          << "1"
                          << "?";
}

void tst_ThreadSafeStore::compareVersions()
{
    QFETCH(const QString, a);
    QFETCH(const QString, b);
    const auto order = cache::compareVersions(a, b);
    QTEST(QString(order < 0 ? u'<' : order > 0 ? u'>' : order == 0 ? u'=' : u'?'), "order");
}

void tst_ThreadSafeStore::trieAgainstMap_data()
{
    QTest::addColumn<quint64>("mask"); // few different hashes make deep nodes and collisions
    QTest::newRow("well spread") << ~quint64(0);
    QTest::newRow("low bits only") << quint64(0x3ff);
    QTest::newRow("high bits only") << quint64(0xfff0000000000000);
    QTest::newRow("four hashes") << quint64(0x1000000000000001);
    QTest::newRow("one hash") << quint64(0);
}

void tst_ThreadSafeStore::trieAgainstMap()
{
    QFETCH(const quint64, mask);
    struct Number
    {
        quint64 hash;
        quint64 value;
    };
    static qint64 live = 0;
    struct Counting
    {
        static void retain(const Number &) { ++live; }
        static void release(const Number &) { --live; }
    };
    using Trie = PersistentTrie<Number, Counting>;
    live = 0;
    {
        std::mt19937_64 random(7);
        Trie trie;
        std::set<quint64> model;
        std::vector<std::pair<Trie, std::set<quint64>>> olds;
        for (int step = 0; step < 6000; ++step) {
            const quint64 value = random() % 300;
            const quint64 hash = value * 0x9e3779b97f4a7c15 & mask;
            const auto isIt = [&](const Number &n) { return n.value == value; };
            if (model.contains(value)) {
                QVERIFY(trie.find(hash, isIt));
                if (random() % 4) {
                    QCOMPARE(trie.take(hash, isIt)->value, value);
                    --live; // the count came to us
                    model.erase(value);
                } else {
                    QCOMPARE(trie.edit(hash, isIt)->value, value);
                }
            } else {
                QVERIFY(!trie.find(hash, isIt));
                QVERIFY(!trie.take(hash, isIt));
                trie.insert({hash, value});
                ++live;
                model.insert(value);
            }
            if (step % 500 == 0)
                olds.emplace_back(trie, model);
        }
        olds.emplace_back(std::move(trie), model);
        for (const auto &[old, then] : olds) {
            std::set<quint64> seen;
            old.forEach([&](const Number &n) { seen.insert(n.value); });
            QCOMPARE(seen == then, true);
            QCOMPARE(old.size(), qsizetype(then.size()));
        }
    }
    QCOMPARE(live, 0);
}

QTEST_GUILESS_MAIN(tst_ThreadSafeStore)
#include "tst_threadsafestore.moc"
