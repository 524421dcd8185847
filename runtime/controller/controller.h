// One running controller of one generation of a plugin: its workers, between the host's queue and
// the plugin's reconciler. Contract:
//   - Workers begin when every source has synced, its initial events queued (M-1); never after
//   stop().
//   - One key is in one worker at a time; what a reconcile answers decides about the next turn
//   (BEHAVIOURS.md, M-4, M-5).
//   - What a reconcile throws is the plugin's fault and a failed reconcile; the worker goes on
//   (B40).
//   - With a permit they also wait for lead(); a reconcile starts only while the permit is valid,
//   and the workers end when it is not.
//   - stop() lets running reconciles end and takes no more keys. The queue stays: it is the host's.
//   - A source that does not sync holds up its own controller only (Davit decides otherwise than
//   M-1).
// Tests: tst_controller, tst_reconcileworker.
#pragma once

#include "controllerobserver.h"

#include <davit/priv/backends.h>
#include <davit/priv/controllerspec.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qthreadpool.h>
#include <atomic>
#include <functional>
#include <mutex>
#include <support/permit.h>
#include <workqueue/priorityqueue.h>

namespace davit::controller {

struct ControllerStats
{
    QString pluginId;
    QString controller;
    int workers = 0;
    int activeWorkers = 0;
    bool isRunning = false; // its workers have begun
    quint64 reconciles = 0; // ended ones
    quint64 failures = 0;
    workqueue::QueueStats queue;
};

class Controller
{
public:
    struct Surroundings
    {
        QString pluginId;
        std::shared_ptr<workqueue::PriorityQueue> queue;
        priv::FaultSink *faults = nullptr; // borrowed, as all pointers here
        priv::ClientBackend *client = nullptr; // the controller keeps a reference
        Logger log; // of the plugin
        ControllerObserver *observer = nullptr; // may be null
        const support::TimeSource *time = nullptr;
        std::shared_ptr<const support::Permit> permit{}; // null: reconciles may always start
        enum class Start : quint8 { AtOnce, WithLead };
        Start start = Start::AtOnce;
    };

    // Takes what it needs from `spec`; `sources` are how many have to sync.
    Controller(const priv::ControllerSpec &spec, const Surroundings &surroundings);
    // The workers have ended, or abandon() was called.
    ~Controller();
    Q_DISABLE_COPY_MOVE(Controller)

    const QString &name() const { return m_name; }
    // One more source has synced; the last one lets the workers begin. [plugin-thread]
    void sourceSynced();
    // With Start::WithLead: this process leads now. [thread-safe]
    void lead();
    // No key is taken any more. `onIdle` is called once, on any thread, when no worker runs; maybe
    // from inside. Only the first call counts. [thread-safe]
    void stop(std::function<void()> onIdle);
    // Keys in reconciles that run now. [thread-safe]
    std::vector<workqueue::WorkKey> inFlight() const;
    // The workers that still run are given up: their threads and the reconciler stay for ever.
    // [host-thread]
    void abandon();
    // Drops the reconciler, guarded; not when workers are in it. [plugin-thread]
    void releaseReconciler();
    ControllerStats stats() const; // [thread-safe]

private:
    void oneLessAwaited();
    void work();
    void reconcile(const workqueue::WorkItem &item, std::chrono::nanoseconds start);
    ReconcileReport settle(
        const workqueue::WorkItem &item, const ReconcileResult &result, const Logger &log);
    void retry(const workqueue::WorkItem &item, const ReconcileResult &result);
    void workerEnded();

    const QString m_name;
    const int m_workers;
    const std::chrono::nanoseconds m_timeout; // 0: none
    const Surroundings m_around;
    const workqueue::PriorityQueue::Consumer m_consumer;
    std::atomic<bool> m_isStopping{false};
    std::atomic<int> m_active{0};
    std::atomic<quint64> m_reconciles{0};
    std::atomic<quint64> m_failures{0};
    mutable std::mutex m_mutex;
    std::shared_ptr<Reconciler> m_reconciler; // GUARDED_BY(m_mutex)
    int m_awaited; // sources that have to sync, and the lead; GUARDED_BY(m_mutex)
    int m_running = 0; // workers; GUARDED_BY(m_mutex)
    std::function<void()> m_onIdle; // GUARDED_BY(m_mutex)
    bool m_hasBegun = false; // GUARDED_BY(m_mutex)
    std::unique_ptr<QThreadPool> m_pool;
};

} // namespace davit::controller
