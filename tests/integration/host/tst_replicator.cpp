// The replicator in the real davit process, on the embedded server or DAVIT_REAL_KUBECONFIG.
#include "replicatorrig.h"

#include <QElapsedTimer>
#include <QTest>

using namespace Qt::StringLiterals;

class tst_Replicator : public QObject, private ReplicatorRig
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void init();

    void copies_data();
    void copies();
    void everythingIsCopied_data();
    void everythingIsCopied();
    void deniedNamespace();
    void configuredDenied_data();
    void configuredDenied();
    void wrongConfiguration();
    void badPatterns();
    void sourceChanges();
    void copyIsRestored_data();
    void copyIsRestored();
    void othersLabelsStay();
    void namespaceAppears();
    void namespaceIsMadeAnew();
    void copyIsRemoved_data();
    void copyIsRemoved();
    void damagedOrphan_data();
    void damagedOrphan();
    void foreignObject_data();
    void foreignObject();
    void clones();
    void cannotBeChanged_data();
    void cannotBeChanged();
    void twoSources();
    void neverCopiedSource();
    void terminatingNamespace();
    void orphansAtStart();
    void fightOverCopy_data();
    void fightOverCopy();
};

void tst_Replicator::initTestCase()
{
    QVERIFY(startServer());
    MUST(startHost());
}

void tst_Replicator::cleanupTestCase()
{
    if (host)
        MUST(stopHost());
}

void tst_Replicator::init()
{
    beginRow();
    if (!isHostPlain()) { // the row before left it so
        MUST(stopHost());
        MUST(startHost());
    }
}

void tst_Replicator::copies_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("to"); // %1: the row's prefix
    QTest::addColumn<QStringList>("wanted"); // of src, team-a, team-b, ops
    const QStringList all{u"team-a"_s, u"team-b"_s, u"ops"_s};
    const QStringList teams{u"team-a"_s, u"team-b"_s};
    QTest::newRow("Secret by glob and name") << u"Secret"_s << u"%1team-*, %1ops"_s << all;
    QTest::newRow("ConfigMap by glob") << u"ConfigMap"_s << u"%1team-*"_s << teams;
    QTest::newRow("one letter") << u"ConfigMap"_s << u"%1team-?"_s << teams;
    QTest::newRow("own namespace is no target") << u"Secret"_s << u"%1*"_s << all;
    QTest::newRow("a name that does not exist")
        << u"Secret"_s << u"%1nowhere,%1ops"_s << QStringList(u"ops"_s);
}

void tst_Replicator::copies()
{
    QFETCH(const QString, kind);
    QFETCH(const QString, to);
    QFETCH(const QStringList, wanted);
    useKind(kind);
    MUST(makeNamespaces({"src", "team-a", "team-b", "ops"}));
    MUST(createSource("src", u"x"_s, to.arg(ns("")), u"v1"_s));
    for (const QString &suffix : wanted)
        WAIT_FOR(contentOf(qPrintable(suffix), u"x"_s) == "v1"_L1);
    for (const char *suffix : {"team-a", "team-b", "ops"})
        QCOMPARE(!contentOf(suffix, u"x"_s).isEmpty(), wanted.contains(QString::fromUtf8(suffix)));
    const QByteArray first = wanted.first().toUtf8();
    QCOMPARE(marksOf(first, u"x"_s), goodMarks(first, u"x"_s));
    for (const QByteArray &suffix : {QByteArray("src"), first}) { // nothing ever hangs on us
        const QJsonObject metadata = find(suffix, u"x"_s)["metadata"_L1].toObject();
        QVERIFY(!metadata.contains("finalizers"_L1));
        QVERIFY(!metadata.contains("ownerReferences"_L1));
    }
}

void tst_Replicator::everythingIsCopied_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QJsonObject>("content");
    const QJsonObject data{{u".dockerconfigjson"_s, u"e30="_s}};
    QTest::newRow("a typed, immutable Secret")
        << u"Secret"_s
        << QJsonObject{{u"type"_s, u"kubernetes.io/dockerconfigjson"_s}, {u"data"_s, data},
               {u"immutable"_s, true}};
    QTest::newRow("a ConfigMap with binary data")
        << u"ConfigMap"_s
        << QJsonObject{{u"data"_s, QJsonObject{{u"a"_s, u"b"_s}}},
               {u"binaryData"_s, QJsonObject{{u"c"_s, u"/w=="_s}}}};
}

void tst_Replicator::everythingIsCopied()
{
    QFETCH(const QString, kind);
    QFETCH(const QJsonObject, content);
    useKind(kind);
    MUST(makeNamespaces({"src", "to"}));
    MUST(createSource("src", u"x"_s, ns("to"), {}, content));
    WAIT_FOR(!find("to", u"x"_s).isEmpty());
    QJsonObject copied = find("to", u"x"_s);
    for (const char *member : {"apiVersion", "kind", "metadata"})
        copied.remove(QLatin1StringView(member));
    QCOMPARE(copied, content);
}

void tst_Replicator::deniedNamespace()
{
    MUST(makeNamespaces({"src", "to"}));
    MUST(!api->find(u"namespaces"_s, {}, u"kube-system"_s).isEmpty());
    const QString name = ns("x"); // kube-system is everyone's
    MUST(createSource("src", name, u"kube-*,kube-system,"_s + ns("to"), u"v"_s));
    WAIT_FOR(contentOf("to", name) == "v"_L1); // written after those of kube-*
    WAIT_FOR(hasEvent("src", name, "Warning NamespaceDenied")
        && api->find(u"secrets"_s, u"kube-system"_s, name).isEmpty());
    MUST(remove("src", name));
}

void tst_Replicator::configuredDenied_data()
{
    QTest::addColumn<QString>("denied"); // %1: the row's prefix
    QTest::addColumn<QStringList>("without"); // of no-1, no-2, yes; kube-public
    QTest::newRow("a name") << u"[%1no-1]"_s << QStringList{u"no-1"_s};
    QTest::newRow("a glob and the default")
        << u"['%1no-?', 'kube-*']"_s << QStringList{u"no-1"_s, u"no-2"_s, u"kube-public"_s};
    QTest::newRow("none") << u"[]"_s << QStringList{};
}

// By the file of --config. It replaces the default, and what is denied now loses its copy.
void tst_Replicator::configuredDenied()
{
    QFETCH(const QString, denied);
    QFETCH(const QStringList, without);
    const QString name = ns("x"); // kube-public is everyone's
    MUST(makeNamespaces({"src", "no-1", "no-2", "yes"}));
    MUST(createSource("src", name, u"kube-public,"_s + ns("*"), u"v1"_s));
    for (const char *suffix : {"no-1", "no-2", "yes"})
        WAIT_FOR(contentOf(suffix, name) == "v1"_L1);
    MUST(stopHost());
    const QString configuration = u"apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n"
                                  u"plugins:\n  replicator: { deniedNamespaces: "_s
        + QString(denied).replace(u"%1"_s, ns("")) + u" }\n"_s;
    MUST(startHost(configuration.toUtf8()));
    MUST(setContent("src", name, u"v2"_s));
    for (const char *suffix : {"no-1", "no-2", "yes"})
        WAIT_FOR(contentOf(suffix, name)
            == (without.contains(QString::fromUtf8(suffix)) ? ""_L1 : "v2"_L1));
    QCOMPARE(api->find(u"secrets"_s, u"kube-public"_s, name).isEmpty(),
        without.contains(u"kube-public"_s));
    MUST(remove("src", name));
    WAIT_FOR(api->find(u"secrets"_s, u"kube-public"_s, name).isEmpty());
}

void tst_Replicator::wrongConfiguration()
{
    MUST(stopHost());
    const QByteArray configuration
        = "apiVersion: davit.dev/v1alpha1\nkind: DavitConfiguration\n"
          "plugins:\n  replicator: { deniedNamespaces: [ops, Bad_1, Bad_2] }\n";
    MUST(startHost(configuration, u"Faulted"_s));
    const QList<QJsonObject> lines = host->linesWith("plugin state", "state", u"Faulted"_s);
    const QString reason = lines.first()["reason"_L1].toString();
    QVERIFY2(reason.contains("deniedNamespaces can match no namespace: Bad_1, Bad_2;"_L1),
        qPrintable(reason));
}

// The good entries count; the note about the others stays short of an Event's 1024 bytes.
void tst_Replicator::badPatterns()
{
    MUST(makeNamespaces({"src", "to"}));
    QString to = ns("to");
    for (int i = 0; i < 300; ++i)
        to += u",Bad_%1"_s.arg(i);
    MUST(createSource("src", u"x"_s, to, u"v"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1);
    WAIT_FOR(hasEvent("src", u"x"_s, "Warning PatternMalformed"));
    const QString note = eventNotes("src", u"x"_s, "Warning PatternMalformed").first();
    QVERIFY2(note.contains(": Bad_0, Bad_1, Bad_2 and 297 more; "_L1), qPrintable(note));
}

void tst_Replicator::sourceChanges()
{
    MUST(makeNamespaces({"src", "to"}));
    MUST(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    for (int i = 2; i < 6; ++i) { // again and again: new content never waits
        const QString content = u"v%1"_s.arg(i);
        MUST(setContent("src", u"x"_s, content));
        WAIT_FOR(contentOf("to", u"x"_s) == content);
    }
}

void tst_Replicator::copyIsRestored_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<Texts>("marks"); // what someone makes of them; %1: the row's prefix
    const QString gone;
    const QString secret = u"Secret"_s;
    QTest::newRow("content of a Secret") << secret << Texts{};
    QTest::newRow("content of a ConfigMap") << u"ConfigMap"_s << Texts{};
    QTest::newRow("label changed") << secret << Texts{{kCopyLabel, u"true"_s}};
    QTest::newRow("label removed") << secret << Texts{{kCopyLabel, gone}};
    QTest::newRow("copied-from unreadable") << secret << Texts{{kCopiedFrom, u"a/b/c"_s}};
    QTest::newRow("copied-from of another") << secret << Texts{{kCopiedFrom, u"other/x"_s}};
    QTest::newRow("copied-from removed") << secret << Texts{{kCopiedFrom, gone}};
    QTest::newRow("copied-to of another") << secret << Texts{{kCopiedTo, u"other/x"_s}};
    QTest::newRow("copied-to removed") << secret << Texts{{kCopiedTo, gone}};
    QTest::newRow("source-uid changed") << secret << Texts{{kSourceUid, u"other"_s}};
    QTest::newRow("source-uid removed") << secret << Texts{{kSourceUid, gone}};
    QTest::newRow("all but the source-uid")
        << secret << Texts{{kCopyLabel, gone}, {kCopiedFrom, gone}, {kCopiedTo, gone}};
}

void tst_Replicator::copyIsRestored()
{
    QFETCH(const QString, kind);
    QFETCH(const Texts, marks);
    useKind(kind);
    MUST(makeNamespaces({"src", "to"}));
    MUST(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    const Texts good = goodMarks("to", u"x"_s);
    const QString uid = uidOf("to", u"x"_s);
    if (marks.isEmpty())
        MUST(setContent("to", u"x"_s, u"mine"_s));
    else
        MUST(editMarks("to", u"x"_s, marks));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1 && marksOf("to", u"x"_s) == good);
    QCOMPARE(uidOf("to", u"x"_s), uid);
    // Deleted, it comes back; when the source goes, it goes.
    MUST(remove("to", u"x"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    QVERIFY(uidOf("to", u"x"_s) != uid);
    MUST(remove("src", u"x"_s));
    WAIT_FOR(find("to", u"x"_s).isEmpty());
}

void tst_Replicator::othersLabelsStay()
{
    MUST(makeNamespaces({"src", "to"}));
    MUST(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    const QJsonObject mine{{u"owner"_s, u"me"_s}};
    MUST(patch("to", u"x"_s,
        {{u"metadata"_s, QJsonObject{{u"labels"_s, mine}, {u"annotations"_s, mine}}}}));
    MUST(setContent("src", u"x"_s, u"v2"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v2"_L1);
    const QJsonObject metadata = find("to", u"x"_s)["metadata"_L1].toObject();
    QCOMPARE(metadata["labels"_L1]["owner"_L1].toString(), u"me"_s);
    QCOMPARE(metadata["annotations"_L1]["owner"_L1].toString(), u"me"_s);
}

void tst_Replicator::namespaceAppears()
{
    MUST(makeNamespaces({"src"}));
    MUST(createSource("src", u"x"_s, ns("late-*"), u"v"_s));
    MUST(makeNamespaces({"late-1"}));
    WAIT_FOR(contentOf("late-1", u"x"_s) == "v"_L1);
}

// Made anew under its old name again and again, it gets its copy at once, as a new one does: that
// is no fight over the copy. Copies are written in the order of the namespaces' names.
void tst_Replicator::namespaceIsMadeAnew()
{
    MUST(makeNamespaces({"src", "to-a"}));
    MUST(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-a", u"x"_s) == "v"_L1);
    for (const char *other : {"to-b", "to-c", "to-d", "to-e"}) {
        MUST(api->remove(u"namespaces"_s, {}, ns("to-a")));
        QTRY_VERIFY_WITH_TIMEOUT(api->find(u"namespaces"_s, {}, ns("to-a")).isEmpty(), 60000);
        MUST(makeNamespaces({"to-a", other}));
        WAIT_FOR(contentOf(other, u"x"_s) == "v"_L1);
        QCOMPARE(contentOf("to-a", u"x"_s), u"v"_s);
    }
}

void tst_Replicator::copyIsRemoved_data()
{
    QTest::addColumn<QString>("what");
    QTest::newRow("the source is deleted") << u"source"_s;
    QTest::newRow("the source waits for a finalizer") << u"finalizer"_s;
    QTest::newRow("the annotation is removed") << u"annotation"_s;
    QTest::newRow("the namespace is not named any more") << u"match"_s;
}

void tst_Replicator::copyIsRemoved()
{
    QFETCH(const QString, what);
    MUST(makeNamespaces({"src", "to-1", "to-2"}));
    MUST(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-1", u"x"_s) == "v"_L1);
    WAIT_FOR(contentOf("to-2", u"x"_s) == "v"_L1);
    const auto hold = [this](const QJsonValue &finalizers) {
        return patch("src", u"x"_s, {{u"metadata"_s, QJsonObject{{u"finalizers"_s, finalizers}}}});
    };
    if (what == "finalizer"_L1)
        MUST(hold(QJsonArray{u"davit.dev/test"_s}));
    if (what == "source"_L1 || what == "finalizer"_L1)
        MUST(remove("src", u"x"_s));
    else
        MUST(editMarks(
            "src", u"x"_s, {{kToNamespaces, what == "match"_L1 ? ns("to-2") : QString()}}));
    WAIT_FOR(contentOf("to-1", u"x"_s).isEmpty());
    if (what == "match"_L1)
        QCOMPARE(contentOf("to-2", u"x"_s), u"v"_s);
    else
        WAIT_FOR(contentOf("to-2", u"x"_s).isEmpty());
    QCOMPARE(contentOf("src", u"x"_s).isEmpty(), what == "source"_L1);
    if (what == "finalizer"_L1)
        MUST(hold({}));
}

void tst_Replicator::damagedOrphan_data()
{
    QTest::addColumn<Texts>("edits"); // of the marks of a copy whose source is gone
    QTest::addColumn<bool>("isRemoved");
    const QString gone;
    QTest::newRow("untouched") << Texts{} << true;
    QTest::newRow("copied-from unreadable") << Texts{{kCopiedFrom, u"a/b/c"_s}} << true;
    QTest::newRow("copied-from removed") << Texts{{kCopiedFrom, gone}} << true;
    QTest::newRow("copied-to of another") << Texts{{kCopiedTo, u"other/x"_s}} << true;
    QTest::newRow("copied-to removed") << Texts{{kCopiedTo, gone}} << true;
    QTest::newRow("label changed") << Texts{{kCopyLabel, u"true"_s}} << true;
    QTest::newRow("label removed") << Texts{{kCopyLabel, gone}} << true;
    QTest::newRow("source-uid removed") << Texts{{kSourceUid, gone}} << true;
    QTest::newRow("the label alone")
        << Texts{{kCopiedFrom, gone}, {kCopiedTo, gone}, {kSourceUid, gone}} << false;
    QTest::newRow("a clone from elsewhere")
        << Texts{{kCopyLabel, u"other"_s}, {kCopiedTo, u"other/x"_s}} << false;
    QTest::newRow("a clone under another name")
        << Texts{{kCopiedFrom, u"other/y"_s}, {kCopiedTo, u"other/y"_s}} << false;
    QTest::newRow("no mark at all")
        << Texts{{kCopyLabel, gone}, {kCopiedFrom, gone}, {kCopiedTo, gone}, {kSourceUid, gone}}
        << false;
}

void tst_Replicator::damagedOrphan()
{
    QFETCH(const Texts, edits);
    QFETCH(const bool, isRemoved);
    MUST(makeNamespaces({"to", "fence"}));
    const auto orphanMarks = [this](const char *suffix) {
        Texts marks = goodMarks(suffix, u"x"_s);
        marks[kSourceUid] = u"of-one-that-is-gone"_s;
        return marks;
    };
    Texts marks = orphanMarks("to");
    for (auto i = edits.begin(); i != edits.end(); ++i)
        marks[i.key()] = i.value();
    marks.removeIf([](Texts::iterator mark) { return mark.value().isNull(); });
    MUST(create("to", marked(u"x"_s, u"v"_s, marks)));
    if (isRemoved)
        WAIT_FOR(find("to", u"x"_s).isEmpty());
    // Copies of one name are looked at together: when the second of these has gone, the first look
    // has ended.
    for (int i = 0; i < 2; ++i) {
        MUST(create("fence", marked(u"x"_s, u"v"_s, orphanMarks("fence"))));
        WAIT_FOR(find("fence", u"x"_s).isEmpty());
    }
    QCOMPARE(find("to", u"x"_s).isEmpty(), isRemoved);
}

void tst_Replicator::foreignObject_data()
{
    QTest::addColumn<Texts>("marks"); // %1: the row's prefix
    QTest::newRow("no mark") << Texts{};
    QTest::newRow("the label alone") << Texts{{kCopyLabel, u"%1to-1"_s}};
    QTest::newRow("another label") << Texts{{kCopyLabel, u"true"_s}};
    QTest::newRow("copied-from alone") << Texts{{kCopiedFrom, u"%1src/x"_s}};
    QTest::newRow("copied-to alone") << Texts{{kCopiedTo, u"%1to-1/x"_s}};
    QTest::newRow("a clone of another's copy") << Texts{{kCopyLabel, u"other"_s},
        {kCopiedTo, u"other/x"_s}, {kCopiedFrom, u"else/x"_s}, {kSourceUid, u"of-another"_s}};
}

void tst_Replicator::foreignObject()
{
    QFETCH(Texts, marks);
    for (QString &text : marks)
        text.replace(u"%1"_s, ns(""));
    MUST(makeNamespaces({"src", "to-1", "to-2"}));
    MUST(create("to-1", marked(u"x"_s, u"not yours"_s, marks)));
    const QJsonObject before = find("to-1", u"x"_s);
    MUST(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-2", u"x"_s) == "v"_L1);
    WAIT_FOR(hasEvent("src", u"x"_s, "Warning TargetNotOurs"));
    QCOMPARE(host->linesWith("warning event", "object", ns("src/x")).size(), 1);
    QCOMPARE(find("to-1", u"x"_s), before);
    // What stood in the way goes: the copy comes.
    MUST(remove("to-1", u"x"_s));
    WAIT_FOR(contentOf("to-1", u"x"_s) == "v"_L1);
    MUST(remove("src", u"x"_s));
    WAIT_FOR(contentOf("to-1", u"x"_s).isEmpty());
}

// Clones of a copy, made by hand elsewhere, are a user's, until their source wants a copy there.
void tst_Replicator::clones()
{
    MUST(makeNamespaces({"src", "to", "hand", "late"}));
    MUST(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    const Texts marks = marksOf("to", u"x"_s);
    MUST(create("hand", marked(u"x"_s, u"v1"_s, marks)));
    MUST(create("late", marked(u"x"_s, u"v1"_s, marks)));
    MUST(create("to", marked(u"y"_s, u"v1"_s, marks)));
    MUST(editMarks("src", u"x"_s, {{kToNamespaces, ns("to,") + ns("late")}}));
    MUST(setContent("src", u"x"_s, u"v2"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v2"_L1);
    WAIT_FOR(contentOf("late", u"x"_s) == "v2"_L1);
    QCOMPARE(marksOf("late", u"x"_s), goodMarks("late", u"x"_s));
    MUST(remove("src", u"x"_s));
    WAIT_FOR(contentOf("to", u"x"_s).isEmpty());
    WAIT_FOR(contentOf("late", u"x"_s).isEmpty());
    QCOMPARE(contentOf("hand", u"x"_s), u"v1"_s);
    QCOMPARE(contentOf("to", u"y"_s), u"v1"_s);
}

void tst_Replicator::cannotBeChanged_data()
{
    QTest::addColumn<QJsonObject>("before"); // of the source
    QTest::addColumn<QJsonObject>("after");
    QTest::addColumn<bool>("isCopyEdited"); // else the source is made anew
    const QJsonObject immutable{{u"immutable"_s, true}};
    QTest::newRow("another type") << QJsonObject{{u"type"_s, u"Opaque"_s}}
                                  << QJsonObject{{u"type"_s, u"davit.dev/other"_s}} << false;
    QTest::newRow("immutable") << immutable << immutable << false;
    QTest::newRow("immutable no more") << immutable << QJsonObject{} << false;
    QTest::newRow("someone made the copy immutable") << QJsonObject{} << QJsonObject{} << true;
}

// The source, or its copy, is of a form that the copy cannot be changed from: it is made anew.
void tst_Replicator::cannotBeChanged()
{
    QFETCH(const QJsonObject, before);
    QFETCH(const QJsonObject, after);
    QFETCH(const bool, isCopyEdited);
    MUST(makeNamespaces({"src", "to"}));
    MUST(createSource("src", u"x"_s, ns("to"), u"v1"_s, before));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    const QString uid = uidOf("to", u"x"_s);
    if (isCopyEdited) {
        MUST(patch("to", u"x"_s, {{u"immutable"_s, true}}));
    } else {
        MUST(remove("src", u"x"_s));
        MUST(createSource("src", u"x"_s, ns("to"), u"v2"_s, after));
    }
    const QString content = isCopyEdited ? u"v1"_s : u"v2"_s;
    const auto isMadeAnew = [&] {
        const QString now = uidOf("to", u"x"_s);
        return !now.isEmpty() && now != uid;
    };
    WAIT_FOR(isMadeAnew() && contentOf("to", u"x"_s) == content);
    const QJsonObject copy = find("to", u"x"_s);
    QCOMPARE(copy["type"_L1].toString(), after.value("type"_L1).toString(u"Opaque"_s));
    QCOMPARE(copy["immutable"_L1].toBool(), after.value("immutable"_L1).toBool());
}

void tst_Replicator::twoSources()
{
    MUST(makeNamespaces({"src-1", "src-2", "to"}));
    MUST(createSource("src-2", u"x"_s, ns("to"), u"first"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "first"_L1);
    MUST(createSource("src-1", u"x"_s, ns("to"), u"second"_s));
    WAIT_FOR(hasEvent("src-1", u"x"_s, "Warning TargetClaimedTwice"));
    QCOMPARE(contentOf("to", u"x"_s), u"first"_s);
    MUST(setContent("src-1", u"x"_s, u"third"_s));
    MUST(setContent("src-2", u"x"_s, u"new"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "new"_L1);
    QVERIFY(!hasEvent("src-2", u"x"_s, "Warning TargetClaimedTwice"));
    MUST(remove("src-2", u"x"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "third"_L1);
    QCOMPARE(marksOf("to", u"x"_s)[kCopiedFrom], ns("src-1/x"));
}

// A service account's token is no rival, though it is older and asks for the same target.
void tst_Replicator::neverCopiedSource()
{
    MUST(makeNamespaces({"src-1", "src-2", "to"}));
    MUST(api->create(u"serviceaccounts"_s, ns("src-1"),
        {{u"apiVersion"_s, u"v1"_s}, {u"kind"_s, u"ServiceAccount"_s},
            {u"metadata"_s, QJsonObject{{u"name"_s, u"robot"_s}}}}));
    QJsonObject token = marked(u"x"_s, u"token"_s,
        {{kToNamespaces, ns("to")}, {u"kubernetes.io/service-account.name"_s, u"robot"_s}});
    token[u"type"_s] = u"kubernetes.io/service-account-token"_s;
    MUST(create("src-1", token));
    WAIT_FOR(hasEvent("src-1", u"x"_s, "Warning SourceNotCopied"));
    QVERIFY(find("to", u"x"_s).isEmpty());
    MUST(createSource("src-2", u"x"_s, ns("to"), u"v"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1);
    QVERIFY(!hasEvent("src-2", u"x"_s, "Warning TargetClaimedTwice"));
}

void tst_Replicator::terminatingNamespace()
{
    MUST(makeNamespaces({"src", "to-1", "to-2"}));
    // Something with a finalizer keeps the namespace in its end.
    useKind(u"ConfigMap"_s);
    const QJsonObject held{
        {u"name"_s, u"held"_s}, {u"finalizers"_s, QJsonArray{u"davit.dev/test"_s}}};
    MUST(create("to-1", object(u"held"_s, {}, u"v"_s, {{u"metadata"_s, held}})));
    MUST(api->remove(u"namespaces"_s, {}, ns("to-1")));
    MUST(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-2", u"x"_s) == "v"_L1);
    QVERIFY(contentOf("to-1", u"x"_s).isEmpty());
    QVERIFY2(host->linesWith("reconcile failed").isEmpty(), host->errorText().constData());
    MUST(patch("to-1", u"held"_s, {{u"metadata"_s, QJsonObject{{u"finalizers"_s, QJsonValue()}}}}));
}

// What happened while nobody looked.
void tst_Replicator::orphansAtStart()
{
    MUST(makeNamespaces({"src", "to-1", "to-2"}));
    for (const char *name : {"gone", "damaged", "unasked", "narrowed", "stays"})
        MUST(createSource("src", QString::fromUtf8(name), ns("to-*"), u"v"_s));
    for (const char *name : {"gone", "damaged", "unasked", "narrowed", "stays"})
        for (const char *suffix : {"to-1", "to-2"})
            WAIT_FOR(contentOf(suffix, QString::fromUtf8(name)) == "v"_L1);
    MUST(stopHost());
    MUST(remove("src", u"gone"_s));
    MUST(remove("src", u"damaged"_s));
    MUST(editMarks("to-1", u"damaged"_s, {{kCopiedFrom, u"a/b/c"_s}}));
    MUST(editMarks("to-2", u"damaged"_s, {{kCopiedTo, QString()}}));
    MUST(editMarks("src", u"unasked"_s, {{kToNamespaces, QString()}}));
    MUST(editMarks("src", u"narrowed"_s, {{kToNamespaces, ns("to-2")}}));
    MUST(setContent("to-2", u"stays"_s, u"mine"_s));
    MUST(startHost());
    for (const char *name : {"gone", "damaged", "unasked"})
        for (const char *suffix : {"to-1", "to-2"})
            WAIT_FOR(contentOf(suffix, QString::fromUtf8(name)).isEmpty());
    WAIT_FOR(contentOf("to-1", u"narrowed"_s).isEmpty());
    WAIT_FOR(contentOf("to-2", u"stays"_s) == "v"_L1);
    QCOMPARE(contentOf("to-2", u"narrowed"_s), u"v"_s);
    QCOMPARE(contentOf("to-1", u"stays"_s), u"v"_s);
}

void tst_Replicator::fightOverCopy_data()
{
    QTest::addColumn<bool>("isDeleted");
    QTest::newRow("edited") << false;
    QTest::newRow("deleted") << true;
}

// Someone changes a copy twenty times a second: it is put right at once, after 1 s, after 2 s more,
// and so on, not twenty times a second.
void tst_Replicator::fightOverCopy()
{
    QFETCH(const bool, isDeleted);
    MUST(makeNamespaces({"src", "to"}));
    MUST(createSource("src", u"x"_s, ns("to"), u"v"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1);
    QElapsedTimer timer;
    timer.start();
    int tries = 0;
    for (; timer.elapsed() < 5000 || tries < 20; ++tries) {
        if (!isDeleted)
            MUST(setContent("to", u"x"_s, QString::number(tries)));
        else if (!find("to", u"x"_s).isEmpty())
            MUST(remove("to", u"x"_s));
        QTest::qWait(50);
    }
    qsizetype most = 2; // the free one, and one that the loop's last second leaves open
    for (qint64 wait = 1000, due = wait; due <= timer.elapsed(); wait *= 2, due += wait)
        ++most;
    QCOMPARE(host->linesWith("copied", "to", ns("to/x")).size(), 1);
    const qsizetype restored = host->linesWith("restored a copy", "to", ns("to/x")).size();
    QVERIFY2(restored >= 2 && restored <= most, qPrintable(u"%1 of %2"_s.arg(restored).arg(tries)));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1); // and it is right in the end
    WAIT_FOR(hasEvent("src", u"x"_s, "Warning CopyKeepsChanging"));
    QVERIFY(!host->linesWith("warning event", "reason", u"CopyKeepsChanging"_s).isEmpty());
}

QTEST_GUILESS_MAIN(tst_Replicator)
#include "tst_replicator.moc"
