#include "../../plugins/fakeservices.h"

#include "pluginhost/plugincontext.h"

#include <davit/informer.h>

#include <QTest>

using namespace davit;
using namespace davit::pluginhost;

namespace {

const Gvk kSecret{QString(), QStringLiteral("v1"), QStringLiteral("Secret")};
const Gvk kPod{QString(), QStringLiteral("v1"), QStringLiteral("Pod")};
const Gvk kNode{QString(), QStringLiteral("v1"), QStringLiteral("Node")};

// Secrets of two namespaces with a label; Pods as metadata; no Nodes.
PluginMetadata declared()
{
    PluginMetadata metadata;
    metadata.id = QStringLiteral("demo");
    DeclaredResource secrets;
    secrets.gvk = kSecret;
    secrets.namespaces = {QStringLiteral("a"), QStringLiteral("b")};
    secrets.labelSelector = QStringLiteral("app=web");
    secrets.fieldSelector = QStringLiteral("type=Opaque");
    DeclaredResource pods;
    pods.gvk = kPod;
    pods.payload = Payload::Metadata;
    metadata.resources = {secrets, pods};
    return metadata;
}

QString text(const InformerRequest &request)
{
    return QStringLiteral("%1 [%2] labels=%3 fields=%4 payload=%5 delivery=%6")
        .arg(request.gvk().kind, request.namespaces().join(u','), request.labelSelector(),
            request.fieldSelector())
        .arg(int(request.payload()))
        .arg(int(request.delivery()));
}

} // namespace

class tst_PluginContext : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void narrows_data();
    void narrows();
    void controllerSources();
    void cutAndDrop();
};

void tst_PluginContext::narrows_data()
{
    QTest::addColumn<std::shared_ptr<InformerRequest>>("request");
    QTest::addColumn<QString>("effective"); // or the error
    const auto row = [](const char *name, const InformerRequest &request, const char *effective) {
        QTest::newRow(name) << std::make_shared<InformerRequest>(request)
                            << QString::fromLatin1(effective);
    };
    row("as declared", InformerRequest(kSecret),
        "Secret [a,b] labels=app=web fields=type=Opaque payload=1 delivery=1");
    row("one namespace of two", InformerRequest(kSecret).inNamespaces({QStringLiteral("b")}),
        "Secret [b] labels=app=web fields=type=Opaque payload=1 delivery=1");
    row("selectors are ANDed", InformerRequest(kSecret).withLabels(QStringLiteral("tier=x")),
        "Secret [a,b] labels=app=web,tier=x fields=type=Opaque payload=1 delivery=1");
    row("less payload",
        InformerRequest(kSecret).payload(Payload::Metadata).delivery(Delivery::Latest),
        "Secret [a,b] labels=app=web fields=type=Opaque payload=2 delivery=2");
    row("payload stays masked", InformerRequest(kPod),
        "Pod [] labels= fields= payload=2 delivery=1");
    row("any namespace of all", InformerRequest(kPod).inNamespaces({QStringLiteral("z")}),
        "Pod [z] labels= fields= payload=2 delivery=1");
    row("undeclared kind", InformerRequest(kNode),
        "UndeclaredResource: plugin \"demo\" asked for v1 Node: its metadata does not declare this "
        "kind; add it to Resources");
    row("undeclared namespace",
        InformerRequest(kSecret).inNamespaces({QStringLiteral("a"), QStringLiteral("c")}),
        "UndeclaredResource: plugin \"demo\" asked for v1 Secret: its metadata does not declare "
        "namespace \"c\"; add it there");
    row("more payload", InformerRequest(kPod).payload(Payload::Full),
        "UndeclaredResource: plugin \"demo\" asked for v1 Pod: its metadata declares payload "
        "\"metadata\"; declare \"full\" to see more");
    row("wrong labels", InformerRequest(kPod).withLabels(QStringLiteral("a=/")),
        "InvalidArgument: plugin \"demo\" asked for v1 Pod: label selector \"a=/\": label a: \"/\" "
        "is no label value");
    row("wrong shard", InformerRequest(kSecret).withShard(QStringLiteral("bogus")),
        "InvalidArgument: plugin \"demo\" asked for v1 Secret: shard selector \"bogus\": "
        "shardRange(FIELD, 'START', "
        "'END') "
        "is missing, at the begin or behind a \"||\"");
    row("wrong fields", InformerRequest(kPod).withFields(QStringLiteral("a")),
        "InvalidArgument: plugin \"demo\" asked for v1 Pod: field selector \"a\": cannot "
        "understand "
        "\"a\"");
}

void tst_PluginContext::narrows()
{
    QFETCH(const std::shared_ptr<InformerRequest>, request);
    QFETCH(const QString, effective);
    FakeServices services;
    fake::Faults faults;
    const PluginMetadata metadata = declared();
    PluginContext context(services, metadata, {}, faults, *new fake::Calls, *new fake::Events);
    std::unique_ptr<priv::InformerBackend> backend;
    const Status status = context.makeInformer(*request, &backend);
    const QString got = status.isOk() ? text(backend->request())
                                      : QString(errorCodeName(status.error().code()))
            + QLatin1StringView(": ") + status.error().message();
    QCOMPARE(got, effective);
    priv::ListerBackend *lister = nullptr;
    QCOMPARE(context.makeLister(*request, &lister).isOk(), status.isOk());
    if (lister) {
        lister->retain();
        lister->release();
    }
}

void tst_PluginContext::controllerSources()
{
    FakeServices services;
    fake::Faults faults;
    const PluginMetadata metadata = declared();
    PluginContext context(services, metadata, {}, faults, *new fake::Calls, *new fake::Events);
    auto good = std::make_unique<priv::ControllerSpec>();
    good->name = QStringLiteral("c");
    good->sources.push_back({priv::SourceSpec::Kind::Self, InformerRequest(kSecret), {}, {}});
    QVERIFY(context.startController(std::move(good)).isOk());
    QCOMPARE(services.controllers, QStringList{QStringLiteral("demo/c")});
    auto bad = std::make_unique<priv::ControllerSpec>();
    bad->name = QStringLiteral("d");
    bad->sources.push_back({priv::SourceSpec::Kind::Self, InformerRequest(kSecret), {}, {}});
    bad->sources.push_back({priv::SourceSpec::Kind::Owner, InformerRequest(kNode), {}, {}});
    const Status status = context.startController(std::move(bad));
    QCOMPARE(status.error().code(), ErrorCode::UndeclaredResource);
    QVERIFY(status.error().message().startsWith(
        QStringLiteral("controller \"d\": plugin \"demo\" asked for v1 Node: ")));
    QCOMPARE(services.controllers.size(), 1);
}

void tst_PluginContext::cutAndDrop()
{
    FakeServices services;
    fake::Faults faults;
    const PluginMetadata metadata = declared();
    PluginContext context(services, metadata, {}, faults, *new fake::Calls, *new fake::Events);
    HostContext host(context);
    const Result<Informer *> informer = host.informer(kPod);
    QVERIFY(informer.isOk());
    fake::View *const view = services.views.value(QStringLiteral("demo"));
    QPointer<QObject> beside = new QObject(context.informerParent());
    int heard = 0;
    connect(informer.value(), &Informer::added, this, [&] { ++heard; });
    context.cutInformers();
    view->deliver({priv::Notification()});
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard, 0);
    context.dropControllers();
    QVERIFY(!beside);
    QCOMPARE(context.informerParent()->children(), QObjectList{informer.value()});
}

QTEST_GUILESS_MAIN(tst_PluginContext)
#include "tst_plugincontext.moc"
