// The smallest controller: look at the wanted and the actual state of one key, and bring them
// closer. Here the annotation example.davit.dev/entries shall say how many entries the ConfigMap
// has.
#include <davit/controllerbuilder.h>
#include <davit/controllerplugin.h>
#include <davit/objectbuilder.h>

using namespace Qt::StringLiterals;

namespace {

constexpr auto kAnnotation = "example.davit.dev/entries"_L1;

class EntryCounter final : public davit::Reconciler
{
public:
    explicit EntryCounter(const davit::Lister &configMaps) : m_configMaps(configMaps) { }

    // Runs on a worker thread and may block; never twice at once for one key. [worker-thread]
    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override
    {
        const davit::Object configMap = m_configMaps.find(request.key());
        if (configMap.isNull())
            return davit::ReconcileResult::done(); // it is gone, and the annotation with it
        const QString wanted
            = QString::number(configMap["data"_L1].size() + configMap["binaryData"_L1].size());
        if (configMap.annotation(kAnnotation) == wanted)
            return davit::ReconcileResult::done();

        const davit::Object changed
            = davit::ObjectBuilder(configMap).setAnnotation(kAnnotation, wanted).build();
        const auto reply = context.client().blocking().patch(
            configMap.gvk(), request.key(), davit::Patch::difference(configMap, changed));
        if (!reply.isOk())
            return davit::ReconcileResult::failed(reply.error()); // comes back, later each time
        context.log().info("counted", {{"entries", wanted}});
        return davit::ReconcileResult::done();
    }

private:
    const davit::Lister m_configMaps;
};

} // namespace

class ReconcileConfigMapPlugin final : public QObject, public davit::ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "reconcile-configmap.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    davit::Status initialize(davit::HostContext &host) override
    {
        const davit::InformerRequest counted(davit::Gvk{{}, u"v1"_s, u"ConfigMap"_s});
        return davit::ControllerBuilder(host, u"entry-counter"_s)
            .watches(counted)
            .workers(2)
            .reconcileWith(std::make_unique<EntryCounter>(host.lister(counted)));
    }
};

#include "reconcileconfigmapplugin.moc"
