// A plugin's surroundings without a host: informers that the test feeds, faults that it reads. The
// test's own thread is the plugin's.
#pragma once

#include "controller/controllerruntime.h"
#include "testing/manualclock.h"

#include <davit/informer.h>
#include <davit/lister.h>
#include <davit/priv/backends.h>
#include <davit/priv/plugincall.h>

#include <QCoreApplication>
#include <QTest>
#include <thread>

class FakeFaults final : public davit::priv::FaultSink
{
public:
    void fault(const char *entry, const QString &subject, const QString &what) noexcept override
    {
        const std::lock_guard lock(m_mutex);
        m_lines += QStringLiteral("%1 (%2): %3").arg(QString::fromLatin1(entry), subject, what);
    }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }
    QStringList lines() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }

private:
    mutable std::mutex m_mutex;
    QStringList m_lines;
};

class FakeClient final : public davit::priv::ClientBackend
{
public:
    QFuture<davit::ObjectReply> call(Verb, const davit::Gvk &, const davit::ObjectKey &,
        const davit::Object &, const davit::Patch *, const davit::RequestOptions &) override
    {
        return {};
    }
    QFuture<davit::ListReply> list(const davit::Gvk &, const davit::RequestOptions &) override
    {
        return {};
    }
};

class NullLog final : public davit::priv::LogBackend
{
public:
    bool isEnabled(davit::LogLevel) const noexcept override { return true; }
    void write(davit::LogLevel, const QString &logger, const char *message,
        const davit::LogField *fields, qsizetype count) noexcept override
    {
        QString line = logger + QStringLiteral(": ") + QString::fromUtf8(message);
        for (qsizetype i = 0; i < count; ++i)
            line += QStringLiteral(" %1=%2").arg(
                QString::fromLatin1(fields[i].key), fields[i].value.toString());
        const std::lock_guard lock(m_mutex);
        m_lines += line;
    }
    QStringList lines() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }

private:
    mutable std::mutex m_mutex;
    QStringList m_lines;
};

class FakeInformerBackend final : public davit::priv::InformerBackend
{
public:
    using Notification = davit::priv::Notification;
    FakeInformerBackend(const davit::InformerRequest &request, FakeFaults &faults)
        : m_request(request), m_faults(faults)
    { }
    davit::InformerRequest request() const override { return m_request; }
    davit::priv::ListerBackend &lister() const override { qFatal("no lister here"); }
    bool hasSynced() const noexcept override { return false; }
    davit::Status addIndex(const QString &, std::shared_ptr<const davit::IndexFunction>) override
    {
        return davit::Status::ok();
    }
    davit::priv::FaultSink &faults() const override { return m_faults; }
    void setReceiver(QObject *receiver) override { m_receiver = receiver; }
    std::vector<Notification> takeBatch() override { return std::exchange(m_batch, {}); }
    void handled(const Notification &) override { }

    void feed(Notification notification)
    {
        m_batch.push_back(std::move(notification));
        QEvent event{QEvent::Type(davit::priv::wakeUpEventType())};
        QCoreApplication::sendEvent(m_receiver, &event);
    }

private:
    const davit::InformerRequest m_request;
    FakeFaults &m_faults;
    QObject *m_receiver = nullptr;
    std::vector<Notification> m_batch;
};

class FakeHost final : public davit::priv::HostBackend
{
public:
    FakeHost() : m_client(new FakeClient), m_context(*this), m_parent(new QObject)
    {
        m_client->retain();
    }
    ~FakeHost() override
    {
        m_parent.reset();
        m_client->release();
    }

    QString pluginId() const override { return QStringLiteral("replicator"); }
    davit::Status makeInformer(const davit::InformerRequest &request,
        std::unique_ptr<davit::priv::InformerBackend> *backend) override
    {
        if (request.gvk().kind == QStringLiteral("Unknown"))
            return davit::Status(davit::ErrorCode::UndeclaredResource,
                QStringLiteral("the metadata does not name this kind"));
        auto made = std::make_unique<FakeInformerBackend>(request, m_faults);
        m_informers.push_back(made.get());
        *backend = std::move(made);
        return davit::Status::ok();
    }
    davit::Status makeLister(const davit::InformerRequest &, davit::priv::ListerBackend **) override
    {
        return davit::Status(davit::ErrorCode::Unsupported, QString());
    }
    davit::priv::ClientBackend &client() override { return *m_client; }
    davit::priv::EventBackend &events() override { qFatal("no events here"); }
    QJsonObject config() const override { return {}; }
    davit::priv::ClockBackend &clock() override { qFatal("no clock here"); }
    davit::priv::LogBackend &log() override { return m_log; }
    davit::priv::MetricsBackend &metrics() override { qFatal("no metrics here"); }
    davit::priv::FaultSink &faults() override { return m_faults; }
    QObject *informerParent() override { return m_parent.get(); }
    davit::Status startController(std::unique_ptr<davit::priv::ControllerSpec> spec) override
    {
        return m_runtime->start(std::move(spec));
    }

    davit::HostContext &context() { return m_context; }
    FakeInformerBackend &informer(size_t index) { return *m_informers.at(index); }
    size_t informerCount() const { return m_informers.size(); }
    FakeFaults &faultLog() { return m_faults; }
    QStringList logLines() const { return m_log.lines(); }
    void use(davit::controller::ControllerRuntime &runtime) { m_runtime = &runtime; }
    // What the plugin host does when the plugin has been stopped.
    void dropPluginObjects() { m_parent = std::make_unique<QObject>(); }

private:
    FakeFaults m_faults;
    NullLog m_log;
    FakeClient *const m_client;
    davit::HostContext m_context;
    davit::controller::ControllerRuntime *m_runtime = nullptr;
    std::vector<FakeInformerBackend *> m_informers; // owned by their Informer objects
    std::unique_ptr<QObject> m_parent;
};

// Counts what the controller reports.
class FakeObserver final : public davit::controller::ControllerObserver
{
public:
    void started(int workers) override { m_workers = workers; }
    void reconcileBegan() override { ++m_began; }
    void reconcileEnded(const davit::controller::ReconcileReport &report) override
    {
        const std::lock_guard lock(m_mutex);
        m_reports.push_back(report);
    }
    std::vector<davit::controller::ReconcileReport> reports() const
    {
        const std::lock_guard lock(m_mutex);
        return m_reports;
    }
    int workers() const { return m_workers; }
    int began() const { return m_began; }

private:
    std::atomic<int> m_workers{0};
    std::atomic<int> m_began{0};
    mutable std::mutex m_mutex;
    std::vector<davit::controller::ReconcileReport> m_reports;
};

// A runtime over manual time, one plugin, and the queue of its controller "copies".
struct ControllerFixture
{
    davit::testing::ManualClock clock;
    davit::testing::ManualExecutor executor;
    davit::workqueue::QueueRegistry queues{clock, executor};
    FakeObserver observer;
    FakeHost host;
    const std::shared_ptr<davit::support::Permit> permit; // null: no leader is elected
    davit::controller::ControllerRuntime runtime;

    explicit ControllerFixture(const std::function<std::shared_ptr<davit::support::Permit>(
                                   const davit::support::TimeSource &)> &makePermit
        = {})
        : permit(makePermit ? makePermit(clock) : nullptr)
        , runtime({&clock, &executor, &queues,
              [this](const QString &, const QString &) { return &observer; },
              [](const davit::Gvk &gvk) { return gvk.kind != QStringLiteral("Cluster"); }, permit})
    {
        host.use(runtime);
    }
    ~ControllerFixture() { stop(); }

    davit::workqueue::PriorityQueue &queue()
    {
        using namespace std::chrono_literals;
        return *queues.queue(QStringLiteral("replicator"), QStringLiteral("copies"), 5ms, 1000s);
    }
    // Until no worker but those that hang has anything to do; workers are real threads, so this
    // polls.
    void settle(int hanging = 0)
    {
        for (;;) {
            const davit::workqueue::QueueStats stats = queue().stats();
            if (stats.ready == 0 && stats.processing == hanging)
                return;
            std::this_thread::yield();
        }
    }
    void advance(std::chrono::nanoseconds by)
    {
        clock.advance(by, &executor);
        settle();
    }
    QStringList stop(std::chrono::nanoseconds limit = std::chrono::nanoseconds(-1))
    {
        QStringList abandoned;
        bool isDone = false;
        runtime.stop(host.pluginId(), limit, [&](const QStringList &keys) {
            abandoned = keys;
            isDone = true;
        });
        while (!isDone) {
            executor.runAll();
            if (limit >= std::chrono::nanoseconds::zero())
                clock.advance(limit, &executor);
            std::this_thread::yield();
        }
        host.dropPluginObjects();
        return abandoned;
    }
    void synced(size_t informer = 0)
    {
        FakeInformerBackend::Notification n;
        n.kind = FakeInformerBackend::Notification::Kind::Synced;
        host.informer(informer).feed(n);
    }
    void added(const davit::Object &object, bool isInInitialList = false, size_t informer = 0)
    {
        FakeInformerBackend::Notification n;
        n.kind = FakeInformerBackend::Notification::Kind::Added;
        n.isInInitialList = isInInitialList;
        n.object = object;
        host.informer(informer).feed(n);
    }
    void updated(const davit::Object &before, const davit::Object &after, size_t informer = 0)
    {
        FakeInformerBackend::Notification n;
        n.kind = FakeInformerBackend::Notification::Kind::Updated;
        n.before = before;
        n.object = after;
        host.informer(informer).feed(n);
    }
    void deleted(const davit::Object &last, size_t informer = 0)
    {
        FakeInformerBackend::Notification n;
        n.kind = FakeInformerBackend::Notification::Kind::Deleted;
        n.object = last;
        host.informer(informer).feed(n);
    }
};

inline davit::Object parsed(const QByteArray &json)
{
    davit::Object object;
    const davit::Status status = davit::Object::fromJson(json, &object);
    if (!status.isOk())
        qFatal("%s", qPrintable(status.error().message()));
    return object;
}

inline davit::Object widget(const QString &name, int version = 1)
{
    return parsed(QStringLiteral(R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":)"
                                 R"({"name":"%1","namespace":"apps","resourceVersion":"%2"}})")
                      .arg(name)
                      .arg(version)
                      .toUtf8());
}

// A reconciler from a callable.
class FunctionReconciler final : public davit::Reconciler
{
public:
    using Function = std::function<davit::ReconcileResult(
        const davit::ReconcileRequest &, davit::ReconcileContext &)>;
    explicit FunctionReconciler(Function function) : m_function(std::move(function)) { }
    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override
    {
        return m_function(request, context);
    }

private:
    const Function m_function;
};

inline std::unique_ptr<davit::Reconciler> reconciler(FunctionReconciler::Function function)
{
    return std::make_unique<FunctionReconciler>(std::move(function));
}

inline const davit::Gvk kWidget{
    QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};
inline const davit::Gvk kConfigMap{QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")};
