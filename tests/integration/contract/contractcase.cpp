#include "contractcase.h"

#include <QFile>
#include <QJsonArray>
#include <QRandomGenerator>
#include <QTest>
#include <QUrl>

ContractServer::ContractServer(const QString &name)
{
    if (name == QLatin1String("embedded")) {
        m_embedded = std::make_unique<davit::testing::EmbeddedApiServer>();
        const davit::Status status = m_embedded->start();
        if (!status.isOk())
            qFatal("%s", qPrintable(status.error().message()));
        m_address = ApiAddress::fromKubeconfig(m_embedded->kubeconfig());
        return;
    }
    QFile file(qEnvironmentVariable("DAVIT_REAL_KUBECONFIG"));
    if (file.open(QIODevice::ReadOnly))
        m_address = ApiAddress::fromKubeconfig(file.readAll());
}

// The real server's etcd listens one port above it (tests/controlplane/start) and is told to
// compact.
void ContractServer::forgetHistory()
{
    if (m_embedded) {
        m_embedded->expireHistory();
        return;
    }
    const QUrl url(QString::fromUtf8(m_address.server));
    const ApiAddress etcd{"http://127.0.0.1:" + QByteArray::number(url.port() + 1), {}, {}, {}};
    const ApiAnswer state = apiCall(etcd, "POST", "/v3/maintenance/status", "{}");
    const QByteArray revision = text(state, "header.revision").toLatin1();
    apiCall(etcd, "POST", "/v3/kv/compaction", R"({"revision":")" + revision + R"("})");
}

ApiAnswer ContractServer::get(const QByteArray &target, const QByteArray &accept) const
{
    return apiCall(m_address, "GET", target, {}, {}, accept);
}

ApiAnswer ContractServer::post(const QByteArray &target, const QByteArray &body) const
{
    return apiCall(m_address, "POST", target, body);
}

ApiAnswer ContractServer::put(const QByteArray &target, const QByteArray &body) const
{
    return apiCall(m_address, "PUT", target, body);
}

ApiAnswer ContractServer::patch(
    const QByteArray &target, const QByteArray &type, const QByteArray &body) const
{
    return apiCall(m_address, "PATCH", target, body, "application/" + type);
}

ApiAnswer ContractServer::remove(const QByteArray &target, const QByteArray &options) const
{
    return apiCall(m_address, "DELETE", target, options);
}

bool ContractServer::waitForCode(const QByteArray &target, int code) const
{
    // The real server's controllers take a moment; the embedded one is done at once.
    return QTest::qWaitFor([&] { return get(target).code == code; }, 30000);
}

QByteArray ContractServer::newNamespace(const QByteArray &prefix) const
{
    const QByteArray name
        = prefix + '-' + QByteArray::number(QRandomGenerator::global()->generate(), 36);
    const ApiAnswer made = post("/api/v1/namespaces", R"({"metadata":{"name":")" + name + R"("}})");
    return made.code == 201 ? name : QByteArray();
}

bool ContractServer::serveWidgets() const
{
    const ApiAnswer made = post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
        "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
        "metadata":{"name":"widgets.contract.davit.dev"},
        "spec":{"group":"contract.davit.dev","scope":"Namespaced",
          "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
          "versions":[{"name":"v1","served":true,"storage":true,
            "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
            "schema":{"openAPIV3Schema":{"type":"object","properties":{
              "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
              "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})");
    if (made.code != 201 && made.code != 409)
        return false;
    return waitForCode("/apis/contract.davit.dev/v1/namespaces/default/widgets", 200);
}

QJsonValue at(const QJsonObject &object, const char *dotted)
{
    QJsonValue value = object;
    for (const QString &part : QString::fromLatin1(dotted).split(QLatin1Char('.')))
        value = value.isArray() ? value.toArray().at(part.toInt()) : value.toObject().value(part);
    return value;
}

QString text(const ApiAnswer &answer, const char *dotted)
{
    return at(answer.json(), dotted).toString();
}

QByteArray configMap(const QByteArray &name, const QByteArray &rest)
{
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},)" + rest
        + '}';
}

QByteArray asJson(const QJsonObject &object)
{
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

QByteArray spaced(const QByteArray &space, const QByteArray &plural)
{
    return "/api/v1/namespaces/" + space + '/' + plural;
}

QByteArray percent(const QByteArray &value)
{
    return value.toPercentEncoding();
}

QByteArray widget(const QByteArray &name, const QByteArray &rest)
{
    return R"({"apiVersion":"contract.davit.dev/v1","kind":"Widget","metadata":{"name":")" + name
        + R"("},)" + rest + '}';
}

QByteArray deployment(const QByteArray &name)
{
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name
        + R"("},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},
            "template":{"metadata":{"labels":{"app":"x"}},
              "spec":{"containers":[{"name":"c","image":"example/app:1","env":[{"name":"A","value":"1"}]}]}}}})";
}

QString version(const ApiAnswer &answer)
{
    return text(answer, "metadata.resourceVersion");
}

QStringList names(const ApiAnswer &list)
{
    QStringList result;
    for (const auto &item : list.json()[QLatin1String("items")].toArray())
        result.append(at(item.toObject(), "metadata.name").toString());
    return result;
}
