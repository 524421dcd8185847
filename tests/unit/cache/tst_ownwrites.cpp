// When a write shows in a store, and what is remembered of many writes.
#include "fakes.h"

#include <cache/ownwrites.h>

using namespace fakes;
using namespace davit::cache;
using Outcome = priv::OwnWrite::Outcome;

namespace {

constexpr QLatin1StringView kGreen{R"({"colour":"green"})"};
constexpr QLatin1StringView kRed{R"({"colour":"red"})"};

// "n/a@7#u1", behind it maybe " green", " red" or " ending" (it is being deleted).
Object thing(const QString &text)
{
    const QStringList parts = text.split(u' ');
    const Object plain = widget(parts[0],
        parts.contains(u"green"_s)     ? QByteArray(kGreen.data())
            : parts.contains(u"red"_s) ? QByteArray(kRed.data())
                                       : QByteArray());
    if (!parts.contains(u"ending"_s))
        return plain;
    QByteArray json = plain.toJson();
    json.replace(R"("metadata":{)", R"("metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",)");
    return fromJson(json);
}

// "write …", "version …" (its labels are not known), "gone …", "collected …" (gone or terminating).
priv::OwnWrite written(const QString &line)
{
    const QString verb = line.section(u' ', 0, 0);
    const Object object = thing(line.section(u' ', 1));
    priv::OwnWrite write{verb == u"gone" ? Outcome::Gone
            : verb == u"collected"       ? Outcome::GoneOrTerminating
                                         : Outcome::Stands,
        kWidget, object.key(), object.resourceVersion(), object.uid(), object};
    if (verb == u"version" || object.resourceVersion().isEmpty())
        write.object = {};
    return write;
}

// "12: n/a@7 green, n/b@9": version and objects.
std::shared_ptr<const StoreSnapshot> storeOf(const QString &text)
{
    ThreadSafeStore store;
    for (const QString &object : text.section(u": "_s, 1).split(u", "_s, Qt::SkipEmptyParts))
        store.put(thing(object));
    store.setResourceVersion(text.section(u':', 0, 0));
    store.publish();
    return store.snapshot();
}

bool showsAll(const OwnWrites::Noted &noted, const StoreSnapshot &store, const WatchScope &watched)
{
    const ViewFilter filter(watched);
    return std::all_of(noted.writes.begin(), noted.writes.end(),
        [&](const auto &writes) { return writes->isShown(store, filter); });
}

WatchScope all()
{
    return {kWidget, {}, {}, {}, false};
}

} // namespace

class tst_OwnWrites : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void shown_data();
    void shown();
    void scopes_data();
    void scopes();
    void shards_data();
    void shards();
    void kinds();
    void manyKeys();
    void manyStates();
    void nothingToWaitFor();
    void texts();
};

// NOLINTNEXTLINE(readability-function-size): one table
void tst_OwnWrites::shown_data()
{
    QTest::addColumn<QStringList>("writes"); // in the order of their answers
    QTest::addColumn<QString>("labels"); // that the watch selects
    QTest::addColumn<QString>("store");
    QTest::addColumn<bool>("isShown");
    const auto row
        = [](const char *name, Texts writes, const char *labels, const char *store, bool isShown) {
              QTest::newRow(name) << L(writes) << QString::fromLatin1(labels)
                                  << QString::fromLatin1(store) << isShown;
          };
    const bool yes = true;
    const bool no = false;
    const char *const g = "colour=green";
    row("M-39: nothing was written", {}, "", "5:", yes);
    row("M-39: the store is behind", {"write n/a@12"}, "", "11: n/a@7", no);
    row("M-39: the store has come to it", {"write n/a@12"}, "", "12: n/a@7", yes);
    row("a new object is not there yet", {"write n/a@12"}, "", "11:", no);
    row("that very state is there", {"write n/a@12"}, "", "11: n/a@12", yes);
    row("a later state is there", {"write n/a@12"}, "", "11: n/a@13", yes);
    row("9 is before 12", {"write n/a@12"}, "", "9: n/a@9", no);
    row("another object does not count", {"write n/a@12"}, "", "11: n/b@12", no);
    row("the newest of two writes counts", {"write n/a@12", "write n/a@14"}, "", "13: n/a@12", no);
    row("both writes are there", {"write n/a@12", "write n/a@14"}, "", "13: n/a@14", yes);
    row("each of two keys counts", {"write n/a@12", "write n/b@14"}, "", "13: n/a@12", no);
    row("a write that changed nothing", {"write n/a@7"}, "", "6: n/a@7", yes);
    row("a version alone", {"version n/a@12"}, "", "11: n/a@7", no);
    row("a version alone, reached", {"version n/a@12"}, "", "11: n/a@12", yes);
    row("no numbers, the same state", {"write n/a@x"}, "", "y: n/a@x", yes);
    row("no numbers, the same version", {"write n/a@x"}, "", "x: n/a@w", yes);
    row("no numbers, who knows", {"write n/a@x"}, "", "y: n/a@z", no);

    row("beyond the watch", {"write n/a@12 red"}, g, "11:", yes);
    row("within the watch", {"write n/a@12 green"}, g, "11:", no);
    row("beyond it now, shown still", {"write n/a@12 red"}, g, "11: n/a@7 green", no);
    row("beyond it, the version alone", {"version n/a@12"}, g, "11:", no);
    row("beyond it, first within", {"write n/a@11 green", "write n/a@12 red"}, g, "10:", no);
    row("beyond it, first within, came by", {"write n/a@11 green", "write n/a@12 red"}, g,
        "11:", yes);
    row("beyond it twice", {"write n/a@11 red", "write n/a@12 red"}, g, "10:", yes);

    row("gone, nothing there", {"gone n/a#u"}, "", "5:", yes);
    row("gone, still there", {"gone n/a#u"}, "", "5: n/a@5#u", no);
    row("gone, another one there", {"gone n/a#u"}, "", "5: n/a@5#v", yes);
    row("gone, uid not known", {"gone n/a"}, "", "5: n/a@5#v", no);
    row("gone, terminating", {"gone n/a#u"}, "", "5: n/a@5#u ending", no);
    row("written and gone, not seen yet", {"write n/a@12#u", "gone n/a#u"}, "", "11:", no);
    row("written and gone, there", {"write n/a@12#u", "gone n/a#u"}, "", "12: n/a@12#u", no);
    row("written and gone, both seen", {"write n/a@12#u", "gone n/a#u"}, "", "13:", yes);
    row("gone at a version, not seen yet", {"gone n/a@12#u"}, "", "11:", no);
    row("gone, beyond the watch", {"gone n/a@12#u red"}, g, "11:", yes);
    row("gone and made again, old one there", {"gone n/a#u", "write n/a@14#v"}, "", "13: n/a@9#u",
        no);
    row("gone and made again, nothing there", {"gone n/a#u", "write n/a@14#v"}, "", "13:", no);
    row("gone and made again", {"gone n/a#u", "write n/a@14#v"}, "", "13: n/a@14#v", yes);
    row("an answer overtaken by the end", {"gone n/a#u", "write n/a@12#u"}, "", "12: n/a@12#u", no);
    row("overtaken, gone", {"gone n/a#u", "write n/a@12#u"}, "", "12:", yes);
    row("collected, still there", {"collected n/a@7#u"}, "", "7: n/a@7#u", no);
    row("collected, terminating", {"collected n/a@7#u"}, "", "8: n/a@8#u ending", yes);
    row("collected, gone", {"collected n/a@7#u"}, "", "8:", yes);
    row("collected, never seen", {"collected n/a@7#u"}, "", "6:", no);
    row("collected, another one there", {"collected n/a@7#u"}, "", "9: n/a@9#v", yes);
}

void tst_OwnWrites::shown()
{
    QFETCH(const QStringList, writes);
    QFETCH(const QString, labels);
    QFETCH(const QString, store);
    OwnWrites own;
    for (const QString &line : writes)
        own.note(written(line));
    WatchScope watched = all();
    watched.labelSelector = labels;
    QTEST(showsAll(own.of(watched), *storeOf(store), watched), "isShown");
}

void tst_OwnWrites::scopes_data()
{
    QTest::addColumn<QString>("namespaceName"); // that is read
    QTest::addColumn<QString>("fields"); // that the watch selects
    QTest::addColumn<QString>("version"); // of the kind that is watched
    QTest::addColumn<bool>("isShown"); // of a write to n/a, spec.size 1, in an empty store
    QTest::newRow("all namespaces") << ""
                                    << ""
                                    << "v1" << false;
    QTest::newRow("its namespace") << "n"
                                   << ""
                                   << "v1" << false;
    QTest::newRow("another namespace is not concerned") << "m"
                                                        << ""
                                                        << "v1" << true;
    QTest::newRow("fields that it has") << ""
                                        << "spec.size=1"
                                        << "v1" << false;
    QTest::newRow("a name that it has not") << ""
                                            << "metadata.name=b"
                                            << "v1" << true;
    QTest::newRow("fields of a spec are not kept") << ""
                                                   << "spec.size=2"
                                                   << "v1" << false;
    QTest::newRow("another version of the kind") << ""
                                                 << ""
                                                 << "v2" << false;
    QTest::newRow("fields of another version") << ""
                                               << "spec.size=2"
                                               << "v2" << false;
}

void tst_OwnWrites::scopes()
{
    QFETCH(const QString, namespaceName);
    QFETCH(const QString, fields);
    QFETCH(const QString, version);
    OwnWrites own;
    own.note(written(u"write n/a@12"_s));
    WatchScope watched = all();
    watched.gvk.version = version;
    watched.namespaceName = namespaceName;
    watched.fieldSelector = fields;
    QTEST(showsAll(own.of(watched), *storeOf(u"11:"_s), watched), "isShown");
}

void tst_OwnWrites::shards_data()
{
    QTest::addColumn<QString>("end"); // of the shard that is watched; the hash of "n" is …f871
    QTest::addColumn<bool>("isShown"); // of a write to n/a, in an empty store
    QTest::newRow("it belongs to the shard") << u"0xaf63e34c8601f872"_s << false;
    QTest::newRow("another process has it") << u"0xaf63e34c8601f871"_s << true;
}

// 1.9: what another process watches holds up no read here.
void tst_OwnWrites::shards()
{
    QFETCH(const QString, end);
    OwnWrites own;
    own.note(written(u"write n/a@12"_s));
    WatchScope watched = all();
    watched.shardSelector
        = u"shardRange(object.metadata.namespace, '0x0000000000000000', '%1')"_s.arg(end);
    QTEST(showsAll(own.of(watched), *storeOf(u"11:"_s), watched), "isShown");
}

void tst_OwnWrites::kinds()
{
    OwnWrites own;
    own.note(written(u"write n/a@12"_s));
    WatchScope other = all();
    other.gvk.kind = u"Gadget"_s;
    QVERIFY(own.of(other).writes.empty());
    other = all();
    other.gvk.group = u"other.example"_s;
    QVERIFY(own.of(other).writes.empty());
    QCOMPARE(own.of(all()).writes.size(), 1u);
}

// What is too old to be remembered by key is a version that the store has to reach.
void tst_OwnWrites::manyKeys()
{
    OwnWrites own;
    const auto note = [&own](const QString &space, int number, int version) {
        own.note(written(QStringLiteral("write %1/o%2@%3").arg(space).arg(number).arg(version)));
    };
    for (int i = 0; i < OwnWrites::kMaxKeys; ++i)
        note(u"n"_s, i, 1000 + i);
    QCOMPARE(own.of(all()).writes.size(), std::size_t(OwnWrites::kMaxKeys));
    QCOMPARE(own.of(all()).floor, QString());
    note(u"n"_s, 0, 2000); // known: nothing goes, and it is the newest now
    QCOMPARE(own.of(all()).floor, QString());
    note(u"m"_s, 0, 2001);
    note(u"m"_s, 1, 2002);
    const OwnWrites::Noted noted = own.of(all());
    QCOMPARE(noted.writes.size(), std::size_t(OwnWrites::kMaxKeys));
    QCOMPARE(toString(noted.writes.front()->key), u"n/o3"_s);
    QCOMPARE(noted.floor, u"1002"_s); // of n/o2, the last that went
    WatchScope inM = all();
    inM.namespaceName = u"m"_s;
    QCOMPARE(own.of(inM).floor, QString()); // it came from n
    QCOMPARE(own.of(inM).writes.size(), 2u);
    for (int i = 0; i < OwnWrites::kMaxKeys; ++i) // an end has no version of its own
        own.note(written(QStringLiteral("gone q/o%1#u").arg(i)));
    QCOMPARE(own.of(all()).floor, u"2002"_s);
    own.note(written(u"gone q/more#u"_s));
    QCOMPARE(own.of(all()).floor, u"2002"_s);
}

void tst_OwnWrites::manyStates()
{
    OwnWrites own;
    for (int version = 10; version < 20; ++version)
        own.note(written(QStringLiteral("write n/a@%1 red").arg(version)));
    const OwnWrites::Noted noted = own.of(all());
    QCOMPARE(noted.writes.size(), 1u);
    QCOMPARE(noted.writes[0]->states.size(), OwnWrites::kMaxStates);
    QCOMPARE(noted.writes[0]->states.front().version, u"16"_s);
    own.note(written(u"version n/a@19"_s)); // the same state, told with less
    QCOMPARE(own.of(all()).writes[0]->states.front().version, u"16"_s);
    QVERIFY(!own.of(all()).writes[0]->states.back().object.isNull());
}

void tst_OwnWrites::nothingToWaitFor()
{
    OwnWrites own;
    own.note(written(u"write n/a"_s)); // no version: nothing tells when it shows
    own.note(priv::OwnWrite());
    QVERIFY(own.of(all()).writes.empty());
}

void tst_OwnWrites::texts()
{
    OwnWrites own;
    own.note(written(u"write n/a@12"_s));
    own.note(written(u"gone n/b@12#u"_s));
    QCOMPARE(own.of(all()).writes[0]->toText(), u"write of n/a at version 12"_s);
    QCOMPARE(own.of(all()).writes[1]->toText(), u"deletion of n/b"_s);
}

QTEST_GUILESS_MAIN(tst_OwnWrites)
#include "tst_ownwrites.moc"
