#include "pluginhost/pluginmetadata.h"

#include <QTest>
#include <QtCore/qfile.h>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>

using namespace davit;
using namespace davit::pluginhost;

namespace {

const QString kFile = QStringLiteral("/plugins/x.so");

QJsonObject parsed(const QByteArray &json)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(json, &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("%s", qUtf8Printable(error.errorString()));
    return document.object();
}

// A member's path in a schema: "Resources[].kind".
QStringList membersOf(const QJsonObject &schema, const QString &path)
{
    QStringList members;
    const QJsonObject properties = schema.value(QStringLiteral("properties")).toObject();
    for (auto it = properties.begin(); it != properties.end(); ++it) {
        const QString member = path + it.key();
        members.append(member);
        const QJsonObject items = it.value().toObject().value(QStringLiteral("items")).toObject();
        members += membersOf(items, member + QStringLiteral("[]."));
    }
    return members;
}

} // namespace

class tst_PluginMetadata : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void whole();
    void least();
    void payloads_data();
    void payloads();
    void faults_data();
    void faults();
    void agreesWithTheSchema();
    void plurals_data();
    void plurals();
};

void tst_PluginMetadata::whole()
{
    PluginMetadata m;
    const Status status = readPluginMetadata(kFile, parsed(R"({
      "Id": "replicator", "Version": "1.2.0", "CompatVersion": "1.0.0", "SdkAbi": 1,
      "Description": "Copies", "Dependencies": [ { "Id": "other", "Version": "1.0.0" } ],
      "Resources": [ { "group": "apps", "version": "v1", "kind": "Deployment", "namespaces": ["a"],
        "labelSelector": "app=web", "fieldSelector": "metadata.name=x", "payload": "metadata",
        "optional": true } ],
      "Rbac": [ { "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"] } ],
      "Crds": [ "crds/thing.yaml" ], "ConfigSchema": { "type": "object" } })"),
        &m);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QCOMPARE(m.id, QStringLiteral("replicator"));
    QCOMPARE(m.version, QVersionNumber(1, 2, 0));
    QCOMPARE(m.compatVersion, QVersionNumber(1, 0, 0));
    QCOMPARE(m.sdkAbi, 1);
    QCOMPARE(m.description, QStringLiteral("Copies"));
    QCOMPARE(m.dependencies.value(0).id, QStringLiteral("other"));
    QCOMPARE(m.dependencies.value(0).version, QVersionNumber(1, 0, 0));
    const DeclaredResource resource = m.resources.value(0);
    QCOMPARE(toString(resource.gvk), QStringLiteral("apps/v1 Deployment"));
    QCOMPARE(resource.plural, QStringLiteral("deployments"));
    QCOMPARE(resource.namespaces, QStringList{QStringLiteral("a")});
    QCOMPARE(resource.labelSelector, QStringLiteral("app=web"));
    QCOMPARE(resource.payload, Payload::Metadata);
    QVERIFY(resource.isOptional);
    QCOMPARE(m.rbac.at(0).verbs, QStringList({QStringLiteral("get"), QStringLiteral("list")}));
    QCOMPARE(m.crds, QStringList{QStringLiteral("crds/thing.yaml")});
}

void tst_PluginMetadata::least()
{
    PluginMetadata m;
    QVERIFY(readPluginMetadata(kFile, parsed(R"({"Id":"a","Version":"1.2.0","SdkAbi":1,
                   "Resources":[{"version":"v1","kind":"Pod"}]})"),
        &m)
                .isOk());
    QCOMPARE(m.compatVersion, m.version);
    QCOMPARE(m.resources.value(0).payload, Payload::Full);
    QVERIFY(!m.resources.value(0).isOptional);
    QVERIFY(m.resources.value(0).namespaces.isEmpty());
}

void tst_PluginMetadata::payloads_data()
{
    QTest::addColumn<QByteArray>("resource");
    QTest::addColumn<Payload>("payload");
    const auto row = [](const char *name, const char *resource, Payload payload) {
        QTest::newRow(name) << QByteArray(resource) << payload;
    };
    row("left out", R"("version":"v1","kind":"ConfigMap")", Payload::Full);
    row("left out, of a Secret", R"("version":"v1","kind":"Secret")", Payload::Metadata);
    row("full Secrets", R"("version":"v1","kind":"Secret","payload":"full")", Payload::Full);
    row("metadata", R"("version":"v1","kind":"Pod","payload":"metadata")", Payload::Metadata);
    row("a Secret of another group", R"("group":"x.io","version":"v1","kind":"Secret")",
        Payload::Full);
}

void tst_PluginMetadata::payloads()
{
    QFETCH(const QByteArray, resource);
    PluginMetadata m;
    QVERIFY(readPluginMetadata(kFile,
        parsed(R"({"Id":"a","Version":"1.2.0","SdkAbi":1,"Resources":[{)" + resource + "}]}"), &m)
                .isOk());
    QTEST(m.resources.value(0).payload, "payload");
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_PluginMetadata::faults_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char *name, const char *members, const char *fault) {
        QTest::newRow(name) << '{' + QByteArray(members) + '}' << QString::fromLatin1(fault);
    };
    // Each with the rest as it should be.
    const auto rest = [&](const char *name, const char *members, const char *fault) {
        QTest::newRow(name) << R"({"Id":"a","Version":"1.0.0","SdkAbi":1,)" + QByteArray(members)
                + '}' << QString::fromLatin1(fault);
    };
    row("empty", "", "Id is missing");
    row("no version", R"("Id":"a","SdkAbi":1)", "Version is missing");
    row("no ABI", R"("Id":"a","Version":"1.0.0")", "SdkAbi is missing");
    row("Id is a number", R"("Id":1,"Version":"1.0.0","SdkAbi":1)", "Id must be a string");
    row("Id is empty", R"("Id":"","Version":"1.0.0","SdkAbi":1)", "Id must not be empty");
    row("Id with a slash", R"("Id":"a/b","Version":"1.0.0","SdkAbi":1)",
        "Id must be 1 to 63 lower-case letters, digits and dashes, not \"a/b\"");
    row("version of two parts", R"("Id":"a","Version":"1.0","SdkAbi":1)",
        "Version must be a version such as 1.2.0, not \"1.0\"");
    row("version with a suffix", R"("Id":"a","Version":"1.0.0-rc1","SdkAbi":1)",
        "Version must be a version such as 1.2.0, not \"1.0.0-rc1\"");
    row("ABI is a text", R"("Id":"a","Version":"1.0.0","SdkAbi":"1")",
        "SdkAbi must be a whole number");
    row("ABI is a fraction", R"("Id":"a","Version":"1.0.0","SdkAbi":1.5)",
        "SdkAbi must be a whole number");
    row("ABI is zero", R"("Id":"a","Version":"1.0.0","SdkAbi":0)", "SdkAbi must be 1 or more");
    rest("unknown member", R"("Resorces":[])",
        "Resorces is not a known field; did you mean Resources?");
    rest("unknown member of another case", R"("crds":[])",
        "crds is not a known field; did you mean Crds?");
    rest("unknown member like none", R"("Author":"me")", "Author is not a known field; remove it");
    rest("unknown member like one that is there", R"("Ids":"b")",
        "Ids is not a known field; remove it");
    rest("compatible with the future", R"("CompatVersion":"2.0.0")",
        "CompatVersion is newer than Version");
    rest("dependency without version", R"("Dependencies":[{"Id":"b"}])",
        "Dependencies[0].Version is missing");
    rest("dependencies by name", R"("Dependencies":["b"])",
        "Dependencies must be a list of objects");
    rest("resources no list", R"("Resources":{})", "Resources must be a list of objects");
    rest("resource without kind", R"("Resources":[{"version":"v1"}])",
        "Resources[0].kind is missing");
    rest("resource of unknown payload",
        R"("Resources":[{"version":"v1","kind":"Pod","payload":"half"}])",
        "Resources[0].payload must be \"full\" or \"metadata\", not \"half\"");
    rest("resource with unknown member",
        R"("Resources":[{"version":"v1","kind":"Pod","namespace":"a"}])",
        "Resources[0].namespace is not a known field; did you mean namespaces?");
    rest("resource with an empty namespace",
        R"("Resources":[{"version":"v1","kind":"Pod","namespaces":[""]}])",
        "Resources[0].namespaces has an empty name; leave the list empty for all");
    rest("resource with wrong labels",
        R"("Resources":[{"version":"v1","kind":"Pod","labelSelector":"a=1,"}])",
        "Resources[0].labelSelector is wrong: label selector \"a=1,\": found the end where '!' or "
        "a label name is expected");
    rest("resource with wrong fields",
        R"("Resources":[{"version":"v1","kind":"Pod","fieldSelector":"a"}])",
        "Resources[0].fieldSelector is wrong: field selector \"a\": cannot understand \"a\"");
    rest("optional is a text", R"("Resources":[{"version":"v1","kind":"Pod","optional":"yes"}])",
        "Resources[0].optional must be true or false");
    rest("the second resource",
        R"("Resources":[{"version":"v1","kind":"Pod"},{"version":"","kind":"Pod"}])",
        "Resources[1].version must not be empty");
    rest("twice the same kind",
        R"("Resources":[{"version":"v1","kind":"Pod"},{"version":"v1","kind":"Pod"}])",
        "Resources[1].kind declares v1 Pod twice");
    rest("rule without verbs", R"("Rbac":[{"apiGroups":[""],"resources":["pods"]}])",
        "Rbac[0].verbs is missing");
    rest("rule with no verb", R"("Rbac":[{"verbs":[]}])", "Rbac[0].verbs must not be empty");
    rest("verb is a number", R"("Rbac":[{"verbs":["get",1]}])",
        "Rbac[0].verbs must be a list of strings");
    rest("CRDs no list", R"("Crds":"a.yaml")", "Crds must be a list of strings");
    rest("schema no object", R"("ConfigSchema":[])", "ConfigSchema must be an object");
    rest("schema with a keyword that is not supported", R"("ConfigSchema":{"oneOf":[]})",
        "ConfigSchema is wrong: oneOf: the keyword is not supported");
}

void tst_PluginMetadata::faults()
{
    QFETCH(const QByteArray, json);
    QFETCH(const QString, fault);
    PluginMetadata m;
    m.id = QStringLiteral("untouched");
    const Status status = readPluginMetadata(kFile, parsed(json), &m);
    QCOMPARE(status.error().code(), ErrorCode::InvalidConfiguration);
    QCOMPARE(status.error().message(), QStringLiteral("/plugins/x.so: metadata field ") + fault);
    QCOMPARE(m.id, QStringLiteral("untouched"));
}

// Each member that the schema names is known to the reader, and none else.
void tst_PluginMetadata::agreesWithTheSchema()
{
    QFile file(QStringLiteral(DAVIT_SOURCE_DIR "/sdk/metadata.schema.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QStringList members = membersOf(parsed(file.readAll()), QString());
    members.sort();
    QStringList expected = {QStringLiteral("Id"), QStringLiteral("Version"),
        QStringLiteral("CompatVersion"), QStringLiteral("SdkAbi"), QStringLiteral("Description"),
        QStringLiteral("Dependencies"), QStringLiteral("Dependencies[].Id"),
        QStringLiteral("Dependencies[].Version"), QStringLiteral("Resources"),
        QStringLiteral("Resources[].group"), QStringLiteral("Resources[].version"),
        QStringLiteral("Resources[].kind"), QStringLiteral("Resources[].resource"),
        QStringLiteral("Resources[].namespaces"), QStringLiteral("Resources[].labelSelector"),
        QStringLiteral("Resources[].fieldSelector"), QStringLiteral("Resources[].payload"),
        QStringLiteral("Resources[].optional"), QStringLiteral("Rbac"),
        QStringLiteral("Rbac[].apiGroups"), QStringLiteral("Rbac[].resources"),
        QStringLiteral("Rbac[].resourceNames"), QStringLiteral("Rbac[].nonResourceURLs"),
        QStringLiteral("Rbac[].verbs"), QStringLiteral("Crds"), QStringLiteral("ConfigSchema")};
    expected.sort();
    QCOMPARE(members, expected);
    for (const QString &member : std::as_const(expected)) {
        const QStringList steps = member.split(QStringLiteral("[]."));
        QJsonObject json;
        // Of a type that no member has, so that each known one is faulted for its type.
        const QJsonValue wrong(QJsonValue::Null);
        json.insert(steps[0],
            steps.size() == 1 ? wrong : QJsonValue(QJsonArray{QJsonObject{{steps[1], wrong}}}));
        for (const char *name : {"Id", "Version"})
            if (const QString key = QString::fromLatin1(name); !json.contains(key))
                json.insert(key, QStringLiteral("1.0.0"));
        if (!json.contains(QStringLiteral("SdkAbi")))
            json.insert(QStringLiteral("SdkAbi"), 1);
        if (steps[0] != u"Id")
            json.insert(QStringLiteral("Id"), QStringLiteral("a"));
        for (const char *name : {"version", "kind", "Id", "Version", "verbs"}) {
            // Required neighbours, so that their absence is not the first fault.
            const QString key = QString::fromLatin1(name);
            const bool isNeighbour = steps.size() == 2 && steps[1] != key
                && expected.contains(steps[0] + QStringLiteral("[].") + key);
            if (!isNeighbour)
                continue;
            QJsonObject entry = json.value(steps[0]).toArray().at(0).toObject();
            entry.insert(key,
                key == u"verbs" ? QJsonValue(QJsonArray{QStringLiteral("get")})
                                : QJsonValue(QStringLiteral("1.0.0")));
            json.insert(steps[0], QJsonArray{entry});
        }
        PluginMetadata m;
        const QString message = readPluginMetadata(kFile, json, &m).error().message();
        QVERIFY2(message.contains(QStringLiteral(" must be ")),
            qPrintable(member + QStringLiteral(" gave: ") + message));
    }
}

void tst_PluginMetadata::plurals_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("plural");
    const auto row = [](const char *kind, const char *plural) {
        QTest::newRow(kind) << QString::fromLatin1(kind) << QString::fromLatin1(plural);
    };
    row("ConfigMap", "configmaps");
    row("Ingress", "ingresses");
    row("NetworkPolicy", "networkpolicies");
    row("Gateway", "gateways");
    row("Endpoints", "endpoints");
    row("StorageClass", "storageclasses");
    row("Batch", "batches");
}

void tst_PluginMetadata::plurals()
{
    QFETCH(const QString, kind);
    QTEST(pluralOf(kind), "plural");
}

QTEST_GUILESS_MAIN(tst_PluginMetadata)
#include "tst_pluginmetadata.moc"
