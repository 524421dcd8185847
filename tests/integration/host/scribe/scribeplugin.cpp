// For the tests of leader election: reconciles that write all the time and do not look at
// isStopping(). Each write carries POD_NAME and when, by the machine's clock, its reconcile and the
// write itself began; each line "begins" when, by the steady clock, the host took the key, just
// before it looked whether it still leads.
#include <davit/controllerbuilder.h>
#include <davit/controllerplugin.h>

#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qthread.h>
#include <chrono>

using namespace Qt::StringLiterals;

static constexpr std::chrono::milliseconds kLimit = std::chrono::hours(1);

static QString nowMicros()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return QString::number(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

class Scribe final : public davit::Reconciler
{
public:
    Scribe(const davit::Lister &lister, const davit::Client &client)
        : m_lister(lister), m_client(client)
    { }
    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override
    {
        const QString began = nowMicros();
        const davit::Object object = m_lister.find(request.key());
        if (object.isNull())
            return davit::ReconcileResult::done();
        const davit::Value data = object["data"_L1];
        const auto taken = context.deadline() - kLimit;
        context.log().info("begins",
            {{"takenMicros",
                qint64(std::chrono::duration_cast<std::chrono::microseconds>(taken).count())}});
        QThread::msleep(ulong(data["seconds"_L1].toString().toDouble() * 1000));
        const QJsonObject change{{u"by"_s, qEnvironmentVariable("POD_NAME")},
            {u"reconcileBegan"_s, began}, {u"writeBegan"_s, nowMicros()}};
        const davit::Result<davit::Object> reply
            = m_client.blocking().patch(object.gvk(), request.key(),
                davit::Patch::merge(QJsonDocument(QJsonObject{{u"data"_s, change}}).toJson()));
        if (!reply.isOk()) {
            context.log().warning("did not write", {{"error", reply.error().message()}});
            return davit::ReconcileResult::failed(reply.error());
        }
        context.log().info("wrote");
        const int everyMs = data["everyMs"_L1].toString().toInt();
        return everyMs > 0
            ? davit::ReconcileResult::requeueAfter(std::chrono::milliseconds(everyMs))
            : davit::ReconcileResult::done();
    }

private:
    const davit::Lister m_lister;
    const davit::Client m_client;
};

class ScribePlugin final : public QObject, public davit::ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "scribe.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    davit::Status initialize(davit::HostContext &host) override
    {
        const davit::InformerRequest pages(davit::Gvk{{}, u"v1"_s, u"ConfigMap"_s});
        return davit::ControllerBuilder(host, u"scribe"_s)
            .watches(pages)
            .where(davit::Predicate::from([](const davit::ObjectEvent &event) {
                return event.type == davit::EventType::Added; // not of its own writes
            }))
            .workers(4)
            .reconcileTimeout(kLimit)
            .reconcileWith(std::make_unique<Scribe>(host.lister(pages), host.client()));
    }
};

#include "scribeplugin.moc"
