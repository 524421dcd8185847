// For the tests of stopping: a reconcile that takes its time and does not look at isStopping().
#include <davit/controllerbuilder.h>
#include <davit/controllerplugin.h>

#include <QtCore/qthread.h>

using namespace Qt::StringLiterals;

class SleepReconciler final : public davit::Reconciler
{
public:
    explicit SleepReconciler(const davit::Lister &lister) : m_lister(lister) { }
    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override
    {
        const davit::Object object = m_lister.find(request.key());
        context.log().info("falls asleep");
        QThread::msleep(ulong(object["data"_L1]["seconds"_L1].toString().toDouble() * 1000));
        context.log().info("woke up");
        return davit::ReconcileResult::done();
    }

private:
    const davit::Lister m_lister;
};

class SleeperPlugin final : public QObject, public davit::ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "sleeper.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    davit::Status initialize(davit::HostContext &host) override
    {
        const davit::InformerRequest sleepers(davit::Gvk{{}, u"v1"_s, u"ConfigMap"_s});
        return davit::ControllerBuilder(host, u"sleeper"_s)
            .watches(sleepers)
            .workers(2)
            .reconcileWith(std::make_unique<SleepReconciler>(host.lister(sleepers)));
    }
};

#include "sleeperplugin.moc"
