// What is read of one moment of a store, and changes that show at one moment. Rules of 3.1 and 3.2.
#include "fakes.h"

#include <QtCore/qregularexpression.h>

using namespace fakes;
using namespace davit::cache;

namespace {

// The values of a label, with '+' between them.
IndexValues byLabel(const char *label)
{
    return [label](const Object &object) -> std::optional<QStringList> {
        return object.label(QLatin1StringView(label)).split(u'+', Qt::SkipEmptyParts);
    };
}

} // namespace

class tst_StoreSnapshot : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsOfAnIndex();
    void failingIndexFunction();
    void transactions_data();
    void transactions();
};

// 3.2: what reads of an index say, the unknown one included.
void tst_StoreSnapshot::readsOfAnIndex()
{
    ThreadSafeStore store;
    const QString byUser = u"byUser"_s;
    QVERIFY(store.addIndexers({{byUser, byLabel("users")}}).isOk());
    store.put(widget(u"n/one@1", R"({"users":"ernie+bert"})"));
    store.put(widget(u"m/two@2", R"({"users":"bert+bert"})"));
    store.put(widget(u"tre@3", R"({"users":"oscar"})"));
    store.put(widget(u"none@4"));
    store.publish();
    const auto snapshot = store.snapshot();
    QStringList keys{u"stale"_s};
    QList<Object> found;
    QVERIFY(snapshot->indexKeys(byUser, u"bert"_s, &keys).isOk());
    QCOMPARE(keys, L({"m/two", "n/one"})); // sorted, each once
    QVERIFY(snapshot->indexKeys(byUser, u"grobi"_s, &keys).isOk());
    QCOMPARE(keys, QStringList());
    QVERIFY(snapshot->byIndex(byUser, u"bert"_s, &found).isOk());
    QCOMPARE(texts(found), L({"m/two@2", "n/one@1"}));
    const Object asked = widget(u"x/asked", R"({"users":"ernie+bert+oscar"})");
    QVERIFY(snapshot->index(byUser, asked, &found).isOk());
    QCOMPARE(texts(found), L({"m/two@2", "n/one@1", "tre@3"})); // the union, each once
    QVERIFY(snapshot->index(byUser, widget(u"y/idle"), &found).isOk());
    QVERIFY(found.isEmpty());
    for (const Status &status : {snapshot->byIndex(u"byAge"_s, u"7"_s, &found),
             snapshot->indexKeys(u"byAge"_s, u"7"_s, &keys),
             snapshot->index(u"byAge"_s, asked, &found)}) {
        QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
        QCOMPARE(
            status.error().message(), u"read index \"byAge\": there is no index of that name"_s);
    }
    QVERIFY(snapshot->indexValues(u"byAge"_s).isEmpty()); // no error
    QStringList all;
    for (const ObjectKey &key : snapshot->keys())
        all += toString(key);
    all.sort();
    QCOMPARE(all, L({"m/two", "n/one", "none", "tre"}));
}

void tst_StoreSnapshot::failingIndexFunction()
{
    ThreadSafeStore store;
    const auto failing = [](const Object &) { return std::optional<QStringList>(); };
    QVERIFY(store.addIndexers({{u"broken"_s, failing}}).isOk());
    QList<Object> found;
    const Status status = store.working().index(u"broken"_s, widget(u"n/a@1"), &found);
    QCOMPARE(status.error().code(), ErrorCode::PluginFault);
    QCOMPARE(status.error().message(), u"read index \"broken\": its function failed for n/a"_s);
}

// "+a@1" stores, "-a" removes as a tombstone does, "-a@7" as a deletion that was seen, "B9" is a
// bookmark: what the informer does with the entries of a batch.
void apply(ThreadSafeStore &store, const QString &change)
{
    if (change.startsWith(u'B')) {
        store.setResourceVersion(change.mid(1));
    } else if (change.startsWith(u'+')) {
        store.put(widget(QStringView(change).mid(1)));
    } else {
        const Object gone = widget(QStringView(change).mid(1));
        store.remove(gone.key());
        if (!gone.resourceVersion().isEmpty())
            store.setResourceVersion(gone.resourceVersion());
    }
}

// The store holds n/a@5 and n/b@6 before.
void tst_StoreSnapshot::transactions_data()
{
    QTest::addColumn<QStringList>("changes");
    QTest::addColumn<QStringList>("shown");
    QTest::addColumn<QString>("version");
    const auto row = [](const char *name, Texts changes, Texts shown, const char *version) {
        QTest::newRow(name) << L(changes) << L(shown) << QString::fromLatin1(version);
    };
    row("S-1: one of each, all at once", {"+n/a@7", "-n/b@8", "+m/c@9"}, {"m/c@9", "n/a@7"}, "9");
    row("S-1: the version of the last, although it is lower", {"+m/c@9", "+n/a@4"},
        {"m/c@9", "n/a@4", "n/b@6"}, "4");
    row("S-1: the last has no version", {"+m/c@9", "+n/a"}, {"m/c@9", "n/a", "n/b@6"}, "");
    row("S-1: a deletion that was seen comes last", {"+m/c@9", "-n/a@12"}, {"m/c@9", "n/b@6"},
        "12");
    row("S-1: a tombstone comes last and leaves the version that is there", {"+m/c@9", "-n/a"},
        {"m/c@9", "n/b@6"}, "9");
    row("S-1: only tombstones", {"-n/a", "-n/b"}, {}, "6");
    row("S-1: a bookmark comes last", {"+m/c@9", "B11"}, {"m/c@9", "n/a@5", "n/b@6"}, "11");
    row("3.1: of one key the last counts", {"+n/a@7", "-n/a@8", "+n/a@9"}, {"n/a@9", "n/b@6"}, "9");
    row("3.1: stored and removed again", {"+m/c@9", "-m/c@10"}, {"n/a@5", "n/b@6"}, "10");
    row("3.1: what is not there is removed, the others count", {"-m/x", "+m/c@9"},
        {"m/c@9", "n/a@5", "n/b@6"}, "9");
    row("3.1: nothing", {}, {"n/a@5", "n/b@6"}, "6");
}

// Several changes and one publish() are the Transaction of client-go's store.
void tst_StoreSnapshot::transactions()
{
    QFETCH(const QStringList, changes);
    QFETCH(const QStringList, shown);
    ThreadSafeStore store;
    store.put(widget(u"n/a@5"));
    store.put(widget(u"n/b@6"));
    store.publish();
    const auto early = store.snapshot();
    for (const QString &change : changes) {
        apply(store, change);
        QCOMPARE(store.snapshot(), early); // nobody sees half of it
    }
    store.publish();
    QTEST(stored(store), "shown");
    QTEST(store.snapshot()->resourceVersion, "version");
    for (const QString &space : {u"m"_s, u"n"_s}) { // the index shows the same
        const QStringList inIt = texts(store.snapshot()->byIndex(kNamespaceIndex, space));
        QCOMPARE(inIt, shown.filter(QRegularExpression(u'^' + space + u'/')));
    }
    QCOMPARE(texts(early->list()), L({"n/a@5", "n/b@6"}));
    QCOMPARE(early->resourceVersion, u"6"_s);
}

QTEST_GUILESS_MAIN(tst_StoreSnapshot)
#include "tst_storesnapshot.moc"
