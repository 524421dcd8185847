// One shared informer per resource and cluster, for all plugins. Contract:
//   - Whoever asks gets a view. It stands on a running, synced informer that holds all it needs, if
//   there is one; else on one as narrow as asked for, which others with the same need share.
//   - When a wider informer has synced, the views of the narrower ones move over, without losing or
//   doubling an event, and the narrower watches end.
//   - When the last one who asked for much leaves, what nobody else asked for is dropped from the
//   store (tst_narrowing); the watch stays as it is.
//   - The last view or lister out stops its watch.
//   - The first view of a watch may give it a resync period; the later ones get what it has, or
//   longer ones (I-5). A view that moves keeps its own.
//   - Informers run from start() on; those asked for later run at once.
// That a kind is served, and that the plugin may see it, is the caller's to check.
// Davit decides otherwise: a watch that is begun for a view with a resync period of its own has it,
// also where the default is none (4.2).
// Source: BEHAVIOURS.md (F-1 to F-5). Test: tst_sharedinformerfactory.
#pragma once

#include "consistencywait.h"
#include "reflector.h"
#include "viewfilter.h"

#include <davit/informerrequest.h>
#include <davit/priv/backends.h>
#include <davit/result.h>
#include <transport/serverwarnings.h>
#include <transport/transport.h>

class QThreadPool;

namespace davit::cache {

class OwnWrites;

struct FactoryOptions
{
    // Default of all kinds, and of single ones (empty, or a negative answer: the default).
    std::chrono::nanoseconds resyncPeriod{0};
    std::function<std::chrono::nanoseconds(const Gvk &)> resyncPeriodOf;
    // When set, nothing outside of this namespace is ever watched; kinds of cluster scope are.
    QString namespaceName;
    // The last word on the options of each LIST and WATCH; must not change what is selected between
    // two calls. [cache-thread]
    std::function<void(const Gvk &, transport::ListOptions *)> tweak;
    Transform transform; // of every object, before it is stored
    // Beside the log: a round of list and watch failed. [cache-thread]
    std::function<void(const WatchScope &, const Error &)> onWatchError;
    // Asked once an informer: who hears how long its batches of changes took to store. `plural`:
    // "configmaps". Empty: nobody.
    std::function<std::function<void(std::chrono::nanoseconds)>(
        const WatchScope &scope, const QString &plural)>
        onProcessed;
    // Which way a kind is filled; empty: Auto.
    std::function<InitialSync(const Gvk &)> initialSync;
    bool prefersProtobuf = true; // for the kinds that are built into Kubernetes (C-25)
    priv::ManagedFields managedFields = priv::ManagedFields::Drop;
    support::BackoffSettings backoff;
    codec::Limits limits; // of an event and an item
    qint64 maxFillBytes = ReflectorOptions().maxFillBytes; // of a list
    bool checksConsistency = false; // each fill against a second list (consistencycheck.h)
    std::chrono::nanoseconds mutationCheckPeriod{0}; // zero: not looked at (mutationcheck.h)
    // How the cluster serves a kind now, and that LIST or WATCH found nothing where it was: a CRD
    // can be deleted and made again with other names or another scope. [thread-safe]
    std::function<Result<transport::Resource>(const Gvk &)> currentResource;
    std::function<void(const Gvk &)> onNotServed;
    // Some plugin watches CustomResourceDefinitions, and one of this group came, changed or went.
    // [thread-safe]
    std::function<void(const QString &group)> onDefinition;
    std::shared_ptr<transport::ServerWarnings> warnings; // null: nobody hears of the server's
    WaitObserver onConsistencyWait; // of Lister::waitFor(); may outlive the factory
    Logger log; // of all informers; lines name their resource; without: silent
    // For tests: where objects come from instead of the transport, and where informers run instead
    // of strands.
    std::function<std::unique_ptr<ListerWatcher>(const WatchScope &)> source;
    support::Executor *executor = nullptr;
};

// One informer, for probes and metrics.
struct ResourceState
{
    WatchScope scope;
    QString plural; // "configmaps"
    bool hasSynced = false;
    ReflectorState reflector; // phase, progress, last error, counters
    qsizetype objects = 0;
    QString storeVersion; // of the newest change that is stored
    qsizetype queueDepth = 0;
    qsizetype heldSnapshots = 0; // a slow reader pins memory
    quint64 staleEvents = 0;
    quint64 damagedObjects = 0;
    long users = 0; // views and listers
};

// What waits for one handler of a plugin, for metrics (B33).
struct HandlerState
{
    QString owner; // the plugin's id
    InformerRequest request;
    qsizetype pending = 0; // notifications
};

class SharedInformerFactory
{
public:
    // Borrowed things outlive the factory, and `pool` runs until after shutdown().
    SharedInformerFactory(transport::Transport &transport, QThreadPool &pool,
        support::TimeSource &time, FactoryOptions options = {});
    ~SharedInformerFactory(); // shuts down
    Q_DISABLE_COPY_MOVE(SharedInformerFactory)

    // Begins to watch what was asked for. May be called again; nothing after shutdown().
    // [thread-safe]
    void start();
    // A view for a plugin. InvalidArgument for a selector that cannot be read or a namespace that
    // is not the factory's, Canceled after shutdown(). `faults` outlives the view; `owner` names
    // the plugin, `ownWrites` is what its reads may wait for (null: nothing). [plugin-thread]
    Status makeInformer(const transport::Resource &resource, const InformerRequest &request,
        priv::FaultSink &faults, std::unique_ptr<priv::InformerBackend> *backend,
        const QString &owner = {}, std::shared_ptr<const OwnWrites> ownWrites = nullptr);
    // Reads alone; they keep the watch running. The caller retains it. [thread-safe]
    Status makeLister(const transport::Resource &resource, const InformerRequest &request,
        priv::ListerBackend **backend, std::shared_ptr<const OwnWrites> ownWrites = nullptr);

    // Every informer that runs. [thread-safe]
    std::vector<ResourceState> states() const;
    // Texts of the scopes whose first list is not stored yet, sorted; empty: all synced.
    // [thread-safe]
    QStringList unsynced() const;
    // Waits, at most so long, until unsynced() is empty, or for shutdown(); what it is then (F-3).
    // Not from a strand. [worker-thread]
    QStringList waitForSync(std::chrono::milliseconds limit) const;
    // Every view that lives. [thread-safe]
    std::vector<HandlerState> handlers() const;
    // Ends all watches and waits until nothing runs any more; each call waits (F-4). Views stay
    // readable, without news. Not from a strand. [thread-safe]
    void shutdown();

private:
    class Core;
    const std::shared_ptr<Core> m_core;
};

} // namespace davit::cache
