// Brings the copies of one source to where they should be. The key is the source's; a source that
// is gone, or asks for nothing any more, has no copies. Contract:
//   - What is not our copy is never written to nor deleted; a Warning Event on the source says so.
//   - Of two sources that claim one target the one whose copy is there has it, else the older one.
//   - Reads come from the cache; the only live read is after a create that found something there.
// Test: tst_replicator.
#pragma once

#include "namespacepatterns.h"
#include "restorepace.h"

#include <davit/hostcontext.h>
#include <davit/reconciler.h>

namespace replicator {

// Indexes that the plugin adds to the informers of Secret and ConfigMap.
inline constexpr char kSourcesByName[] = "sources-by-name"; // the name of each source
inline constexpr char kCopiesBySource[] = "copies-by-source"; // "namespace/name" of the source

class ReplicateReconciler final : public davit::Reconciler
{
public:
    ReplicateReconciler(davit::HostContext &host, const davit::Lister &objects,
        const davit::Lister &namespaces, const NamespacePatterns &denied);

    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override;

private:
    struct Pass; // one reconcile
    QStringList wantedNamespaces(const davit::Object &source) const;
    bool claims(const davit::Object &source, const QString &namespaceName) const;
    bool isForAnother(const davit::Object &source, const QString &namespaceName,
        const davit::Object &existing) const;
    void removeOrphans(Pass &pass, const QStringList &wanted);
    void ensureCopy(Pass &pass, const QString &namespaceName);
    void write(Pass &pass, const QString &namespaceName, const davit::Object &existing);
    davit::Error create(Pass &pass, const QString &namespaceName);
    davit::Error replace(Pass &pass, const QString &namespaceName, const davit::Object &existing);
    void warn(const Pass &pass, const char *reason, const QString &note) const;

    const davit::Lister m_objects;
    const davit::Lister m_namespaces;
    const NamespacePatterns m_denied;
    const davit::EventRecorder m_events;
    const davit::Counter m_written;
    const davit::Counter m_removed;
    RestorePace m_pace;
};

} // namespace replicator
