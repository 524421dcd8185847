// Brings the copies of one source to where they should be. The key is the source's; copies of its
// name that no source wants any more go with any key of that name. Contract:
//   - What is not our copy is never written to nor deleted; a Warning Event on the source says so.
//   - Of two sources that claim one target one has it (claims.h); the other gets a Warning Event.
//   - Reads come from the cache; the only live read is after a create that found something there.
// Test: tst_replicator.
#pragma once

#include "namespacepatterns.h"
#include "restorepace.h"

#include <davit/hostcontext.h>
#include <davit/reconciler.h>

namespace replicator {

// Indexes that the plugin adds to the informers of Secret and ConfigMap; a copy has its source's
// name.
inline constexpr QLatin1StringView kSourcesByName("sources-by-name");
inline constexpr QLatin1StringView kCopiesByName("copies-by-name");

class ReplicateReconciler final : public davit::Reconciler
{
public:
    ReplicateReconciler(davit::HostContext &host, const davit::Lister &objects,
        const davit::Lister &namespaces, const NamespacePatterns &denied);

    // [worker-thread]
    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override;

private:
    struct Pass; // one reconcile
    struct Target; // where one copy belongs
    QList<Target> targets(const Pass &pass) const;
    void warnOfSource(const Pass &pass) const;
    void removeOrphans(Pass &pass, const davit::ReconcileContext &context);
    void removeOrphan(Pass &pass, const davit::Object &copy);
    void ensureCopy(Pass &pass, const Target &target);
    void write(Pass &pass, const Target &target, const davit::Object &existing);
    davit::Error create(Pass &pass, const Target &target);
    void replace(Pass &pass, const Target &target, const davit::Object &existing);
    static davit::Error remove(Pass &pass, const davit::Object &copy);
    void wrote(const Pass &pass, const Target &target, const char *message);
    bool mustWait(Pass &pass, const Target &target) const;
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
