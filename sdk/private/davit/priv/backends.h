// What the runtime implements behind the SDK's host-provided classes. Private: no plugin may use
// it, and it may change any day.
#pragma once

#include <davit/clienttypes.h>
#include <davit/informerrequest.h>
#include <davit/logging.h>
#include <davit/metrics.h>
#include <davit/priv/refcounted.h>

#include <QtCore/qfuture.h>
#include <QtCore/qjsonobject.h>
#include <chrono>
#include <memory>
#include <vector>

class QObject;

DAVIT_BEGIN_NAMESPACE
enum class EventSeverity : quint8;
DAVIT_END_NAMESPACE

namespace davit::priv {

class FaultSink;

class DAVIT_EXPORT ClockBackend
{
public:
    virtual ~ClockBackend();
    virtual std::chrono::nanoseconds monotonic() const = 0; // [thread-safe]
    virtual std::chrono::nanoseconds utc() const = 0; // since 1970 [thread-safe]
    // Blocks; the machine's time unless a test says otherwise. [worker-thread]
    virtual void sleepFor(std::chrono::nanoseconds span) const;
};

class DAVIT_EXPORT LogBackend
{
public:
    virtual ~LogBackend();
    virtual bool isEnabled(LogLevel level) const noexcept = 0; // [thread-safe]
    // `logger` names the source ("plugin.replicator"); `fields` are valid during the call.
    // [thread-safe]
    virtual void write(LogLevel level, const QString &logger, const char *message,
        const LogField *fields, qsizetype count) noexcept = 0;
};

// One metric of one label set; lives as long as the registry.
class DAVIT_EXPORT MetricCell
{
public:
    virtual ~MetricCell();
    virtual void add(double by) noexcept = 0; // [thread-safe]
    virtual void set(double value) noexcept = 0; // [thread-safe]
    virtual void observe(double value) noexcept = 0; // [thread-safe]
};

class DAVIT_EXPORT MetricsBackend
{
public:
    virtual ~MetricsBackend();
    // Null when the name is wrong or taken by another type (the backend logs it). Bounds are empty
    // but for histograms. [thread-safe]
    enum class Type : quint8 { Counter, Gauge, Histogram };
    virtual MetricCell *cell(Type type, const QString &pluginId, const QString &name,
        const QString &help, const MetricLabels &labels, const QList<double> &upperBounds)
        = 0;
};

class DAVIT_EXPORT ListerBackend : public RefCounted
{
public:
    virtual Gvk gvk() const = 0;
    virtual bool hasSynced() const noexcept = 0;
    virtual Object find(const ObjectKey &key) const = 0;
    // Null namespace: all. Null selector: everything.
    virtual QList<Object> list(
        const QString *namespaceName, const LabelSelector *selector) const = 0;
    // False when there is no such index.
    virtual bool byIndex(
        const QString &name, const QString &value, QList<Object> *objects) const = 0;
    virtual QStringList indexValues(const QString &name) const = 0;
    virtual qsizetype count() const = 0;
    // Neither Any nor anything that Lister::waitFor() refuses. Unsupported where it is not
    // implemented. [worker-thread]
    virtual Status waitFor(const Consistency &consistency) const;
};

struct Notification
{
    enum class Kind : quint8 { Added, Updated, Deleted, Synced };
    Kind kind = Kind::Added;
    bool isInInitialList = false; // Added
    bool isFinalStateUnknown = false; // Deleted
    Object before; // Updated
    Object object;
};

// One listener: what stands between a shared informer and a plugin's Informer. Made on the plugin's
// thread; deleted there too.
class DAVIT_EXPORT InformerBackend
{
public:
    virtual ~InformerBackend(); // ends the view
    virtual InformerRequest request() const = 0;
    virtual ListerBackend &lister() const = 0;
    virtual bool hasSynced() const noexcept = 0; // [thread-safe]
    virtual Status addIndex(const QString &name, std::shared_ptr<const IndexFunction> function) = 0;
    virtual FaultSink &faults() const = 0;
    // From now on, when the mailbox turns from empty to not empty, one event of type
    // wakeUpEventType() is posted to `receiver`. Delivery begins with the first call. Null ends it:
    // after that no event is posted any more. [plugin-thread]
    virtual void setReceiver(QObject *receiver) = 0;
    // What waits, in order. It may be a part: then another event is posted. [plugin-thread]
    virtual std::vector<Notification> takeBatch() = 0;
    // Notification `n` was handled (its slots returned or threw). [plugin-thread]
    virtual void handled(const Notification &n) = 0;
};
DAVIT_EXPORT int wakeUpEventType(); // a registered QEvent type [thread-safe]

class DAVIT_EXPORT ClientBackend : public RefCounted
{
public:
    enum class Verb : quint8 { Get, List, Create, Update, Patch, Delete, DeleteCollection };
    // `object` for Create and Update, `patch` for Patch; `key` for the others. Answers with one
    // object: of List a Table, of DeleteCollection the list of what was deleted. [thread-safe]
    virtual QFuture<ObjectReply> call(Verb verb, const Gvk &gvk, const ObjectKey &key,
        const Object &object, const Patch *patch, const RequestOptions &options)
        = 0;
    virtual QFuture<ListReply> list(const Gvk &gvk, const RequestOptions &options) = 0;
    // GET of a path with its query, percent-encoded. Unsupported where it is not implemented.
    // [thread-safe]
    virtual QFuture<BodyReply> getRaw(const QByteArray &target, const RequestOptions &options);
};

class DAVIT_EXPORT EventBackend : public RefCounted
{
public:
    virtual void record(const Object &regarding, EventSeverity severity, const QString &reason,
        const QString &note) noexcept = 0; // [thread-safe]
    // Of events.k8s.io; `related` may be null. [thread-safe]
    virtual void recordAction(const Object &regarding, const Object &related,
        EventSeverity severity, const QString &reason, const QString &action,
        const QString &note) noexcept = 0;
};

// One plugin's context. Lives from before initialize() until after the plugin object's death.
class DAVIT_EXPORT HostBackend
{
public:
    virtual ~HostBackend();
    virtual QString pluginId() const = 0;
    virtual Status makeInformer(
        const InformerRequest &request, std::unique_ptr<InformerBackend> *backend)
        = 0; // [plugin-thread]
    virtual Status makeLister(const InformerRequest &request, ListerBackend **backend)
        = 0; // [thread-safe]
    virtual ClientBackend &client() = 0;
    virtual EventBackend &events() = 0;
    virtual QJsonObject config() const = 0;
    virtual ClockBackend &clock() = 0;
    virtual LogBackend &log() = 0;
    virtual MetricsBackend &metrics() = 0;
    virtual FaultSink &faults() = 0;
    // Parent of the plugin's informers; lives in the plugin's thread.
    virtual QObject *informerParent() = 0;
    // Takes the specification, also on error. [plugin-thread]
    virtual Status startController(std::unique_ptr<ControllerSpec> spec) = 0;
};

// Behind ReconcileContext.
class DAVIT_EXPORT ReconcileState
{
public:
    virtual ~ReconcileState();
    virtual bool isStopping() const noexcept = 0;
    virtual std::chrono::nanoseconds deadline() const noexcept = 0;
    virtual Logger log() const = 0;
    virtual QString traceId() const = 0;
    virtual QStringList causes() const = 0;
    virtual ClientBackend &client() const = 0;
};

} // namespace davit::priv
