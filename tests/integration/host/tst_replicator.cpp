// The replicator, loaded from the plugin directory by the real davit process. It runs on the
// embedded server, and, with DAVIT_REAL_KUBECONFIG, on whatever cluster that file names; every row
// uses namespaces of its own.
#include "apidriver.h"
#include "hostprocess.h"

#include <testing/embeddedapiserver.h>

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTest>

using namespace Qt::StringLiterals;

class tst_Replicator : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void init();

    void copies_data();
    void copies();
    void deniedNamespace();
    void sourceChanges();
    void copyIsRestored_data();
    void copyIsRestored();
    void othersLabelsStay();
    void namespaceAppears();
    void copyIsRemoved_data();
    void copyIsRemoved();
    void foreignObject();
    void cannotBeChanged_data();
    void cannotBeChanged();
    void twoSources();
    void terminatingNamespace();
    void orphansAtStart();
    void fightOverCopy();
    void noFinalizers();

private:
    using Changes = QJsonObject;

    void startHost();
    QString ns(const char *suffix) const { return m_prefix + QString::fromUtf8(suffix); }
    // Makes the namespaces, each with the prefix of the row.
    bool namespaces(std::initializer_list<const char *> suffixes);
    QJsonObject object(const QString &kind, const QString &name, const QString &to,
        const QString &content, const QJsonObject &rest = {}) const;
    bool createSource(const char *namespaceSuffix, const QString &name, const QString &to,
        const QString &content, const QJsonObject &rest = {});
    // What the copy's "key" says; empty when there is no object, or none of that key.
    QString contentOf(const char *namespaceSuffix, const QString &name);
    QString uidOf(const char *namespaceSuffix, const QString &name);

    std::unique_ptr<davit::testing::EmbeddedApiServer> m_server;
    QTemporaryDir m_dir;
    QString m_kubeconfig;
    std::unique_ptr<ApiDriver> m_api;
    std::unique_ptr<HostProcess> m_davit;
    QString m_prefix;
    QString m_kind = u"Secret"_s;
    QString m_plural = u"secrets"_s;
    QString m_run;
    int m_row = 0;
};

// Waits for a condition and shows the host's log when it does not come.
#define WAIT_FOR(condition)                                                                        \
    QTRY_VERIFY2_WITH_TIMEOUT(                                                                     \
        condition, qPrintable(m_api->lastError + QString::fromUtf8(m_davit->errorText())), 15000)

void tst_Replicator::initTestCase()
{
    m_run = u"r%1"_s.arg(QRandomGenerator::global()->bounded(100'000, 999'999));
    m_kubeconfig = qEnvironmentVariable("DAVIT_REAL_KUBECONFIG");
    if (m_kubeconfig.isEmpty()) {
        m_server = std::make_unique<davit::testing::EmbeddedApiServer>();
        davit::Status status = m_server->start();
        QVERIFY2(status.isOk(), qPrintable(status.error().message()));
        m_kubeconfig = m_dir.filePath(u"kubeconfig"_s);
        status = m_server->writeKubeconfig(m_kubeconfig);
        QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    }
    m_api = std::make_unique<ApiDriver>(m_kubeconfig);
    startHost();
}

void tst_Replicator::startHost()
{
    m_davit = std::make_unique<HostProcess>();
    m_davit->run({u"--plugin-dir"_s, QStringLiteral(DAVIT_BUILD_DIR "/plugins"), u"--kubeconfig"_s,
        m_kubeconfig});
    QVERIFY2(m_davit->waitForLine("plugin state", "state", u"Running"_s),
        m_davit->errorText().constData());
}

void tst_Replicator::cleanupTestCase()
{
    if (m_davit)
        QCOMPARE(m_davit->stop(), 0);
}

void tst_Replicator::init()
{
    m_prefix = u"%1-%2-"_s.arg(m_run).arg(++m_row);
    m_kind = u"Secret"_s;
    m_plural = u"secrets"_s;
}

bool tst_Replicator::namespaces(std::initializer_list<const char *> suffixes)
{
    for (const char *suffix : suffixes)
        if (!m_api->createNamespace(ns(suffix)))
            return false;
    return true;
}

QJsonObject tst_Replicator::object(const QString &kind, const QString &name, const QString &to,
    const QString &content, const QJsonObject &rest) const
{
    QJsonObject metadata{{u"name"_s, name}};
    if (!to.isEmpty())
        metadata.insert(
            u"annotations"_s, QJsonObject{{u"replicator.davit.dev/to-namespaces"_s, to}});
    QJsonObject all{{u"apiVersion"_s, u"v1"_s}, {u"kind"_s, kind}, {u"metadata"_s, metadata}};
    const QString value
        = kind == "Secret"_L1 ? QString::fromLatin1(content.toUtf8().toBase64()) : content;
    all.insert(u"data"_s, QJsonObject{{u"key"_s, value}});
    for (auto i = rest.begin(); i != rest.end(); ++i)
        all.insert(i.key(), i.value());
    return all;
}

bool tst_Replicator::createSource(const char *namespaceSuffix, const QString &name,
    const QString &to, const QString &content, const QJsonObject &rest)
{
    return m_api->create(m_plural, ns(namespaceSuffix), object(m_kind, name, to, content, rest));
}

QString tst_Replicator::contentOf(const char *namespaceSuffix, const QString &name)
{
    const QString value = m_api->find(m_plural, ns(namespaceSuffix), name)["data"_L1]
                              .toObject()["key"_L1]
                              .toString();
    return m_kind == "Secret"_L1 ? QString::fromUtf8(QByteArray::fromBase64(value.toUtf8()))
                                 : value;
}

QString tst_Replicator::uidOf(const char *namespaceSuffix, const QString &name)
{
    return m_api->find(m_plural, ns(namespaceSuffix), name)["metadata"_L1]
        .toObject()["uid"_L1]
        .toString();
}

void tst_Replicator::copies_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("plural");
    QTest::addColumn<QString>("to"); // %1: the row's prefix
    QTest::addColumn<QStringList>("wanted"); // of src, team-a, team-b, ops
    const QStringList all{u"team-a"_s, u"team-b"_s, u"ops"_s};
    QTest::newRow("Secret by glob and name")
        << u"Secret"_s << u"secrets"_s << u"%1team-*, %1ops"_s << all;
    QTest::newRow("ConfigMap by glob") << u"ConfigMap"_s << u"configmaps"_s << u"%1team-*"_s
                                       << QStringList{u"team-a"_s, u"team-b"_s};
    QTest::newRow("one letter") << u"ConfigMap"_s << u"configmaps"_s << u"%1team-?"_s
                                << QStringList{u"team-a"_s, u"team-b"_s};
    QTest::newRow("own namespace is no target") << u"Secret"_s << u"secrets"_s << u"%1*"_s << all;
    QTest::newRow("a name that does not exist")
        << u"Secret"_s << u"secrets"_s << u"%1nowhere,%1ops"_s << QStringList(u"ops"_s);
}

void tst_Replicator::copies()
{
    QFETCH(const QString, kind);
    QFETCH(const QString, plural);
    QFETCH(const QString, to);
    QFETCH(const QStringList, wanted);
    m_kind = kind;
    m_plural = plural;
    QVERIFY2(namespaces({"src", "team-a", "team-b", "ops"}), qPrintable(m_api->lastError));
    QVERIFY2(createSource("src", u"x"_s, to.arg(m_prefix), u"v1"_s), qPrintable(m_api->lastError));
    for (const QString &suffix : wanted)
        WAIT_FOR(contentOf(qPrintable(suffix), u"x"_s) == "v1"_L1);
    for (const char *suffix : {"team-a", "team-b", "ops"})
        QCOMPARE(!contentOf(suffix, u"x"_s).isEmpty(), wanted.contains(QString::fromUtf8(suffix)));
    const QJsonObject metadata
        = m_api->find(plural, ns(qPrintable(wanted.first())), u"x"_s)["metadata"_L1].toObject();
    const QJsonObject annotations = metadata["annotations"_L1].toObject();
    QCOMPARE(annotations["replicator.davit.dev/copied-from"_L1].toString(), ns("src/x"));
    QCOMPARE(annotations["replicator.davit.dev/source-uid"_L1].toString(), uidOf("src", u"x"_s));
    QVERIFY(!annotations.contains("replicator.davit.dev/to-namespaces"_L1));
}

void tst_Replicator::deniedNamespace()
{
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    const QString name = m_prefix + u"x"_s;
    QVERIFY2(
        createSource("src", name, u"kube-*,"_s + ns("to"), u"v"_s), qPrintable(m_api->lastError));
    WAIT_FOR(contentOf("to", name) == "v"_L1);
    QVERIFY(m_api->find(m_plural, u"kube-system"_s, name).isEmpty());
    QVERIFY(m_api->remove(m_plural, ns("src"), name));
}

void tst_Replicator::sourceChanges()
{
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    for (int i = 2; i < 6; ++i) { // again and again: new content never waits
        const QString content = u"v%1"_s.arg(i);
        QVERIFY(m_api->mergePatch(m_plural, ns("src"), u"x"_s,
            {{u"data"_s, object(m_kind, {}, {}, content)["data"_L1]}}));
        WAIT_FOR(contentOf("to", u"x"_s) == content);
    }
}

void tst_Replicator::copyIsRestored_data()
{
    QTest::addColumn<bool>("isDeleted");
    QTest::newRow("edited") << false;
    QTest::newRow("deleted") << true;
}

void tst_Replicator::copyIsRestored()
{
    QFETCH(const bool, isDeleted);
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    const QString uid = uidOf("to", u"x"_s);
    if (isDeleted)
        QVERIFY(m_api->remove(m_plural, ns("to"), u"x"_s));
    else
        QVERIFY(m_api->mergePatch(m_plural, ns("to"), u"x"_s,
            {{u"data"_s, object(m_kind, {}, {}, u"mine"_s)["data"_L1]}}));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    QCOMPARE(uidOf("to", u"x"_s) == uid, !isDeleted);
}

void tst_Replicator::othersLabelsStay()
{
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v1"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    QVERIFY(m_api->mergePatch(m_plural, ns("to"), u"x"_s,
        {{u"metadata"_s, QJsonObject{{u"labels"_s, QJsonObject{{u"owner"_s, u"me"_s}}}}}}));
    QVERIFY(m_api->mergePatch(
        m_plural, ns("src"), u"x"_s, {{u"data"_s, object(m_kind, {}, {}, u"v2"_s)["data"_L1]}}));
    WAIT_FOR(contentOf("to", u"x"_s) == "v2"_L1);
    QCOMPARE(m_api->find(m_plural, ns("to"), u"x"_s)["metadata"_L1]
                 .toObject()["labels"_L1]
                 .toObject()["owner"_L1]
                 .toString(),
        u"me"_s);
}

void tst_Replicator::namespaceAppears()
{
    QVERIFY2(namespaces({"src"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("late-*"), u"v"_s));
    QVERIFY2(namespaces({"late-1"}), qPrintable(m_api->lastError));
    WAIT_FOR(contentOf("late-1", u"x"_s) == "v"_L1);
}

void tst_Replicator::copyIsRemoved_data()
{
    QTest::addColumn<QString>("what");
    QTest::newRow("the source is deleted") << u"source"_s;
    QTest::newRow("the annotation is removed") << u"annotation"_s;
    QTest::newRow("the namespace is not named any more") << u"match"_s;
}

void tst_Replicator::copyIsRemoved()
{
    QFETCH(const QString, what);
    QVERIFY2(namespaces({"src", "to-1", "to-2"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-1", u"x"_s) == "v"_L1);
    WAIT_FOR(contentOf("to-2", u"x"_s) == "v"_L1);
    if (what == "source"_L1) {
        QVERIFY(m_api->remove(m_plural, ns("src"), u"x"_s));
    } else {
        const QJsonValue to = what == "match"_L1 ? QJsonValue(ns("to-2")) : QJsonValue();
        QVERIFY(m_api->mergePatch(m_plural, ns("src"), u"x"_s,
            {{u"metadata"_s,
                QJsonObject{{u"annotations"_s,
                    QJsonObject{{u"replicator.davit.dev/to-namespaces"_s, to}}}}}}));
    }
    WAIT_FOR(contentOf("to-1", u"x"_s).isEmpty());
    if (what == "match"_L1)
        QCOMPARE(contentOf("to-2", u"x"_s), u"v"_s);
    else
        WAIT_FOR(contentOf("to-2", u"x"_s).isEmpty());
    QCOMPARE(contentOf("src", u"x"_s).isEmpty(), what == "source"_L1);
}

void tst_Replicator::foreignObject()
{
    QVERIFY2(namespaces({"src", "to-1", "to-2"}), qPrintable(m_api->lastError));
    QVERIFY(m_api->create(m_plural, ns("to-1"), object(m_kind, u"x"_s, {}, u"not yours"_s)));
    QVERIFY(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-2", u"x"_s) == "v"_L1);
    WAIT_FOR(m_api->eventReasons(ns("src"), u"x"_s).contains(u"TargetNotOurs"_s));
    QCOMPARE(contentOf("to-1", u"x"_s), u"not yours"_s);
    // A clone of a copy, made by hand in another namespace, is not ours either.
    QVERIFY2(namespaces({"hand"}), qPrintable(m_api->lastError));
    QJsonObject clone = m_api->find(m_plural, ns("to-2"), u"x"_s);
    QJsonObject metadata = clone["metadata"_L1].toObject();
    for (const char *member :
        {"namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"})
        metadata.remove(QLatin1StringView(member));
    clone["metadata"_L1] = metadata;
    QVERIFY2(m_api->create(m_plural, ns("hand"), clone), qPrintable(m_api->lastError));
    // What stood in the way goes: the copy comes.
    QVERIFY(m_api->remove(m_plural, ns("to-1"), u"x"_s));
    WAIT_FOR(contentOf("to-1", u"x"_s) == "v"_L1);
    QVERIFY(m_api->remove(m_plural, ns("src"), u"x"_s));
    WAIT_FOR(contentOf("to-1", u"x"_s).isEmpty());
    QCOMPARE(contentOf("hand", u"x"_s), u"v"_s);
}

void tst_Replicator::cannotBeChanged_data()
{
    QTest::addColumn<Changes>("before");
    QTest::addColumn<Changes>("after");
    QTest::newRow("another type") << Changes{{u"type"_s, u"Opaque"_s}}
                                  << Changes{{u"type"_s, u"davit.dev/other"_s}};
    QTest::newRow("immutable") << Changes{{u"immutable"_s, true}}
                               << Changes{{u"immutable"_s, true}};
    QTest::newRow("immutable no more") << Changes{{u"immutable"_s, true}} << Changes{};
}

// The source was made anew in a form that its copy cannot be changed into.
void tst_Replicator::cannotBeChanged()
{
    QFETCH(const Changes, before);
    QFETCH(const Changes, after);
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v1"_s, before));
    WAIT_FOR(contentOf("to", u"x"_s) == "v1"_L1);
    const QString uid = uidOf("to", u"x"_s);
    QVERIFY(m_api->remove(m_plural, ns("src"), u"x"_s));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v2"_s, after));
    WAIT_FOR(contentOf("to", u"x"_s) == "v2"_L1);
    QVERIFY(uidOf("to", u"x"_s) != uid);
    const QJsonObject copy = m_api->find(m_plural, ns("to"), u"x"_s);
    QCOMPARE(copy["type"_L1].toString(), after.value("type"_L1).toString(u"Opaque"_s));
    QCOMPARE(copy["immutable"_L1].toBool(), after.value("immutable"_L1).toBool());
}

void tst_Replicator::twoSources()
{
    QVERIFY2(namespaces({"src-1", "src-2", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src-1", u"x"_s, ns("to"), u"first"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "first"_L1);
    QVERIFY(createSource("src-2", u"x"_s, ns("to"), u"second"_s));
    WAIT_FOR(m_api->eventReasons(ns("src-2"), u"x"_s).contains(u"TargetClaimedTwice"_s));
    QCOMPARE(contentOf("to", u"x"_s), u"first"_s);
    QVERIFY(m_api->remove(m_plural, ns("src-1"), u"x"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "second"_L1);
}

void tst_Replicator::terminatingNamespace()
{
    QVERIFY2(namespaces({"src", "to-1", "to-2"}), qPrintable(m_api->lastError));
    // Something with a finalizer keeps the namespace in its end.
    QJsonObject held = object(u"ConfigMap"_s, u"held"_s, {}, u"v"_s);
    QJsonObject metadata = held["metadata"_L1].toObject();
    metadata["finalizers"_L1] = QJsonArray{u"davit.dev/test"_s};
    held["metadata"_L1] = metadata;
    QVERIFY2(m_api->create(u"configmaps"_s, ns("to-1"), held), qPrintable(m_api->lastError));
    QVERIFY2(m_api->remove(u"namespaces"_s, {}, ns("to-1")), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-2", u"x"_s) == "v"_L1);
    QVERIFY(contentOf("to-1", u"x"_s).isEmpty());
    QVERIFY2(m_davit->linesWith("reconcile failed").isEmpty(), m_davit->errorText().constData());
    QVERIFY(m_api->mergePatch(u"configmaps"_s, ns("to-1"), u"held"_s,
        {{u"metadata"_s, QJsonObject{{u"finalizers"_s, QJsonValue()}}}}));
}

void tst_Replicator::orphansAtStart()
{
    QVERIFY2(namespaces({"src", "to-1", "to-2"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"gone"_s, ns("to-*"), u"v"_s));
    QVERIFY(createSource("src", u"stays"_s, ns("to-*"), u"v"_s));
    WAIT_FOR(contentOf("to-1", u"gone"_s) == "v"_L1);
    WAIT_FOR(contentOf("to-2", u"stays"_s) == "v"_L1);
    QCOMPARE(m_davit->stop(), 0);
    QVERIFY(m_api->remove(m_plural, ns("src"), u"gone"_s));
    QVERIFY(m_api->mergePatch(m_plural, ns("to-2"), u"stays"_s,
        {{u"data"_s, object(m_kind, {}, {}, u"mine"_s)["data"_L1]}}));
    startHost();
    WAIT_FOR(contentOf("to-1", u"gone"_s).isEmpty());
    WAIT_FOR(contentOf("to-2", u"gone"_s).isEmpty());
    WAIT_FOR(contentOf("to-2", u"stays"_s) == "v"_L1);
}

// Someone writes to a copy twenty times a second: it is put right at once, after 1 s, after 2 s
// more, and so on, not twenty times a second.
void tst_Replicator::fightOverCopy()
{
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1);
    const QString target = ns("to/x");
    QElapsedTimer timer;
    timer.start();
    int edits = 0;
    while (timer.elapsed() < 5000) {
        QVERIFY2(m_api->mergePatch(m_plural, ns("to"), u"x"_s,
                     {{u"data"_s, object(m_kind, {}, {}, QString::number(++edits))["data"_L1]}}),
            qPrintable(m_api->lastError));
        QTest::qWait(50);
    }
    const qsizetype restored = m_davit->linesWith("put a copy right", "to", target).size();
    QVERIFY2(edits > 20, qPrintable(QString::number(edits)));
    QVERIFY2(restored >= 2 && restored <= 4, qPrintable(u"%1 of %2"_s.arg(restored).arg(edits)));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1); // and it is right in the end
    WAIT_FOR(m_api->eventReasons(ns("src"), u"x"_s).contains(u"CopyKeepsChanging"_s));
}

// No object of a user ever hangs on us.
void tst_Replicator::noFinalizers()
{
    QVERIFY2(namespaces({"src", "to"}), qPrintable(m_api->lastError));
    QVERIFY(createSource("src", u"x"_s, ns("to"), u"v"_s));
    WAIT_FOR(contentOf("to", u"x"_s) == "v"_L1);
    for (const char *suffix : {"src", "to"}) {
        const QJsonObject metadata
            = m_api->find(m_plural, ns(suffix), u"x"_s)["metadata"_L1].toObject();
        QVERIFY(!metadata.contains("finalizers"_L1));
        QVERIFY(!metadata.contains("ownerReferences"_L1));
    }
}

QTEST_GUILESS_MAIN(tst_Replicator)
#include "tst_replicator.moc"
