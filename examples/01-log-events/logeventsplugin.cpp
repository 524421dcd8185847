// The classic first informer program: one kind, four signals. All of it runs on the plugin's own
// thread; a slow slot delays this plugin alone.
#include <davit/controllerplugin.h>
#include <davit/hostcontext.h>

using namespace Qt::StringLiterals;

class LogEventsPlugin final : public QObject, public davit::ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "log-events.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    davit::Status initialize(davit::HostContext &host) override
    {
        const auto pods = host.informer(davit::Gvk{{}, u"v1"_s, u"Pod"_s});
        if (!pods.isOk())
            return pods.error();
        m_log = host.log();
        davit::Informer *informer = pods.value();
        connect(informer, &davit::Informer::added, this, &LogEventsPlugin::onAdded);
        connect(informer, &davit::Informer::updated, this, &LogEventsPlugin::onUpdated);
        connect(informer, &davit::Informer::deleted, this, &LogEventsPlugin::onDeleted);
        connect(informer, &davit::Informer::synced, this, [this, informer] {
            m_log.info("all Pods are known", {{"pods", informer->lister().count()}});
        });
        return davit::Status::ok();
    }

private:
    void onAdded(const davit::Object &pod, bool isInInitialList)
    {
        m_log.info(isInInitialList ? "pod is there" : "pod added",
            {{"pod", toString(pod.key())}, {"phase", phase(pod)}});
    }
    void onUpdated(const davit::Object &before, const davit::Object &after)
    {
        m_log.info("pod updated",
            {{"pod", toString(after.key())}, {"was", phase(before)}, {"phase", phase(after)}});
    }
    void onDeleted(const davit::Object &lastKnown, bool isFinalStateUnknown)
    {
        m_log.info(
            "pod deleted", {{"pod", toString(lastKnown.key())}, {"unseen", isFinalStateUnknown}});
    }

    static QString phase(const davit::Object &pod)
    {
        return pod["status"_L1]["phase"_L1].toString(u"unknown"_s);
    }

    davit::Logger m_log;
};

#include "logeventsplugin.moc"
