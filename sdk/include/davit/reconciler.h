// What a plugin does for one key: look at the wanted and the actual state, and bring them closer.
// Contract:
//   - Level-triggered: the request says which key, not what happened. Read the state from a Lister.
//   - Never two calls for one key at once; different keys run side by side, up to the controller's
//   number of workers.
//   - A key that changes while it is reconciled is reconciled once more.
//   - What a reconcile throws is a failed reconcile: the key comes back with back-off, and the
//   fault is counted.
// Source: controller-runtime's Reconciler (BEHAVIOURS.md). Tests: tst_reconcileworker,
// tst_reconcileresult.
#pragma once

#include <chrono>
#include <davit/client.h>
#include <davit/logging.h>

DAVIT_BEGIN_NAMESPACE
class ReconcileRequestPrivate;
// Which key, and how urgent; a value. All methods: [thread-safe].
class DAVIT_EXPORT ReconcileRequest
{
public:
    ReconcileRequest(
        const ObjectKey &key, const QString &clusterName, int priority); // host and tests
    ReconcileRequest(const ReconcileRequest &other);
    ReconcileRequest &operator=(const ReconcileRequest &other);
    ~ReconcileRequest();
    ObjectKey key() const;
    QString clusterName() const; // empty: the cluster the host runs against
    int priority() const noexcept;

private:
    QExplicitlySharedDataPointer<ReconcileRequestPrivate> d;
};

class ReconcileResultPrivate;
// What becomes of the key; a value. All methods: [thread-safe].
class DAVIT_EXPORT ReconcileResult
{
public:
    enum class Kind : quint8 {
        Unset = 0,
        Done, // nothing more to do until something changes
        RequeueAfter, // again after delay(); the failure count is forgotten
        Failed, // again with back-off, and not before the retryAfter() of the error
        Terminal // an error that trying again cannot cure; not queued again
    };

    ReconcileResult(); // done
    static ReconcileResult done();
    static ReconcileResult requeueAfter(std::chrono::milliseconds delay);
    static ReconcileResult failed(const Error &error);
    static ReconcileResult terminal(const Error &error);
    // failed() or done(), by the status.
    ReconcileResult(const Status &status);
    ReconcileResult(const ReconcileResult &other);
    ReconcileResult &operator=(const ReconcileResult &other);
    ~ReconcileResult();

    Kind kind() const noexcept;
    std::chrono::milliseconds delay() const noexcept;
    Error error() const;
    // The priority with which the key comes back; without it, the one it had (M-4).
    ReconcileResult withPriority(int priority) const;
    bool hasPriority() const noexcept;
    int priority() const noexcept;

private:
    QExplicitlySharedDataPointer<ReconcileResultPrivate> d;
};

// Host-provided; valid during the call.
class DAVIT_EXPORT ReconcileContext
{
public:
    explicit ReconcileContext(priv::ReconcileState &state); // host only
    ~ReconcileContext();
    Q_DISABLE_COPY(ReconcileContext)

    // True once the host or the plugin is being stopped: return soon. [thread-safe]
    bool isStopping() const noexcept;
    // When this call should have ended, on Clock::monotonic(); a negative value when there is no
    // limit. [thread-safe]
    std::chrono::nanoseconds deadline() const noexcept;
    // Adds controller, namespace, name and reconcileID to each line. [thread-safe]
    Logger log() const;
    // reconcileID of the logs. [thread-safe]
    QString traceId() const;
    // Why the key was queued, newest first ("updated v1 Secret team-a/key", "retry 3"); for logs
    // and people. [thread-safe]
    QStringList causes() const;
    // The plugin's client. [thread-safe]
    Client client() const;

private:
    priv::ReconcileState &m_state;
};

// Plugin-provided, frozen.
class DAVIT_EXPORT Reconciler
{
public:
    virtual ~Reconciler();
    // Called from several worker threads at once, for different keys. May block. [worker-thread]
    virtual ReconcileResult reconcile(const ReconcileRequest &request, ReconcileContext &context)
        = 0;
    // Room for later interfaces ("name/2"); null when not provided. [worker-thread]
    virtual void *extension(const char *name);
};
DAVIT_END_NAMESPACE
