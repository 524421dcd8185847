#include "host/resourceneeds.h"

#include <QTest>

using namespace davit;
using namespace davit::host;
using cache::WatchScope;

class tst_ResourceNeeds : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void whoAsked_data();
    void whoAsked();
    void gone();
};

static const Gvk kSecret{{}, QStringLiteral("v1"), QStringLiteral("Secret")};

void tst_ResourceNeeds::whoAsked_data()
{
    QTest::addColumn<QString>("scope"); // namespace/labels/fields/m
    QTest::addColumn<QString>("plugins");
    const auto row = [](const char *name, const char *scope, const char *plugins) {
        QTest::newRow(name) << QString::fromLatin1(scope) << QString::fromLatin1(plugins);
    };
    row("everything", "///", "all,twice");
    row("one namespace", "ops///", "all,spaces,twice");
    row("by labels, printed as they are", "/a=b,c//", "labels");
    row("by other labels", "/a=c//", "");
    row("by fields", "//metadata.name=x/", "fields");
    row("metadata alone", "///m", "metadata");
}

void tst_ResourceNeeds::whoAsked()
{
    QFETCH(const QString, scope);
    ResourceNeeds needs;
    needs.add(QStringLiteral("twice"), kSecret);
    needs.add(QStringLiteral("twice"), kSecret);
    needs.add(QStringLiteral("all"), kSecret);
    needs.add(QStringLiteral("spaces"),
        InformerRequest(kSecret).inNamespaces({QStringLiteral("ops"), QStringLiteral("dev")}));
    needs.add(
        QStringLiteral("labels"), InformerRequest(kSecret).withLabels(QStringLiteral("a = b, c")));
    needs.add(QStringLiteral("fields"),
        InformerRequest(kSecret).withFields(QStringLiteral("metadata.name=x")));
    needs.add(QStringLiteral("metadata"), InformerRequest(kSecret).payload(Payload::Metadata));
    needs.add(QStringLiteral("other"), Gvk{{}, QStringLiteral("v1"), QStringLiteral("Pod")});
    const QStringList parts = scope.split(QLatin1Char('/'));
    QTEST(needs.plugins({kSecret, parts[0], parts[1], parts[2], !parts[3].isEmpty()})
              .join(QLatin1Char(',')),
        "plugins");
}

void tst_ResourceNeeds::gone()
{
    ResourceNeeds needs;
    needs.add(QStringLiteral("a"), kSecret);
    needs.add(QStringLiteral("b"), kSecret);
    needs.remove(QStringLiteral("a"));
    QCOMPARE(needs.plugins({kSecret, {}, {}, {}, false}), QStringList(QStringLiteral("b")));
}

QTEST_GUILESS_MAIN(tst_ResourceNeeds)
#include "tst_resourceneeds.moc"
