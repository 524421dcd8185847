// What a real API server sends as protobuf is what it sends as JSON: each kind that it serves, in
// lists, watches and streaming lists, and its refusals. C-25, C-28.
#include "apiconnection.h"
#include "controlplane.h"

#include <codec/kubernetesschema.h>
#include <codec/protobufenvelope.h>
#include <codec/protobuflist.h>
#include <codec/protobufwatch.h>

#include <QtCore/qfile.h>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtNetwork/qnetworkaccessmanager.h>
#include <QtNetwork/qnetworkreply.h>
#include <QtTest>

using namespace davit;
using codec::KubernetesSchema;

namespace {

const QByteArray kJson = "application/json";
const QByteArray kProtobuf = "application/vnd.kubernetes.protobuf,application/json";

struct Answer
{
    int status = 0;
    QByteArray contentType;
    QByteArray body;
};

QJsonObject parsed(const QByteArray &json)
{
    return QJsonDocument::fromJson(json).object();
}

// Of both forms: what they say of the object, whatever the order of its members.
QByteArray canonical(const Object &object)
{
    return QJsonDocument(parsed(object.toJson())).toJson(QJsonDocument::Indented);
}

priv::DecodeOptions keeping(const Gvk &gvk)
{
    priv::DecodeOptions options;
    options.managedFields = priv::ManagedFields::Keep;
    options.impliedGvk = &gvk;
    return options;
}

} // namespace

class tst_ProtobufReal : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void lists_data();
    void lists();
    void pages();
    void watches_data();
    void watches();
    void streamingList();
    void refusals_data();
    void refusals();
    void expiredVersion();

private:
    Answer get(const QByteArray &target, const QByteArray &accept);
    QJsonObject json(const QByteArray &target) { return parsed(get(target, kJson).body); }
    void addResources(const QByteArray &prefix, const QString &groupVersion);
    void kubectl(const QStringList &arguments, const QByteArray &input = {});
    static QByteArrayList events(codec::WatchReader &&reader, const Answer &answer);
    void compareWatches(const Gvk &gvk, const QByteArray &target, qsizetype atLeast);

    ControlPlane m_controlPlane;
    std::unique_ptr<ApiConnection> m_connection;
    QNetworkAccessManager m_manager;
    QList<std::pair<Gvk, QByteArray>> m_resources; // and where they are listed
};

void tst_ProtobufReal::kubectl(const QStringList &arguments, const QByteArray &input)
{
    QByteArray output;
    QVERIFY2(m_controlPlane.kubectl(arguments, &output, input) == 0, output.constData());
}

Answer tst_ProtobufReal::get(const QByteArray &target, const QByteArray &accept)
{
    QNetworkRequest request = m_connection->request(target);
    request.setRawHeader("Accept", accept);
    request.setTransferTimeout(60000);
    QNetworkReply *const reply = m_manager.get(request);
    QSignalSpy finished(reply, &QNetworkReply::finished);
    if (!reply->isFinished())
        finished.wait(70000);
    reply->deleteLater();
    return {reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(),
        reply->rawHeader("Content-Type"), reply->readAll()};
}

void tst_ProtobufReal::addResources(const QByteArray &prefix, const QString &groupVersion)
{
    for (const QJsonValue &entry : json(prefix).value(QStringLiteral("resources")).toArray()) {
        const QString name = entry[QStringLiteral("name")].toString();
        const Gvk gvk = gvkFrom(groupVersion, entry[QStringLiteral("kind")].toString());
        const bool isListed
            = entry[QStringLiteral("verbs")].toArray().contains(QJsonValue(QStringLiteral("list")));
        const bool isStored = gvk.kind != QStringLiteral("ComponentStatus"); // has no versions
        if (isListed && isStored && KubernetesSchema::builtIn().messageOf(gvk) >= 0)
            m_resources.append({gvk, prefix + '/' + name.toUtf8()});
    }
}

void tst_ProtobufReal::initTestCase()
{
    QVERIFY2(m_controlPlane.start(ControlPlane::ControllerManager::Yes,
                 {QStringLiteral("--runtime-config=api/all=true")}),
        qPrintable(m_controlPlane.errorText()));
    m_connection
        = std::make_unique<ApiConnection>(m_controlPlane.folder(), m_controlPlane.apiServerPort());
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/protobuf/objects.yaml"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    kubectl({QStringLiteral("create"), QStringLiteral("-f"), QStringLiteral("-")}, file.readAll());
    addResources("/api/v1", QStringLiteral("v1"));
    for (const QJsonValue &group : json("/apis").value(QStringLiteral("groups")).toArray())
        for (const QJsonValue &version : group[QStringLiteral("versions")].toArray()) {
            const QString groupVersion = version[QStringLiteral("groupVersion")].toString();
            addResources("/apis/" + groupVersion.toUtf8(), groupVersion);
        }
    QVERIFY2(m_resources.size() > 60, qPrintable(QString::number(m_resources.size())));
    // The controllers have made what they make of it.
    QTRY_VERIFY_WITH_TIMEOUT(
        json("/api/v1/pods").value(QStringLiteral("items")).toArray().size() >= 2, 60000);
}

void tst_ProtobufReal::lists_data()
{
    QTest::addColumn<int>("resource");
    for (int i = 0; i < m_resources.size(); ++i)
        QTest::newRow(qPrintable(toString(m_resources.at(i).first))) << i;
}

void tst_ProtobufReal::lists()
{
    QFETCH(const int, resource);
    const auto &[gvk, path] = m_resources.at(resource);
    const Answer text = get(path, kJson);
    QCOMPARE(text.status, 200);
    codec::ListDecoder json(gvk, keeping(gvk));
    const std::vector<Object> want = json.feed(text.body);
    QVERIFY2(!json.finish().isError(), qPrintable(json.finish().message()));
    const QByteArray version = json.meta().resourceVersion.toUtf8();
    const Answer wire
        = get(path + "?resourceVersionMatch=Exact&resourceVersion=" + version, kProtobuf);
    QCOMPARE(wire.status, 200);
    QCOMPARE(wire.contentType, QByteArray("application/vnd.kubernetes.protobuf"));
    codec::ProtobufListDecoder protobuf(KubernetesSchema::builtIn(), gvk, keeping(gvk));
    const std::vector<Object> got = protobuf.feed(wire.body);
    QVERIFY2(!protobuf.finish().isError(), qPrintable(protobuf.finish().message()));
    QCOMPARE(protobuf.badItemNotes(), QStringList());
    QCOMPARE(protobuf.meta().resourceVersion.toUtf8(), version);
    QCOMPARE(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
        QCOMPARE(canonical(got[i]), canonical(want[i]));
}

void tst_ProtobufReal::pages()
{
    const Gvk gvk{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")};
    const Answer wire = get("/api/v1/configmaps?limit=1", kProtobuf);
    codec::ProtobufListDecoder protobuf(KubernetesSchema::builtIn(), gvk, keeping(gvk));
    QCOMPARE(protobuf.feed(wire.body).size(), std::size_t(1));
    QVERIFY(!protobuf.finish().isError());
    QVERIFY(!protobuf.meta().continueToken.isEmpty());
    QVERIFY(protobuf.meta().remainingItemCount > 0);
}

QByteArrayList tst_ProtobufReal::events(codec::WatchReader &&reader, const Answer &answer)
{
    QByteArrayList texts;
    for (const codec::WatchEvent &event : reader.feed(answer.body))
        texts += QByteArray::number(int(event.type)) + (event.isInitialEventsEnd ? " end " : " ")
            + (event.object.isNull() ? QByteArray() : canonical(event.object))
            + event.error.message().toUtf8();
    if (reader.badObjects() > 0)
        texts += reader.lastBadObject().message().toUtf8();
    return texts;
}

void tst_ProtobufReal::compareWatches(const Gvk &gvk, const QByteArray &target, qsizetype atLeast)
{
    const Answer text = get(target, kJson);
    const Answer wire = get(target, kProtobuf);
    QCOMPARE(wire.status, 200);
    QCOMPARE(wire.contentType, QByteArray("application/vnd.kubernetes.protobuf;stream=watch"));
    const QByteArrayList got
        = events(codec::ProtobufWatchDecoder(KubernetesSchema::builtIn(), keeping(gvk)), wire);
    const QByteArrayList want = events(codec::WatchDecoder(keeping(gvk)), text);
    QVERIFY2(got.size() >= atLeast, qPrintable(QString::number(got.size())));
    QCOMPARE(got, want);
}

void tst_ProtobufReal::watches_data()
{
    QTest::addColumn<Gvk>("gvk");
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<QString>("object");
    const auto row = [](const char *apiVersion, const char *kind, const char *plural,
                         const char *object) {
        const QByteArray prefix = QByteArray(apiVersion) == "v1" ? "/api/" : "/apis/";
        QTest::addRow("%s %s", apiVersion, kind)
            << gvkFrom(QString::fromLatin1(apiVersion), QString::fromLatin1(kind))
            << prefix + apiVersion + "/namespaces/default/" + plural << QString::fromLatin1(object);
    };
    row("v1", "Secret", "secrets", "secret/keys");
    row("v1", "Service", "services", "service/web");
    row("apps/v1", "ControllerRevision", "controllerrevisions", "controllerrevision/first");
    row("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "networkpolicy/deny");
}

// Added, changed and deleted ones.
void tst_ProtobufReal::watches()
{
    QFETCH(const Gvk, gvk);
    QFETCH(const QByteArray, path);
    QFETCH(const QString, object);
    const QByteArray version
        = json(path)
              .value(QStringLiteral("metadata"))[QStringLiteral("resourceVersion")]
              .toString()
              .toUtf8();
    QByteArray copy;
    QCOMPARE(
        m_controlPlane.kubectl(
            {QStringLiteral("get"), object, QStringLiteral("-o"), QStringLiteral("json")}, &copy),
        0);
    QJsonObject another = parsed(copy);
    another.insert(QStringLiteral("metadata"),
        QJsonObject{{QStringLiteral("name"), QStringLiteral("another")},
            {QStringLiteral("namespace"), QStringLiteral("default")}});
    QJsonObject spec = another.value(QStringLiteral("spec")).toObject();
    spec.remove(QStringLiteral("clusterIP"));
    spec.remove(QStringLiteral("clusterIPs"));
    if (!spec.isEmpty())
        another.insert(QStringLiteral("spec"), spec);
    kubectl({QStringLiteral("create"), QStringLiteral("-f"), QStringLiteral("-")},
        QJsonDocument(another).toJson());
    const QString name = object.section(u'/', 0, 0) + QStringLiteral("/another");
    kubectl({QStringLiteral("label"), name, QStringLiteral("watched=true")});
    kubectl({QStringLiteral("delete"), name});
    compareWatches(gvk, path + "?watch=true&timeoutSeconds=2&resourceVersion=" + version, 3);
}

void tst_ProtobufReal::streamingList()
{
    const Gvk gvk{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")};
    const QByteArray target
        = "/api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true"
          "&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=2";
    const Answer wire = get(target, kProtobuf);
    codec::ProtobufWatchDecoder decoder(KubernetesSchema::builtIn(), keeping(gvk));
    const std::vector<codec::WatchEvent> seen = decoder.feed(wire.body);
    QCOMPARE(decoder.badObjects(), qsizetype(0));
    QVERIFY(decoder.endedOnBoundary());
    QVERIFY(seen.size() >= 2);
    QCOMPARE(seen.front().type, codec::WatchEvent::Type::Added);
    QVERIFY(std::any_of(seen.begin(), seen.end(),
        [](const codec::WatchEvent &event) { return event.isInitialEventsEnd; }));
}

void tst_ProtobufReal::refusals_data()
{
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<int>("status");
    QTest::newRow("a wrong limit") << QByteArray("/api/v1/pods?limit=x") << 400;
    QTest::newRow("no such object") << QByteArray("/api/v1/namespaces/default/pods/none") << 404;
    QTest::newRow("a wrong version") << QByteArray("/api/v1/pods?resourceVersion=x") << 400;
    QTest::newRow("a wrong selector") << QByteArray("/api/v1/pods?labelSelector=%21%21") << 400;
}

void tst_ProtobufReal::refusals()
{
    QFETCH(const QByteArray, target);
    QFETCH(const int, status);
    const Answer wire = get(target, kProtobuf);
    QCOMPARE(wire.status, status);
    QVERIFY(wire.contentType.startsWith("application/vnd.kubernetes.protobuf"));
    QCOMPARE(parsed(codec::statusToJson(wire.body)), json(target));
}

// Of a watch from the far past: with what the server has of it, or an ERROR event, in both forms.
void tst_ProtobufReal::expiredVersion()
{
    const Gvk gvk{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")};
    compareWatches(gvk, "/api/v1/configmaps?watch=true&timeoutSeconds=2&resourceVersion=1", 1);
}

QTEST_GUILESS_MAIN(tst_ProtobufReal)
#include "tst_protobufreal.moc"
