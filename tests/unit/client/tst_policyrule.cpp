#include "client/policyrule.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

using namespace davit;
using namespace davit::client;

namespace {

QStringList textsOf(const QJsonValue &list)
{
    return list.toVariant().toStringList();
}

std::vector<PolicyRule> rulesOf(const QByteArray &json)
{
    std::vector<PolicyRule> rules;
    const QJsonArray entries = QJsonDocument::fromJson(json).array();
    for (const QJsonValue &entry : entries)
        rules.push_back({textsOf(entry[QStringLiteral("apiGroups")]),
            textsOf(entry[QStringLiteral("resources")]),
            textsOf(entry[QStringLiteral("resourceNames")]),
            textsOf(entry[QStringLiteral("verbs")]),
            textsOf(entry[QStringLiteral("nonResourceURLs")])});
    return rules;
}

} // namespace

class tst_PolicyRule : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void allows_data();
    void allows();
    void namesTheMissingRule();
    void exactNames_data();
    void exactNames();
};

void tst_PolicyRule::allows_data()
{
    QTest::addColumn<QByteArray>("rules");
    QTest::addColumn<QStringList>("request"); // verb, group, resource, subresource, name, path
    QTest::addColumn<bool>("isAllowed");
    const auto row = [](const char *name, const char *rules, const char *request, bool isAllowed) {
        QTest::newRow(name) << QByteArray(rules) << QString::fromLatin1(request).split(u' ')
                            << isAllowed;
    };
    const char secrets[]
        = R"([{"apiGroups":[""],"resources":["secrets"],"verbs":["get","create"]}])";
    row("named verb", secrets, "get  secrets  x", true);
    row("second verb", secrets, "create  secrets  ", true);
    row("another verb", secrets, "delete  secrets  x", false);
    row("another resource", secrets, "get  pods  x", false);
    row("another group", secrets, "get apps secrets  x", false);
    row("subresource is not covered by its resource",
        R"([{"apiGroups":[""],"resources":["pods"],"verbs":["*"]}])", "update  pods status x",
        false);
    row("named subresource", R"([{"apiGroups":[""],"resources":["pods/status"],"verbs":["*"]}])",
        "update  pods status x", true);
    row("subresource of every resource",
        R"([{"apiGroups":["*"],"resources":["*/scale"],"verbs":["patch"]}])",
        "patch apps deployments scale x", true);
    row("subresource rule does not cover the resource",
        R"([{"apiGroups":["*"],"resources":["*/scale"],"verbs":["patch"]}])",
        "patch apps deployments  x", false);
    row("everything", R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}])",
        "update demo.example widgets status x", true);
    const char named[]
        = R"([{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],"verbs":["*"]}])";
    row("resource name", named, "get  configmaps  a", true);
    row("another name", named, "get  configmaps  b", false);
    row("a name cannot cover create", named, "create  configmaps  ", false);
    row("a name cannot cover list", named, "list  configmaps  ", false);
    row("a name covers a list of that name", named, "list  configmaps  a", true);
    row("a name covers a watch of that name", named, "watch  configmaps  a", true);
    row("second of two rules",
        R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]},
            {"apiGroups":["apps"],"resources":["deployments"],"verbs":["get"]}])",
        "get apps deployments  x", true);
    row("no rules", "[]", "get  pods  x", false);
    const char paths[] = R"([{"nonResourceURLs":["/version","/healthz/*"],"verbs":["get"]}])";
    row("a path", paths, "get     /version", true);
    row("another path", paths, "get     /metrics", false);
    row("a path below a star", paths, "get     /healthz/etcd", true);
    row("a path above a star", paths, "get     /healthz", false);
    row("a path with another verb", paths, "post     /version", false);
    row("resources do not cover paths", R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}])",
        "get     /version", false);
    row("paths do not cover resources", R"([{"nonResourceURLs":["*"],"verbs":["*"]}])",
        "get  pods  x", false);
}

void tst_PolicyRule::allows()
{
    QFETCH(const QByteArray, rules);
    QFETCH(const QStringList, request);
    const AccessRequest access{
        request[0], request[1], request[2], request[3], request[4], request.value(5)};
    QTEST(Rbac(rulesOf(rules)).allows(access), "isAllowed");
}

void tst_PolicyRule::namesTheMissingRule()
{
    const Status status = Rbac().check(QStringLiteral("update ConfigMap team-a/x"),
        {QStringLiteral("update"), QString(), QStringLiteral("configmaps"),
            QStringLiteral("status"), QStringLiteral("x")});
    QCOMPARE(status.error().code(), ErrorCode::MissingRbac);
    QCOMPARE(status.error().message(),
        QStringLiteral("update ConfigMap team-a/x: the plugin's metadata lacks the Rbac rule "
                       "{\"apiGroups\": [\"\"], \"resources\": [\"configmaps/status\"], \"verbs\": "
                       "[\"update\"]}; nothing was sent"));
    QCOMPARE(Rbac()
                 .check(QStringLiteral("get /version"),
                     {QStringLiteral("get"), {}, {}, {}, {}, QStringLiteral("/version")})
                 .error()
                 .message(),
        QStringLiteral("get /version: the plugin's metadata lacks the Rbac rule "
                       "{\"nonResourceURLs\": [\"/version\"], \"verbs\": [\"get\"]}; nothing was "
                       "sent"));
}

void tst_PolicyRule::exactNames_data() // as Kubernetes' request info takes it from the selector
{
    QTest::addColumn<QString>("selector");
    QTest::addColumn<QString>("name");
    const auto row = [](const char *selector, const char *name) {
        QTest::newRow(selector) << QString::fromLatin1(selector) << QString::fromLatin1(name);
    };
    row("metadata.name=a", "a");
    row("metadata.name==a", "a");
    row("metadata.namespace=n,metadata.name=a", "a");
    row("metadata.name!=a", "");
    row("metadata.namespace=a", "");
    row("status.phase=x\\,metadata.name\\=a", "");
    row("metadata.name", "");
    row("", "");
}

void tst_PolicyRule::exactNames()
{
    QFETCH(const QString, selector);
    QTEST(exactName(selector), "name");
}

QTEST_GUILESS_MAIN(tst_PolicyRule)
#include "tst_policyrule.moc"
