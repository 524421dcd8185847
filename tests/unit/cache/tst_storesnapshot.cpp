// What is read of one moment of a store. Rules of 3.1 and 3.2.
#include "fakes.h"

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

QTEST_GUILESS_MAIN(tst_StoreSnapshot)
#include "tst_storesnapshot.moc"
