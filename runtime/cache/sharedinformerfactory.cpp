#include "sharedinformerfactory.h"

#include "restlisterwatcher.h"
#include "runninginformer.h"
#include "view.h"

#include <QtCore/qthreadpool.h>
#include <algorithm>
#include <condition_variable>

namespace davit::cache {

using namespace std::chrono_literals;

// What outlives the factory as long as a view does.
class SharedInformerFactory::Core : public std::enable_shared_from_this<Core>
{
public:
    Core(transport::Transport &transport, QThreadPool &pool, support::TimeSource &time,
        FactoryOptions options)
        : m_transport(transport), m_pool(pool), m_time(time), m_options(std::move(options))
    { }

    void start();
    void shutdown();
    Status parts(const transport::Resource &resource, const InformerRequest &request,
        const std::shared_ptr<Mailbox> &mailbox, const std::vector<WatchScope> &scopes,
        std::vector<std::shared_ptr<ViewPart>> *parts);
    std::vector<ResourceState> states() const;
    QStringList unsynced() const;
    QStringList waitForSync(std::chrono::milliseconds limit) const;
    std::vector<HandlerState> handlers() const;
    QString addView(const QString &owner, const InformerRequest &request,
        const std::shared_ptr<Mailbox> &mailbox);
    QString nextViewKey();
    const FactoryOptions &options() const { return m_options; }
    support::TimeSource &time() const { return m_time; }

private:
    struct Entry
    {
        std::unique_ptr<RunningInformer> owned;
        std::weak_ptr<RunningInformer> users; // the last one calls retire()
        QString plural;
        bool isRetiring = false; // nobody uses it any more
    };
    struct Handler
    {
        QString owner;
        InformerRequest request;
        std::weak_ptr<const Mailbox> mailbox;
    };

    struct Acquired
    {
        std::shared_ptr<RunningInformer> informer; // null: shut down
        std::shared_ptr<void> place;
    };
    // `resyncPeriod` counts when it is the first to ask; negative: the default.
    Acquired acquire(const transport::Resource &resource, const WatchScope &scope,
        std::chrono::nanoseconds resyncPeriod);
    std::unique_ptr<RunningInformer> make(const transport::Resource &resource,
        const WatchScope &scope, std::chrono::nanoseconds resyncPeriod);
    void followKind(const Gvk &gvk, RestCollection *collection) const;
    SharedInformerOptions informerOptions(const WatchScope &scope, RunningInformer *running);
    bool isShutDown() const;
    void widen(RunningInformer *wide);
    void retire(RunningInformer *informer);
    void dispose(RunningInformer *informer);

    transport::Transport &m_transport;
    QThreadPool &m_pool;
    support::TimeSource &m_time;
    const FactoryOptions m_options;
    mutable std::mutex m_mutex;
    std::vector<Entry> m_entries; // GUARDED_BY(m_mutex)
    // Stopped by shutdown(), and still read by views. GUARDED_BY(m_mutex)
    std::vector<std::unique_ptr<RunningInformer>> m_stillRead;
    std::vector<Handler> m_handlers; // GUARDED_BY(m_mutex)
    std::condition_variable m_ended;
    mutable std::condition_variable m_synced;
    quint64 m_syncs = 0; // informers that have synced so far; GUARDED_BY(m_mutex)
    int m_ending = 0; // informers that a thread of the pool ends; GUARDED_BY(m_mutex)
    quint64 m_views = 0; // GUARDED_BY(m_mutex)
    bool m_isStarted = false; // GUARDED_BY(m_mutex)
    bool m_isShutDown = false; // GUARDED_BY(m_mutex)
    bool m_hasEnded = false; // the first shutdown() is through; GUARDED_BY(m_mutex)
};

void SharedInformerFactory::Core::start()
{
    const std::lock_guard lock(m_mutex);
    if (m_isShutDown || std::exchange(m_isStarted, true))
        return;
    for (const Entry &entry : m_entries)
        entry.owned->executor().post([raw = entry.owned.get()] { raw->informer().start(); });
}

Status SharedInformerFactory::Core::parts(const transport::Resource &resource,
    const InformerRequest &request, const std::shared_ptr<Mailbox> &mailbox,
    const std::vector<WatchScope> &scopes, std::vector<std::shared_ptr<ViewPart>> *parts)
{
    for (const WatchScope &scope : scopes) {
        Acquired acquired = acquire(resource, scope, request.resyncPeriod());
        if (!acquired.informer) {
            for (const std::shared_ptr<ViewPart> &part : *parts)
                part->close();
            return Status(ErrorCode::Canceled,
                QStringLiteral("watch %1: the cache is shut down").arg(toString(request.gvk())));
        }
        parts->push_back(std::make_shared<ViewPart>(scope, mailbox));
        // Readers hear no resyncs.
        parts->back()->attach(std::move(acquired.informer), std::move(acquired.place),
            mailbox ? request.resyncPeriod() : 0ns);
    }
    return Status::ok();
}

QString SharedInformerFactory::Core::nextViewKey()
{
    const std::lock_guard lock(m_mutex);
    return QString::number(++m_views);
}

QString SharedInformerFactory::Core::addView(
    const QString &owner, const InformerRequest &request, const std::shared_ptr<Mailbox> &mailbox)
{
    {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_handlers, [](const Handler &handler) { return handler.mailbox.expired(); });
        m_handlers.push_back({owner, request, mailbox});
    }
    return nextViewKey();
}

SharedInformerFactory::Core::Acquired SharedInformerFactory::Core::acquire(
    const transport::Resource &resource, const WatchScope &scope,
    std::chrono::nanoseconds resyncPeriod)
{
    std::vector<std::shared_ptr<RunningInformer>> looked; // let go outside the lock
    Acquired exact; // it, too
    const std::lock_guard lock(m_mutex);
    if (m_isShutDown)
        return {};
    for (const Entry &entry : m_entries) {
        std::shared_ptr<RunningInformer> informer = entry.users.lock();
        if (!informer)
            continue;
        looked.push_back(informer);
        const bool isExact = informer->scope() == scope;
        if (!isExact && (!informer->scope().covers(scope) || !informer->informer().hasSynced()))
            continue;
        std::shared_ptr<void> place = RunningInformer::expect(informer, scope);
        if (!place)
            continue; // nobody asked it for this, lately
        if (!isExact)
            return {std::move(informer), std::move(place)};
        exact = {std::move(informer), std::move(place)};
    }
    if (exact.informer)
        return exact;
    std::unique_ptr<RunningInformer> owned = make(resource, scope, resyncPeriod);
    RunningInformer *const raw = owned.get();
    std::shared_ptr<RunningInformer> made(
        raw, [core = shared_from_this()](RunningInformer *last) { core->retire(last); });
    m_entries.push_back({std::move(owned), made, resource.plural, false});
    if (m_isStarted)
        raw->executor().post([raw] { raw->informer().start(); });
    std::shared_ptr<void> place = RunningInformer::expect(made, scope);
    return {std::move(made), std::move(place)};
}

std::unique_ptr<RunningInformer> SharedInformerFactory::Core::make(
    const transport::Resource &resource, const WatchScope &scope,
    std::chrono::nanoseconds resyncPeriod)
{
    auto made = m_options.executor ? std::make_unique<RunningInformer>(scope, *m_options.executor)
                                   : std::make_unique<RunningInformer>(scope, m_pool);
    std::unique_ptr<ListerWatcher> source;
    if (m_options.source) {
        source = m_options.source(scope);
    } else {
        RestCollection collection{resource, scope.namespaceName, scope.labelSelector,
            scope.fieldSelector, scope.shardSelector, m_options.managedFields,
            scope.isMetadataOnly ? priv::Depth::MetadataOnly : priv::Depth::Full, m_options.limits,
            {}, m_options.warnings};
        if (m_options.tweak)
            collection.tweak = [tweak = m_options.tweak, gvk = scope.gvk](
                                   transport::ListOptions *options) { tweak(gvk, options); };
        collection.prefersProtobuf = m_options.prefersProtobuf;
        followKind(scope.gvk, &collection);
        source = std::make_unique<RestListerWatcher>(
            m_transport, std::move(collection), m_options.log.with("resource", scope.toText()));
    }
    SharedInformerOptions options = informerOptions(scope, made.get());
    if (m_options.onProcessed)
        options.onProcessed = m_options.onProcessed(scope, resource.plural);
    // Its first listener comes after the start, when it could not be checked more often any more.
    if (resyncPeriod > 0ns) {
        const auto asked = std::max<std::chrono::nanoseconds>(resyncPeriod, 1s);
        options.resyncCheckPeriod
            = options.resyncPeriod > 0ns ? std::min(options.resyncPeriod, asked) : asked;
    }
    made->setUp(std::move(source), m_time, std::move(options));
    return made;
}

// What is served, and where, changes while we watch.
void SharedInformerFactory::Core::followKind(const Gvk &gvk, RestCollection *collection) const
{
    if (m_options.currentResource)
        collection->current = [current = m_options.currentResource, gvk] { return current(gvk); };
    if (m_options.onNotServed)
        collection->onNotServed = [gone = m_options.onNotServed, gvk] { gone(gvk); };
    const bool isOfDefinitions = gvk.group == QLatin1StringView("apiextensions.k8s.io")
        && gvk.kind == QLatin1StringView("CustomResourceDefinition");
    if (isOfDefinitions && m_options.onDefinition)
        collection->onEvent = [told = m_options.onDefinition](const Object &definition) {
            told(definition.name().section(u'.', 1)); // "widgets.demo.example"
        };
}

SharedInformerOptions SharedInformerFactory::Core::informerOptions(
    const WatchScope &scope, RunningInformer *running)
{
    SharedInformerOptions options;
    options.resyncPeriod = m_options.resyncPeriod;
    if (m_options.resyncPeriodOf) {
        const auto own = m_options.resyncPeriodOf(scope.gvk);
        options.resyncPeriod = own < own.zero() ? options.resyncPeriod : own;
    }
    options.transform = m_options.transform;
    options.mutationCheckPeriod = m_options.mutationCheckPeriod;
    options.reflector.name = scope.toText();
    options.reflector.expectedGvk = scope.gvk;
    options.reflector.log = m_options.log;
    options.reflector.backoff = m_options.backoff;
    options.reflector.maxFillBytes = m_options.maxFillBytes;
    options.reflector.checksConsistency = m_options.checksConsistency;
    if (m_options.onWatchError)
        options.reflector.onRoundError
            = [tell = m_options.onWatchError, scope](const Error &error) { tell(scope, error); };
    if (m_options.initialSync)
        options.reflector.initialSync = m_options.initialSync(scope.gvk);
    options.onSynced = [core = weak_from_this(), running] {
        if (const auto self = core.lock())
            self->widen(running);
    };
    return options;
}

bool SharedInformerFactory::Core::isShutDown() const
{
    const std::lock_guard lock(m_mutex);
    return m_isShutDown;
}

// On the strand of `wide`, which has just synced.
void SharedInformerFactory::Core::widen(RunningInformer *wide)
{
    std::vector<std::shared_ptr<RunningInformer>> looked; // let go outside the lock
    const std::lock_guard lock(m_mutex);
    ++m_syncs;
    m_synced.notify_all();
    std::shared_ptr<RunningInformer> target;
    for (const Entry &entry : m_entries) {
        looked.push_back(entry.users.lock());
        if (entry.owned.get() == wide)
            target = looked.back();
    }
    if (m_isShutDown || !target)
        return;
    for (const std::shared_ptr<RunningInformer> &narrow : looked) {
        if (!narrow || narrow == target || !target->scope().covers(narrow->scope()))
            continue;
        narrow->executor().post([narrow, target] { narrow->setSuccessor(target); });
    }
}

// Nobody uses it any more; on any thread, its own strand included.
void SharedInformerFactory::Core::retire(RunningInformer *informer)
{
    std::unique_ptr<RunningInformer> last; // freed outside the lock
    const std::lock_guard lock(m_mutex);
    const auto entry = std::find_if(m_entries.begin(), m_entries.end(),
        [&](const Entry &other) { return other.owned.get() == informer; });
    if (entry == m_entries.end()) { // shut down: its strand has ended
        const auto left = std::find_if(m_stillRead.begin(), m_stillRead.end(),
            [&](const auto &other) { return other.get() == informer; });
        last = std::move(*left);
        m_stillRead.erase(left);
        return;
    }
    entry->isRetiring = true;
    informer->executor().post([core = shared_from_this(), informer] {
        if (core->isShutDown()) // it may be gone already, on a borrowed executor
            return;
        informer->informer().stop();
        core->dispose(informer);
    });
}

// On the informer's strand, which cannot end itself: a thread of the pool waits for it.
void SharedInformerFactory::Core::dispose(RunningInformer *informer)
{
    std::shared_ptr<RunningInformer> last; // a work can be copied, a unique_ptr in it could not
    {
        const std::lock_guard lock(m_mutex);
        if (m_isShutDown) // shutdown() frees it
            return;
        const auto entry = std::find_if(m_entries.begin(), m_entries.end(),
            [&](const Entry &other) { return other.owned.get() == informer; });
        last = std::move(entry->owned);
        m_entries.erase(entry);
        ++m_ending;
    }
    // Moved all the way: freed by the work, never here on its own strand.
    support::Executor::Work end = [core = shared_from_this(), last = std::move(last)]() mutable {
        last->endStrand();
        last.reset();
        const std::lock_guard lock(core->m_mutex);
        --core->m_ending;
        core->m_ended.notify_all();
    };
    if (m_options.executor)
        m_options.executor->post(std::move(end));
    else
        m_pool.start(std::move(end));
}

void SharedInformerFactory::Core::shutdown()
{
    std::vector<RunningInformer *> running; // nobody frees them from here on
    {
        std::unique_lock lock(m_mutex);
        if (std::exchange(m_isShutDown, true)) {
            m_ended.wait(lock, [this] { return m_hasEnded; });
            return;
        }
        for (const Entry &entry : m_entries)
            running.push_back(entry.owned.get());
        m_synced.notify_all();
    }
    for (RunningInformer *const informer : running) {
        if (m_options.executor)
            informer->informer().stop();
        else
            informer->runAndWait([informer] { informer->informer().stop(); });
        informer->endStrand();
    }
    std::vector<std::unique_ptr<RunningInformer>> unused; // freed outside the lock
    std::unique_lock lock(m_mutex);
    for (Entry &entry : m_entries)
        (entry.isRetiring ? unused : m_stillRead).push_back(std::move(entry.owned));
    m_entries.clear();
    if (!m_options.executor)
        m_ended.wait(lock, [this] { return m_ending == 0; });
    m_hasEnded = true;
    m_ended.notify_all();
}

std::vector<ResourceState> SharedInformerFactory::Core::states() const
{
    std::vector<std::pair<std::shared_ptr<RunningInformer>, QString>> informers;
    {
        const std::lock_guard lock(m_mutex);
        for (const Entry &entry : m_entries)
            informers.emplace_back(entry.users.lock(), entry.plural);
    }
    std::vector<ResourceState> states;
    for (const auto &[running, plural] : informers) {
        if (!running)
            continue;
        const SharedInformer &informer = running->informer();
        ResourceState &state = states.emplace_back();
        state.scope = running->scope();
        state.plural = plural;
        state.hasSynced = informer.hasSynced();
        state.reflector = informer.reflectorState();
        {
            const std::shared_ptr<const StoreSnapshot> stored = informer.store()->snapshot();
            state.objects = stored->objects.size();
            state.storeVersion = stored->resourceVersion;
        } // let go before the held ones are counted
        state.queueDepth = informer.queueDepth();
        state.heldSnapshots = informer.store()->heldSnapshots();
        state.staleEvents = informer.staleEvents();
        state.damagedObjects = informer.damagedObjects();
        state.users = running.use_count() - 1;
    }
    return states;
}

QStringList SharedInformerFactory::Core::unsynced() const
{
    std::vector<std::shared_ptr<RunningInformer>> looked; // let go outside the lock
    QStringList waiting;
    {
        const std::lock_guard lock(m_mutex);
        for (const Entry &entry : m_entries)
            looked.push_back(entry.users.lock());
    }
    for (const std::shared_ptr<RunningInformer> &running : looked) {
        if (running && !running->informer().hasSynced())
            waiting += running->scope().toText();
    }
    waiting.sort();
    return waiting;
}

QStringList SharedInformerFactory::Core::waitForSync(std::chrono::milliseconds limit) const
{
    const auto until = std::chrono::steady_clock::now() + limit;
    std::unique_lock lock(m_mutex);
    for (;;) {
        const quint64 seen = m_syncs;
        lock.unlock();
        const QStringList waiting = unsynced();
        lock.lock();
        const auto hasNews = [this, seen] { return m_isShutDown || m_syncs != seen; };
        if (waiting.isEmpty() || m_isShutDown || !m_synced.wait_until(lock, until, hasNews))
            return waiting;
    }
}

std::vector<HandlerState> SharedInformerFactory::Core::handlers() const
{
    std::vector<Handler> known;
    {
        const std::lock_guard lock(m_mutex);
        known = m_handlers;
    }
    std::vector<HandlerState> states;
    for (const Handler &handler : known) {
        if (const auto mailbox = handler.mailbox.lock())
            states.push_back({handler.owner, handler.request, mailbox->pending()});
    }
    return states;
}

// ------------------------------------------------------------------------------------------------

namespace {

// One scope a namespace that is asked for. `only` is the factory's own namespace, or empty.
Status scopesOf(const transport::Resource &resource, const InformerRequest &request,
    const QString &only, std::vector<WatchScope> *scopes)
{
    const Result<WatchScope> asked = WatchScope::of(request);
    if (!asked.isOk())
        return asked.error();
    QStringList namespaces = request.namespaces();
    namespaces.removeDuplicates();
    if (!resource.isNamespaced || namespaces.contains(QString()))
        namespaces.clear();
    if (namespaces.isEmpty())
        namespaces += resource.isNamespaced ? only : QString();
    for (const QString &name : std::as_const(namespaces)) {
        if (resource.isNamespaced && !only.isEmpty() && name != only)
            return Status(ErrorCode::InvalidArgument,
                QStringLiteral("watch %1 in %2: this cache is for the namespace %3 alone")
                    .arg(toString(resource.gvk), name, only));
    }
    for (const QString &name : std::as_const(namespaces)) {
        scopes->push_back(asked.value());
        scopes->back().gvk = resource.gvk;
        scopes->back().namespaceName = name;
    }
    return Status::ok();
}

} // namespace

SharedInformerFactory::SharedInformerFactory(transport::Transport &transport, QThreadPool &pool,
    support::TimeSource &time, FactoryOptions options)
    : m_core(std::make_shared<Core>(transport, pool, time, std::move(options)))
{ }

SharedInformerFactory::~SharedInformerFactory()
{
    shutdown();
}

void SharedInformerFactory::start()
{
    m_core->start();
}

Status SharedInformerFactory::makeInformer(const transport::Resource &resource,
    const InformerRequest &request, priv::FaultSink &faults,
    std::unique_ptr<priv::InformerBackend> *backend, const QString &owner,
    std::shared_ptr<const OwnWrites> ownWrites)
{
    std::vector<WatchScope> scopes;
    if (const Status status = scopesOf(resource, request, m_core->options().namespaceName, &scopes);
        !status.isOk())
        return status;
    const auto mailbox = std::make_shared<Mailbox>(request.delivery(), int(scopes.size()));
    std::vector<std::shared_ptr<ViewPart>> parts;
    if (const Status status = m_core->parts(resource, request, mailbox, scopes, &parts);
        !status.isOk())
        return status;
    *backend = std::make_unique<View>(request, m_core->addView(owner, request, mailbox), mailbox,
        std::move(parts), faults, m_core->time(), m_core->options().log.with("plugin", owner),
        ViewLister::Waits{std::move(ownWrites), m_core->options().onConsistencyWait});
    return Status::ok();
}

Status SharedInformerFactory::makeLister(const transport::Resource &resource,
    const InformerRequest &request, priv::ListerBackend **backend,
    std::shared_ptr<const OwnWrites> ownWrites)
{
    std::vector<WatchScope> scopes;
    if (const Status status = scopesOf(resource, request, m_core->options().namespaceName, &scopes);
        !status.isOk())
        return status;
    std::vector<std::shared_ptr<ViewPart>> parts;
    if (const Status status = m_core->parts(resource, request, nullptr, scopes, &parts);
        !status.isOk())
        return status;
    *backend = new ViewLister(request.gvk(), m_core->nextViewKey(), std::move(parts),
        ViewLister::Ownership::Owned,
        ViewLister::Waits{std::move(ownWrites), m_core->options().onConsistencyWait});
    return Status::ok();
}

std::vector<ResourceState> SharedInformerFactory::states() const
{
    return m_core->states();
}

QStringList SharedInformerFactory::unsynced() const
{
    return m_core->unsynced();
}

QStringList SharedInformerFactory::waitForSync(std::chrono::milliseconds limit) const
{
    return m_core->waitForSync(limit);
}

std::vector<HandlerState> SharedInformerFactory::handlers() const
{
    return m_core->handlers();
}

void SharedInformerFactory::shutdown()
{
    m_core->shutdown();
}

} // namespace davit::cache
