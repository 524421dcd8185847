// A plugin as one was built when 1.0 was frozen: it sees nothing but the headers beside it. It must
// load and run in every later 1.x host.
#include <davit/controllerbuilder.h>
#include <davit/controllerplugin.h>
#include <davit/objectbuilder.h>

using namespace davit;

namespace {

const Gvk kConfigMap{QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")};

class FrozenReconciler final : public Reconciler
{
public:
    explicit FrozenReconciler(const Lister &lister) : m_lister(lister) { }
    ReconcileResult reconcile(const ReconcileRequest &request, ReconcileContext &context) override
    {
        const Object object = m_lister.find(request.key());
        context.log().info("seen", {{"uid", object.uid()}});
        return object.isNull() ? ReconcileResult::done()
                               : ReconcileResult::requeueAfter(std::chrono::minutes(1));
    }

private:
    const Lister m_lister;
};

// Uses each class of the SDK once, and says what it found: a change of a layout shows here.
Status selfTest(HostContext &host)
{
    LabelSelector selector;
    if (Status status = LabelSelector::parse(u"app=web", &selector); !status.isOk())
        return status;
    const Object made = ObjectBuilder(kConfigMap, {QStringLiteral("a"), QStringLiteral("b")})
                            .setLabel(QStringLiteral("app"), QStringLiteral("web"))
                            .set({QStringLiteral("data"), QStringLiteral("n")}, 7)
                            .build();
    const ObjectEvent event{EventType::Updated, false, false, {}, made, made};
    const bool isGood = selector.matches(made) && made.key().name == u"b"
        && made[QLatin1StringView("data")][QLatin1StringView("n")].toInt() == 7
        && !predicates::labelsChanged().accepts(event)
        && predicates::matching(selector).accepts(event)
        && Patch::difference(made, made).body() == "{}" && RequestOptions().limit(5).limit() == 5
        && host.clock().monotonic() > std::chrono::nanoseconds(0);
    return isGood ? Status() : Status(ErrorCode::InternalError, QStringLiteral("self-test failed"));
}

} // namespace

class FrozenPlugin final : public QObject, public ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "frozen.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    Status initialize(HostContext &host) override
    {
        if (Status status = selfTest(host); !status.isOk())
            return status;
        const Result<Informer *> informer = host.informer(kConfigMap);
        if (!informer.isOk())
            return informer.status();
        connect(informer.value(), &Informer::added, this, &FrozenPlugin::added);
        return ControllerBuilder(host, QStringLiteral("frozen"))
            .watches(InformerRequest(kConfigMap).inNamespaces({QStringLiteral("a")}))
            .where(predicates::generationChanged() || predicates::labelsChanged())
            .reconcileWith(std::make_unique<FrozenReconciler>(informer.value()->lister()));
    }

private:
    void added(const Object &, bool) { ++m_added; }
    int m_added = 0;
};
#include "frozenplugin.moc"
