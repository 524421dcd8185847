// Copies Secrets and ConfigMaps that carry replicator.davit.dev/to-namespaces; see README.md.
#include "namespacepatterns.h"
#include "provenance.h"
#include "replicatereconciler.h"

#include <davit/controllerbuilder.h>
#include <davit/controllerplugin.h>

#include <QtCore/qjsonarray.h>

using namespace Qt::StringLiterals;

namespace replicator {

namespace {

// What a change of any object means: a copy or what is in its way has the name of its sources. A
// copy without any is looked at by its own key.
QList<davit::ObjectKey> sourcesConcerned(const davit::Lister &objects, const davit::Object &changed)
{
    QList<davit::ObjectKey> keys;
    for (const davit::Object &source : objects.byIndex(kSourcesByName, changed.name()))
        if (source.key() != changed.key())
            keys << source.key();
    if (keys.isEmpty() && isCopy(changed))
        keys << changed.key();
    return keys;
}

QList<davit::ObjectKey> sourcesFor(const davit::Lister &objects, const davit::Object &home)
{
    QList<davit::ObjectKey> keys;
    for (const QString &name : objects.indexValues(kSourcesByName))
        for (const davit::Object &source : objects.byIndex(kSourcesByName, name))
            if (NamespacePatterns::fromText(source.annotation(kToNamespaces)).matches(home.name()))
                keys << source.key();
    return keys;
}

} // namespace

class ReplicatorPlugin final : public QObject, public davit::ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "replicator.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    davit::Status initialize(davit::HostContext &host) override
    {
        QStringList denied;
        for (const QJsonValue &pattern : host.config().value("deniedNamespaces"_L1).toArray())
            denied << pattern.toString();
        const NamespacePatterns patterns(denied);
        if (const QStringList bad = patterns.malformed(); !bad.isEmpty())
            return davit::Status(davit::ErrorCode::InvalidConfiguration,
                u"deniedNamespaces can match no namespace: %1; use names and globs of %2"_s.arg(
                    firstFew(bad), kPatternLetters));
        davit::Status status = startController(host, u"Secret"_s, u"secrets"_s, patterns);
        if (status.isOk())
            status = startController(host, u"ConfigMap"_s, u"configmaps"_s, patterns);
        return status;
    }

private:
    static davit::Status startController(davit::HostContext &host, const QString &kind,
        const QString &name, const NamespacePatterns &denied)
    {
        const davit::Gvk gvk{{}, u"v1"_s, kind};
        const davit::Gvk namespaceGvk{{}, u"v1"_s, u"Namespace"_s};
        const davit::Result<davit::Informer *> informer
            = host.informer(davit::InformerRequest(gvk).delivery(davit::Delivery::Latest));
        if (!informer.isOk())
            return informer.error();
        davit::Status status
            = informer.value()->addIndexBy(kSourcesByName, [](const davit::Object &object) {
                  return isSource(object) ? QStringList(object.name()) : QStringList();
              });
        if (status.isOk())
            status = informer.value()->addIndexBy(kCopiesByName, [](const davit::Object &object) {
                return isCopy(object) ? QStringList(object.name()) : QStringList();
            });
        if (!status.isOk())
            return status;
        const davit::Lister objects = informer.value()->lister();
        const auto concernsSource = [](const davit::ObjectEvent &event) {
            return isSource(event.object) || isSource(event.before);
        };
        const auto appearsOrEnds = [](const davit::ObjectEvent &event) {
            return event.type != davit::EventType::Updated
                || event.before.isBeingDeleted() != event.object.isBeingDeleted();
        };
        return davit::ControllerBuilder(host, name)
            .watches(gvk)
            .where(davit::Predicate::from(concernsSource))
            .mappedBy(
                gvk, [objects](const davit::Object &o) { return sourcesConcerned(objects, o); })
            .mappedBy(davit::InformerRequest(namespaceGvk),
                [objects](const davit::Object &o) { return sourcesFor(objects, o); })
            .where(davit::Predicate::from(appearsOrEnds))
            .workers(2)
            .reconcileWith(std::make_unique<ReplicateReconciler>(
                host, objects, host.lister(namespaceGvk), denied));
    }
};

} // namespace replicator

#include "replicatorplugin.moc"
