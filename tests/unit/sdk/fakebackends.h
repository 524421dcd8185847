// Backends that write down what the SDK asks of them.
#pragma once

#include "../loglines.h"

#include <davit/consistency.h>
#include <davit/hostcontext.h>
#include <davit/priv/backends.h>
#include <davit/priv/controllerspec.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qcoreapplication.h>
#include <QtCore/qcoreevent.h>
#include <QtCore/qpromise.h>

namespace davit::fake {

class Faults final : public priv::FaultSink
{
public:
    void fault(const char *entry, const QString &subject, const QString &what) noexcept override
    {
        seen.append(QStringLiteral("%1|%2|%3").arg(QLatin1StringView(entry), subject, what));
    }
    void entered(const char *, const QString &) noexcept override { ++depth; }
    void left() noexcept override { --depth; }

    QStringList seen;
    int depth = 0;
};

class ListerOf final : public priv::ListerBackend
{
public:
    explicit ListerOf(const Gvk &gvk) : m_gvk(gvk) { ++alive; }
    ~ListerOf() override { --alive; }
    Gvk gvk() const override { return m_gvk; }
    bool hasSynced() const noexcept override { return true; }
    Object find(const ObjectKey &) const override { return {}; }
    QList<Object> list(const QString *namespaceName, const LabelSelector *selector) const override
    {
        asked = QStringLiteral("%1|%2").arg(namespaceName ? *namespaceName : QStringLiteral("-"),
            selector ? selector->toString() : QStringLiteral("-"));
        return {};
    }
    bool byIndex(const QString &, const QString &, QList<Object> *) const override { return false; }
    QStringList indexValues(const QString &) const override { return {}; }
    qsizetype count() const override { return 3; }
    Status waitFor(const Consistency &consistency) const override
    {
        asked = QStringLiteral("%1|%2|%3 ms")
                    .arg(int(consistency.type()))
                    .arg(consistency.resourceVersion())
                    .arg(consistency.timeout().count());
        return outcomeOfWait;
    }

    mutable QString asked;
    Status outcomeOfWait;
    static inline int alive = 0;

private:
    const Gvk m_gvk;
};

class View final : public priv::InformerBackend
{
public:
    View(const InformerRequest &request, priv::FaultSink &faults)
        : m_request(request), m_faults(faults), m_lister(new ListerOf(request.gvk()))
    {
        m_lister->retain();
    }
    ~View() override
    {
        m_lister->release();
        if (whenDead)
            *whenDead = true;
    }
    InformerRequest request() const override { return m_request; }
    priv::ListerBackend &lister() const override { return *m_lister; }
    bool hasSynced() const noexcept override { return isSynced; }
    Status addIndex(const QString &name, std::shared_ptr<const IndexFunction> function) override
    {
        indexes.append(name);
        lastIndex = function;
        return Status::ok();
    }
    priv::FaultSink &faults() const override { return m_faults; }
    void setReceiver(QObject *object) override { receiver = object; }
    std::vector<priv::Notification> takeBatch() override { return std::move(batch); }
    void handled(const priv::Notification &n) override { handledKinds.append(int(n.kind)); }

    // As the cache does when its mailbox turns from empty to not empty.
    void deliver(std::vector<priv::Notification> notifications)
    {
        batch = std::move(notifications);
        if (receiver)
            QCoreApplication::postEvent(
                receiver, new QEvent(QEvent::Type(priv::wakeUpEventType())));
    }

    QObject *receiver = nullptr;
    std::vector<priv::Notification> batch;
    QList<int> handledKinds;
    QStringList indexes;
    std::shared_ptr<const IndexFunction> lastIndex;
    bool isSynced = false;
    bool *whenDead = nullptr;

private:
    const InformerRequest m_request;
    priv::FaultSink &m_faults;
    ListerOf *m_lister;
};

// QtFuture has a function for this, under another name in each Qt.
template <typename T> QFuture<T> ready(T value)
{
    QPromise<T> promise;
    promise.start();
    promise.addResult(std::move(value));
    promise.finish();
    return promise.future();
}

class Calls final : public priv::ClientBackend
{
public:
    QFuture<ObjectReply> call(Verb verb, const Gvk &gvk, const ObjectKey &key, const Object &,
        const Patch *patch, const RequestOptions &options) override
    {
        seen.append(QStringLiteral("%1|%2|%3|%4|%5")
                        .arg(int(verb))
                        .arg(toString(gvk), toString(key), options.subresource(),
                            patch ? QString::fromUtf8(patch->body()) : QStringLiteral("-")));
        return ready(ObjectReply(Error(ErrorCode::NotFound, QStringLiteral("gone"))));
    }
    QFuture<ListReply> list(const Gvk &, const RequestOptions &options) override
    {
        seen.append(QStringLiteral("list|%1").arg(options.limit()));
        return ready(ListReply(QList<Object>(), QStringLiteral("7"), QStringLiteral("more"), 5));
    }
    QStringList seen;
};

class Events final : public priv::EventBackend
{
public:
    void record(const Object &, EventSeverity severity, const QString &reason,
        const QString &note) noexcept override
    {
        seen.append(QStringLiteral("%1|%2|%3").arg(int(severity)).arg(reason, note));
    }
    void recordAction(const Object &regarding, const Object &related, EventSeverity severity,
        const QString &reason, const QString &action, const QString &note) noexcept override
    {
        seen.append(QStringLiteral("%1|%2|%3|%4|%5|%6")
                        .arg(regarding.name(), related.name())
                        .arg(int(severity))
                        .arg(reason, action, note));
    }
    QStringList seen;
};

class Cell final : public priv::MetricCell
{
public:
    void add(double by) noexcept override { value += by; }
    void set(double to) noexcept override { value = to; }
    void observe(double v) noexcept override { observed.append(v); }
    double value = 0;
    QList<double> observed;
};

class Registry final : public priv::MetricsBackend
{
public:
    priv::MetricCell *cell(Type type, const QString &pluginId, const QString &name, const QString &,
        const MetricLabels &, const QList<double> &) override
    {
        asked.append(QStringLiteral("%1|%2|%3").arg(int(type)).arg(pluginId, name));
        return name == u"wrong name" ? nullptr : &shared;
    }
    Cell shared;
    QStringList asked;
};

class StoppedClock final : public priv::ClockBackend
{
public:
    std::chrono::nanoseconds monotonic() const override { return std::chrono::seconds(5); }
    std::chrono::nanoseconds utc() const override { return std::chrono::milliseconds(1500); }
};

class Host final : public priv::HostBackend
{
public:
    Host()
    {
        calls.retain();
        eventsSeen.retain();
    }
    QString pluginId() const override { return QStringLiteral("demo"); }
    Status makeInformer(
        const InformerRequest &request, std::unique_ptr<priv::InformerBackend> *backend) override
    {
        if (!answer.isOk())
            return answer;
        auto made = std::make_unique<View>(request, faultsSeen);
        view = made.get();
        *backend = std::move(made);
        return answer;
    }
    Status makeLister(const InformerRequest &request, priv::ListerBackend **backend) override
    {
        if (answer.isOk())
            *backend = new ListerOf(request.gvk());
        return answer;
    }
    priv::ClientBackend &client() override { return calls; }
    priv::EventBackend &events() override { return eventsSeen; }
    QJsonObject config() const override { return {{QStringLiteral("a"), 1}}; }
    priv::ClockBackend &clock() override { return clockSource; }
    priv::LogBackend &log() override { return lines; }
    priv::MetricsBackend &metrics() override { return registry; }
    priv::FaultSink &faults() override { return faultsSeen; }
    QObject *informerParent() override { return &parent; }
    Status startController(std::unique_ptr<priv::ControllerSpec> spec) override
    {
        started = std::move(spec);
        return answer;
    }

    Faults faultsSeen;
    Calls calls;
    Events eventsSeen;
    StoppedClock clockSource;
    Lines lines;
    Registry registry;
    Status answer;
    View *view = nullptr; // owned by the informer
    std::unique_ptr<priv::ControllerSpec> started;
    QObject parent; // last: its informers die first
};

} // namespace davit::fake
