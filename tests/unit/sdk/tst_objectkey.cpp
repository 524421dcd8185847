#include <davit/gvk.h>
#include <davit/objectkey.h>

#include <QTest>

using namespace davit;

class tst_ObjectKey : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void parses_data();
    void parses();
    void gvks_data();
    void gvks();
};

void tst_ObjectKey::parses_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("isOk");
    QTest::addColumn<ObjectKey>("key");
    const auto key = [](const char *ns, const char *name) {
        return ObjectKey{QString::fromLatin1(ns), QString::fromLatin1(name)};
    };
    QTest::newRow("cluster scope") << QStringLiteral("node-1") << true << key("", "node-1");
    QTest::newRow("namespaced") << QStringLiteral("team-a/cm") << true << key("team-a", "cm");
    QTest::newRow("empty") << QString() << true << key("", "");
    QTest::newRow("empty name") << QStringLiteral("a/") << true << key("a", "");
    QTest::newRow("empty namespace") << QStringLiteral("/a") << true << key("", "a");
    QTest::newRow("three parts") << QStringLiteral("a/b/c") << false << key("", "");
}

void tst_ObjectKey::parses()
{
    QFETCH(const QString, text);
    QFETCH(const bool, isOk);
    ObjectKey parsed;
    const Status status = parseObjectKey(text, &parsed);
    QCOMPARE(status.isOk(), isOk);
    QFETCH(const ObjectKey, key);
    QVERIFY(parsed == key);
    if (!isOk) {
        QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
        QCOMPARE(status.error().message(),
            QStringLiteral(
                "unexpected key format: \"a/b/c\"; write namespace/name, or name alone"));
    } else if (!text.startsWith(u'/')) {
        QCOMPARE(toString(key), text);
    }
}

void tst_ObjectKey::gvks_data()
{
    QTest::addColumn<QString>("apiVersionText");
    QTest::addColumn<Gvk>("gvk");
    QTest::addColumn<QString>("printed");
    QTest::newRow("core") << QStringLiteral("v1")
                          << Gvk{QString(), QStringLiteral("v1"), QStringLiteral("Pod")}
                          << QStringLiteral("v1 Pod");
    QTest::newRow("group") << QStringLiteral(
        "apps/v1") << Gvk{QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Pod")}
                           << QStringLiteral("apps/v1 Pod");
}

void tst_ObjectKey::gvks()
{
    QFETCH(const QString, apiVersionText);
    const Gvk read = gvkFrom(apiVersionText, u"Pod");
    QFETCH(const Gvk, gvk);
    QVERIFY(read == gvk);
    QTEST(toString(gvk), "printed");
    QCOMPARE(apiVersion(gvk), apiVersionText);
}

QTEST_GUILESS_MAIN(tst_ObjectKey)
#include "tst_objectkey.moc"
