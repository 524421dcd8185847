// The replicator's rules, each for itself: whose an object is, who has a target, which namespaces a
// pattern means, and how soon a copy is put right again.
#include "claims.h"
#include "provenance.h"
#include "restorepace.h"

#include <davit/objectbuilder.h>
#include <davit/priv/backends.h>

#include <QTest>

using namespace davit;
using namespace replicator;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

using Texts = QMap<QString, QString>;

class StandingClock final : public priv::ClockBackend
{
public:
    std::chrono::nanoseconds monotonic() const override { return now; }
    std::chrono::nanoseconds utc() const override { return now; }
    std::chrono::nanoseconds now{1h};
};

Object secret(const QString &key, const QString &uid, const Texts &annotations = {},
    const QString &created = u"2026-01-01T00:00:00Z"_s)
{
    ObjectKey place;
    if (!parseObjectKey(key, &place).isOk())
        return {};
    ObjectBuilder builder(Gvk{{}, u"v1"_s, u"Secret"_s}, place);
    builder.set({u"metadata"_s, u"uid"_s}, uid);
    builder.set({u"metadata"_s, u"creationTimestamp"_s}, created);
    for (auto i = annotations.begin(); i != annotations.end(); ++i)
        builder.setAnnotation(i.key(), i.value());
    builder.set({u"data"_s, u"key"_s}, u"dg=="_s);
    builder.set({u"type"_s}, u"Opaque"_s);
    return builder.build();
}

Object source(const QString &key, const QString &uid, const QString &to,
    const QString &created = u"2026-01-01T00:00:00Z"_s)
{
    return secret(key, uid, {{kToNamespaces, to}}, created);
}

// The copy of src/x in namespace to.
Object goodCopy()
{
    return copyFor(source(u"src/x"_s, u"uid-1"_s, u"to"_s), u"to"_s, Object());
}

Object changed(const Object &base, const QStringList &path, const QString &value)
{
    ObjectBuilder builder(base);
    if (value.isNull())
        builder.remove(path);
    else
        builder.set(path, value);
    return builder.build();
}

} // namespace

class tst_ReplicatorRules : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void marks_data();
    void marks();
    void clones_data();
    void clones();
    void sources_data();
    void sources();
    void changeable_data();
    void changeable();
    void winner_data();
    void winner();
    void patterns_data();
    void patterns();
    void malformedPatterns_data();
    void malformedPatterns();
    void names();
    void pace();
    void paceEndsWith_data();
    void paceEndsWith();
    void paceFreesEntries();
};

void tst_ReplicatorRules::marks_data()
{
    const QString label(kCopyLabel);
    const QString from(kCopiedFrom);
    const QString to(kCopiedTo);
    const QString uid(kSourceUid);
    QTest::addColumn<Texts>("edits"); // a null text removes
    QTest::addColumn<bool>("isOurs");
    const QString gone;
    QTest::newRow("untouched") << Texts{} << true;
    QTest::newRow("copied-from unreadable") << Texts{{from, u"a/b/c"_s}} << true;
    QTest::newRow("copied-from without namespace") << Texts{{from, u"x"_s}} << true;
    QTest::newRow("copied-from of another name") << Texts{{from, u"src/y"_s}} << true;
    QTest::newRow("copied-from of another namespace") << Texts{{from, u"other/x"_s}} << true;
    QTest::newRow("copied-from empty") << Texts{{from, u""_s}} << true;
    QTest::newRow("copied-from removed") << Texts{{from, gone}} << true;
    QTest::newRow("copied-to of another") << Texts{{to, u"other/x"_s}} << true;
    QTest::newRow("copied-to removed") << Texts{{to, gone}} << true;
    QTest::newRow("label changed") << Texts{{label, u"true"_s}} << true;
    QTest::newRow("label removed") << Texts{{label, gone}} << true;
    QTest::newRow("source-uid removed") << Texts{{uid, gone}} << true;
    QTest::newRow("only the label") << Texts{{from, gone}, {to, gone}, {uid, gone}} << false;
    QTest::newRow("only copied-to") << Texts{{from, gone}, {label, gone}, {uid, gone}} << false;
    QTest::newRow("only copied-from") << Texts{{to, gone}, {label, gone}, {uid, gone}} << false;
    QTest::newRow("nothing") << Texts{{from, gone}, {to, gone}, {label, gone}, {uid, gone}}
                             << false;
}

void tst_ReplicatorRules::marks()
{
    QFETCH(const Texts, edits);
    Object copy = goodCopy();
    for (auto i = edits.begin(); i != edits.end(); ++i)
        copy = changed(copy,
            {u"metadata"_s, i.key() == kCopyLabel ? u"labels"_s : u"annotations"_s, i.key()},
            i.value());
    QTEST(isCopy(copy), "isOurs");
    // Any edit of a mark is seen, and what is put right has all of them.
    const Object from = source(u"src/x"_s, u"uid-1"_s, u"to"_s);
    QCOMPARE(isEqualCopy(from, copy), edits.isEmpty());
    QVERIFY(isEqualCopy(from, copyFor(from, u"to"_s, copy)));
}

void tst_ReplicatorRules::clones_data()
{
    QTest::addColumn<QString>("namespaceName");
    QTest::addColumn<QString>("name");
    QTest::newRow("in another namespace") << u"hand"_s << u"x"_s;
    QTest::newRow("under another name") << u"to"_s << u"y"_s;
    QTest::newRow("both") << u"hand"_s << u"y"_s;
}

void tst_ReplicatorRules::clones()
{
    QFETCH(const QString, namespaceName);
    QFETCH(const QString, name);
    Object clone = changed(goodCopy(), {u"metadata"_s, u"namespace"_s}, namespaceName);
    clone = changed(clone, {u"metadata"_s, u"name"_s}, name);
    QVERIFY(!isCopy(clone));
    // It still tells whose it would be, if a source wanted one there.
    QVERIFY(hasUidOf(source(u"src/x"_s, u"uid-1"_s, u"hand"_s), clone));
    QVERIFY(!hasUidOf(source(u"src/x"_s, u"uid-2"_s, u"hand"_s), clone));
    QVERIFY(!hasUidOf(source(u"src/x"_s, {}, u"hand"_s), secret(u"hand/x"_s, {})));
}

void tst_ReplicatorRules::sources_data()
{
    QTest::addColumn<Object>("object");
    QTest::addColumn<bool>("isOne");
    const Object plain = source(u"src/x"_s, u"uid-1"_s, u"to"_s);
    QTest::newRow("annotated") << plain << true;
    QTest::newRow("no annotation") << secret(u"src/x"_s, u"uid-1"_s) << false;
    QTest::newRow("being deleted") << changed(plain, {u"metadata"_s, u"deletionTimestamp"_s},
        u"2026-01-01T00:00:00Z"_s) << false;
    QTest::newRow("a copy that asks for copies")
        << changed(goodCopy(), {u"metadata"_s, u"annotations"_s, QString(kToNamespaces)}, u"*"_s)
        << false;
    QTest::newRow("null") << Object() << false;
}

void tst_ReplicatorRules::sources()
{
    QFETCH(const Object, object);
    QTEST(isSource(object), "isOne");
}

void tst_ReplicatorRules::changeable_data()
{
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<QByteArray>("copy");
    QTest::addColumn<bool>("isEqual"); // in what is copied
    QTest::addColumn<bool>("isPossible");
    const auto row
        = [](const char *name, const char *source, const char *copy, bool equal, bool can) {
              QTest::newRow(name) << QByteArray(source) << QByteArray(copy) << equal << can;
          };
    row("the same", R"("data":{"a":"YQ==","b":"Yg=="})", R"("data":{"a":"YQ==","b":"Yg=="})", true,
        true);
    row("another order", R"("data":{"a":"YQ==","b":"Yg=="})", R"("data":{"b":"Yg==","a":"YQ=="})",
        true, true);
    row("no data and empty data", R"("data":{})", R"("immutable":false)", true, true);
    row("other data", R"("data":{"a":"YQ=="})", R"("data":{"a":"Yg=="})", false, true);
    row("one key more", R"("data":{"a":"YQ=="})", R"("data":{"a":"YQ==","b":"Yg=="})", false, true);
    row("other binary data", R"("binaryData":{"a":"YQ=="})", R"("data":{})", false, true);
    row("another type", R"("type":"a/b")", R"("type":"Opaque")", false, false);
    row("becomes immutable", R"("immutable":true)", R"("data":{})", false, true);
    row("both immutable, other data", R"("immutable":true,"data":{"a":"YQ=="})",
        R"("immutable":true)", false, false);
    row("both immutable, the same", R"("immutable":true)", R"("immutable":true)", true, true);
    row("immutable no more", R"("data":{})", R"("immutable":true)", false, false);
}

void tst_ReplicatorRules::changeable()
{
    QFETCH(const QByteArray, source);
    QFETCH(const QByteArray, copy);
    const auto made = [](const QByteArray &rest, const QByteArray &metadata) {
        Object object;
        const Status status = Object::fromJson(
            R"({"apiVersion":"v1","kind":"Secret","metadata":{)" + metadata + "}," + rest + "}",
            &object);
        return status.isOk() ? object : Object();
    };
    const Object from = made(source, R"("namespace":"src","name":"x","uid":"uid-1")");
    const Object to = made(copy,
        R"("namespace":"to","name":"x","labels":{"replicator.davit.dev/copy":"to"},"annotations":{)"
        R"("replicator.davit.dev/copied-to":"to/x","replicator.davit.dev/copied-from":"src/x",)"
        R"("replicator.davit.dev/source-uid":"uid-1"})");
    QVERIFY(!from.isNull() && !to.isNull());
    QTEST(isEqualCopy(from, to), "isEqual");
    QTEST(isChangeable(from, to), "isPossible");
}

void tst_ReplicatorRules::winner_data()
{
    QTest::addColumn<QList<Object>>("sources");
    QTest::addColumn<Object>("existing");
    QTest::addColumn<QString>("key"); // of who has namespace "to"; empty: nobody wants it
    const QString late = u"2026-02-02T00:00:00Z"_s;
    const Object older = source(u"b/x"_s, u"uid-b"_s, u"to"_s);
    const Object newer = source(u"a/x"_s, u"uid-a"_s, u"t*"_s, late);
    const auto copyOf = [](const Object &source) { return copyFor(source, u"to"_s, Object()); };
    using L = QList<Object>;
    QTest::newRow("nobody") << L{} << Object() << QString();
    QTest::newRow("one") << L{newer} << Object() << u"a/x"_s;
    QTest::newRow("the older of two") << L{newer, older} << Object() << u"b/x"_s;
    QTest::newRow("equally old: by name")
        << L{older, source(u"a/x"_s, u"uid-a"_s, u"to"_s)} << Object() << u"a/x"_s;
    QTest::newRow("whose copy is there") << L{older, newer} << copyOf(newer) << u"a/x"_s;
    QTest::newRow("whose copy is there, copied-from edited")
        << L{older, newer}
        << changed(copyOf(newer), {u"metadata"_s, u"annotations"_s, QString(kCopiedFrom)}, u"b/x"_s)
        << u"a/x"_s;
    QTest::newRow("made anew: by copied-from")
        << L{older, source(u"a/x"_s, u"uid-c"_s, u"to"_s, late)} << copyOf(newer) << u"a/x"_s;
    QTest::newRow("the copy of one that is gone") << L{older} << copyOf(newer) << u"b/x"_s;
    QTest::newRow("its copy is there, but it asks for it no more")
        << L{older, source(u"a/x"_s, u"uid-a"_s, u"other"_s)} << copyOf(newer) << u"b/x"_s;
    QTest::newRow("its own namespace")
        << L{source(u"to/x"_s, u"uid-t"_s, u"*"_s)} << Object() << QString();
    QTest::newRow("a service account's token wants nothing")
        << L{changed(older, {u"type"_s}, u"kubernetes.io/service-account-token"_s), newer}
        << Object() << u"a/x"_s;
}

void tst_ReplicatorRules::winner()
{
    QFETCH(const QList<Object>, sources);
    QFETCH(const Object, existing);
    QFETCH(const QString, key);
    const Claims claims(sources, NamespacePatterns({u"kube-*"_s}));
    QCOMPARE(toString(claims.winner(u"to"_s, existing).key()), key);
    QCOMPARE(claims.isWanted(u"to"_s), !key.isEmpty());
    ObjectKey winner;
    QVERIFY(parseObjectKey(key, &winner).isOk());
    QCOMPARE(claims.isWantedBy(winner, u"to"_s), !key.isEmpty());
    QVERIFY(Claims(sources, NamespacePatterns({u"?o"_s})).winner(u"to"_s, existing).isNull());
}

void tst_ReplicatorRules::patterns_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("matching");
    QTest::addColumn<QStringList>("others");
    using L = QStringList;
    QTest::newRow("a name") << u"ops"_s << L{u"ops"_s} << L{u"op"_s, u"opss"_s, u""_s};
    QTest::newRow("a list with blanks") << u" a , b ,, "_s << L{u"a"_s, u"b"_s} << L{u"c"_s, u""_s};
    QTest::newRow("empty") << u""_s << L{} << L{u"a"_s, u""_s};
    QTest::newRow("any") << u"*"_s << L{u"a"_s, u"kube-system"_s} << L{};
    QTest::newRow("a beginning") << u"team-*"_s << L{u"team-"_s, u"team-a"_s} << L{u"team"_s};
    QTest::newRow("an end") << u"*-dev"_s << L{u"a-dev"_s, u"-dev-dev"_s} << L{u"a-dev-b"_s};
    QTest::newRow("a middle") << u"a*b*c"_s << L{u"abc"_s, u"axbxbxc"_s} << L{u"acb"_s, u"ab"_s};
    QTest::newRow("one letter") << u"t?"_s << L{u"ta"_s} << L{u"t"_s, u"tab"_s};
    QTest::newRow("goes back") << u"*aab"_s << L{u"aaab"_s, u"aabaab"_s} << L{u"aaba"_s};
}

void tst_ReplicatorRules::patterns()
{
    QFETCH(const QString, text);
    QFETCH(const QStringList, matching);
    QFETCH(const QStringList, others);
    const NamespacePatterns patterns = NamespacePatterns::fromText(text);
    for (const QString &name : matching)
        QVERIFY2(patterns.matches(name), qPrintable(name));
    for (const QString &name : others)
        QVERIFY2(!patterns.matches(name), qPrintable(name));
}

void tst_ReplicatorRules::malformedPatterns_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");
    QTest::newRow("none") << u"a,b-*,?3"_s << u""_s;
    QTest::newRow("one of two") << u"a,B"_s << u"B"_s;
    QTest::newRow("three") << u"A,B,C"_s << u"A, B, C"_s;
    QTest::newRow("four") << u"A,B,C,D"_s << u"A, B, C and 1 more"_s;
    QString many;
    for (int i = 0; i < 300; ++i)
        many += u"Bad_%1,"_s.arg(i);
    QTest::newRow("three hundred") << many << u"Bad_0, Bad_1, Bad_2 and 297 more"_s;
    const QString wide(63, QChar(0x8a9e));
    QTest::newRow("long ones are cut")
        << wide + wide + u",x_"_s << wide + QChar(0x2026) + u", x_"_s;
    QTest::newRow("not within a letter of two units")
        << QString(62, u'A') + u"\U0001F600B"_s << QString(62, u'A') + QChar(0x2026);
}

void tst_ReplicatorRules::malformedPatterns()
{
    QFETCH(const QString, text);
    const QString shown = firstFew(NamespacePatterns::fromText(text).malformed());
    QTEST(shown, "shown");
    QVERIFY2(shown.toUtf8().size() < 700, qPrintable(shown)); // a note has 1024
}

// An entry that is one namespace's name, as opposed to a glob.
void tst_ReplicatorRules::names()
{
    const auto patterns = NamespacePatterns::fromText(u"kube-*, kube-system ,team-?,,ops"_s);
    QCOMPARE(patterns.names(), QStringList({u"kube-system"_s, u"ops"_s}));
}

void tst_ReplicatorRules::pace()
{
    StandingClock clock;
    RestorePace pace{Clock(clock)};
    const ObjectKey x{u"src"_s, u"x"_s};
    QCOMPARE(pace.remaining(x, u"n1"_s, "v1"), 0ms);
    QCOMPARE(pace.written(x, u"n1"_s, "v1"), 0ms);
    QCOMPARE(pace.remaining(x, u"n1"_s, "v1"), 0ms); // the first restoration is free
    for (const auto next : {1000ms, 2000ms, 4000ms, 8000ms, 16000ms, 32000ms, 64000ms, 128000ms,
             256000ms, 300000ms, 300000ms}) {
        QCOMPARE(pace.written(x, u"n1"_s, "v1"), next);
        QCOMPARE(pace.remaining(x, u"n1"_s, "v1"), next);
        clock.now += next - 1ms;
        QCOMPARE(pace.remaining(x, u"n1"_s, "v1"), 1ms);
        clock.now += 1ms;
        QCOMPARE(pace.remaining(x, u"n1"_s, "v1"), 0ms);
    }
    QCOMPARE(pace.entryCount(), 1);
}

void tst_ReplicatorRules::paceEndsWith_data()
{
    QTest::addColumn<QString>("namespaceUid");
    QTest::addColumn<QByteArray>("digest");
    QTest::addColumn<qint64>("quietMs");
    QTest::addColumn<qint64>("remainingMs");
    QTest::newRow("nothing") << u"n1"_s << QByteArray("v1") << qint64(500) << qint64(1500);
    QTest::newRow("new content") << u"n1"_s << QByteArray("v2") << qint64(500) << qint64(0);
    QTest::newRow("a namespace made anew")
        << u"n2"_s << QByteArray("v1") << qint64(500) << qint64(0);
    QTest::newRow("quiet minutes") << u"n1"_s << QByteArray("v1") << qint64(600'001) << qint64(0);
}

void tst_ReplicatorRules::paceEndsWith()
{
    QFETCH(const QString, namespaceUid);
    QFETCH(const QByteArray, digest);
    QFETCH(const qint64, quietMs);
    QFETCH(const qint64, remainingMs);
    StandingClock clock;
    RestorePace pace{Clock(clock)};
    const ObjectKey x{u"src"_s, u"x"_s};
    for (int i = 0; i < 3; ++i)
        pace.written(x, u"n1"_s, "v1");
    clock.now += std::chrono::milliseconds(quietMs);
    QCOMPARE(pace.remaining(x, namespaceUid, digest).count(), remainingMs);
    QCOMPARE(pace.written(x, namespaceUid, digest).count(), remainingMs > 0 ? 4000 : 0);
}

void tst_ReplicatorRules::paceFreesEntries()
{
    StandingClock clock;
    RestorePace pace{Clock(clock)};
    const ObjectKey x{u"src"_s, u"x"_s};
    const ObjectKey y{u"src"_s, u"y"_s};
    for (const QString &uid : {u"n1"_s, u"n2"_s, u"n3"_s}) {
        pace.written(x, uid, "v");
        pace.written(x, uid, "v");
    }
    pace.written(y, u"n1"_s, "v");
    pace.keepOnly(x, {u"n1"_s, u"n2"_s, u"n3"_s});
    QCOMPARE(pace.entryCount(), 4);
    pace.keepOnly(x, {u"n2"_s, u"n4"_s});
    QCOMPARE(pace.entryCount(), 2);
    QCOMPARE(pace.remaining(x, u"n1"_s, "v"), 0ms);
    QCOMPARE(pace.remaining(x, u"n2"_s, "v"), 1000ms);
    pace.keepOnly(x, {});
    pace.keepOnly(ObjectKey{u"never"_s, u"seen"_s}, {});
    QCOMPARE(pace.entryCount(), 1);
    pace.keepOnly(y, {});
    QCOMPARE(pace.entryCount(), 0);
}

QTEST_GUILESS_MAIN(tst_ReplicatorRules)
#include "tst_replicatorrules.moc"
