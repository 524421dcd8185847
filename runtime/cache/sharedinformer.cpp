#include "sharedinformer.h"

#include "resourceversion.h"

#include <support/moment.h>

#include <QtCore/qset.h>
#include <algorithm>

namespace davit::cache {

using namespace std::chrono_literals;
using Kind = InformerEvent::Kind;

namespace {

void tellStopped(const SharedInformer::Handover &handover)
{
    for (const SharedInformer::Handover::Leaving &leaving : handover.listeners)
        leaving.listener->onStopped();
}

} // namespace

SharedInformer::SharedInformer(std::unique_ptr<ListerWatcher> source, support::Executor &executor,
    support::TimeSource &time, SharedInformerOptions options)
    : m_source(std::move(source))
    , m_executor(executor)
    , m_time(time)
    , m_onProcessed(std::exchange(options.onProcessed, nullptr))
    , m_options(std::move(options))
    , m_store(std::make_shared<ThreadSafeStore>(&executor))
    , m_queue([this] {
        RealFifoOptions queue;
        queue.transform = m_options.transform;
        queue.log = m_options.reflector.log.with("resource", m_options.reflector.name);
        queue.onReadable = [this] {
            m_executor.post([this, alive = std::weak_ptr<bool>(m_isAlive)] {
                if (alive.lock())
                    drain();
            });
        };
        return queue;
    }())
    , m_isAlive(std::make_shared<bool>(true))
    , m_resyncCheckPeriod(
          m_options.resyncCheckPeriod < 0ns ? m_options.resyncPeriod : m_options.resyncCheckPeriod)
{ }

SharedInformer::~SharedInformer()
{
    stop();
}

void SharedInformer::start()
{
    if (m_isStopped || m_reflector)
        return;
    ReflectorOptions options = m_options.reflector;
    options.resyncPeriod = m_resyncCheckPeriod;
    options.shouldResync = [this] { return shouldResync(); };
    options.known = [this](const ObjectKey &key) { return m_store->find(key); };
    {
        const std::lock_guard lock(m_mutex);
        m_reflector = std::make_unique<Reflector>(
            *m_source, m_queue, m_executor, m_time, std::move(options));
    }
    if (m_options.mutationCheckPeriod > 0ns)
        m_mutationCheck = std::make_unique<MutationCheck>(m_store, m_executor, m_time,
            m_options.mutationCheckPeriod, [this](const Object &object) { onDamage(object); });
    m_reflector->start();
}

void SharedInformer::stop()
{
    if (std::exchange(m_isStopped, true))
        return;
    m_isAlive.reset();
    m_mutationCheck.reset();
    if (m_reflector)
        m_reflector->stop();
    m_queue.close();
    for (const Adoption &adoption : std::exchange(m_adoptions, {}))
        tellStopped(adoption.handover);
    for (const Listening &listening : std::exchange(m_listeners, {}))
        listening.listener->onStopped();
    m_store->detach();
    m_onProcessed = nullptr;
}

QString SharedInformer::lastSyncResourceVersion() const
{
    return reflectorState().resourceVersion;
}

ReflectorState SharedInformer::reflectorState() const
{
    const std::lock_guard lock(m_mutex);
    return m_reflector ? m_reflector->state() : ReflectorState();
}

// Consumer -------------------------------------------------------------------------------------

void SharedInformer::drain()
{
    Status status;
    while (m_queue.tryPopBatch([this](std::span<const Delta> deltas,
                                   bool isInitial) { return process(deltas, isInitial); },
        &status)) { }
    m_store->publish();
    tellPublished();
    distribute();
    if (!hasSynced() && m_queue.hasSynced()) {
        m_hasSynced.store(true, std::memory_order_release);
        const std::vector<Listening> heard = m_listeners;
        for (const Listening &listening : heard)
            listening.listener->onSynced();
        if (m_options.onSynced)
            m_options.onSynced();
    }
    adoptThoseInTime();
}

Status SharedInformer::process(std::span<const Delta> deltas, bool isInInitialList)
{
    const qsizetype waiting = m_queue.depth();
    const Nanoseconds begun = m_time.monotonic();
    const Status status = apply(deltas, isInInitialList);
    const Nanoseconds took = m_time.monotonic() - begun;
    if (m_onProcessed)
        m_onProcessed(took);
    traceSlow(took, qsizetype(deltas.size()), waiting);
    return status;
}

// Q-21; once a minute.
void SharedInformer::traceSlow(Nanoseconds took, qsizetype changes, qsizetype waiting)
{
    if (waiting <= 10 || took <= std::min<Nanoseconds>(100ms * changes, 1s))
        return;
    const Nanoseconds now = m_time.monotonic();
    if (m_slowToldAt && now - *m_slowToldAt < 1min)
        return;
    m_slowToldAt = now;
    m_options.reflector.log.with("resource", m_options.reflector.name)
        .info("changes take long to store, others wait for them",
            {{"seconds", double(took.count()) / 1e9}, {"changes", changes}, {"waiting", waiting}});
}

Status SharedInformer::apply(std::span<const Delta> deltas, bool isInInitialList)
{
    for (const Delta &delta : deltas) {
        switch (delta.type) {
        case DeltaType::Added:
        case DeltaType::Updated:
        case DeltaType::Replaced:
        case DeltaType::Sync:
            upsert(delta, isInInitialList);
            break;
        case DeltaType::Deleted:
            remove(delta);
            break;
        case DeltaType::ReplacedAll:
            replaceAll(delta, isInInitialList);
            break;
        case DeltaType::SyncAll:
            syncAll();
            break;
        case DeltaType::Bookmark:
            m_store->setResourceVersion(delta.resourceVersion);
            break;
        case DeltaType::Unset:
            break;
        }
    }
    return Status::ok();
}

void SharedInformer::upsert(const Delta &delta, bool isInInitialList)
{
    const Object before = m_store->find(delta.key);
    const Object object = kept(delta.object);
    const QString version = delta.object.resourceVersion();
    if (!before.isNull() && haveSameUid(before, delta.object) && !version.isEmpty()
        && compareVersions(version, before.resourceVersion()) <= 0) {
        m_staleEvents.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (object.isNull()) {
        drop(delta.key, before, delta.object);
    } else if (before.isNull()) {
        m_store->put(delta.key, object);
        m_events.push_back({Kind::Added, isInInitialList, false, false, {}, object});
    } else if (!haveSameUid(before, object)) {
        replaceOther(delta.key, before, object, isInInitialList);
    } else {
        m_store->put(delta.key, object);
        m_events.push_back({Kind::Updated, false, false, false, before, object});
    }
}

// It is not what is kept (any more): a view that showed it tells its deletion.
void SharedInformer::drop(const ObjectKey &key, const Object &before, const Object &after)
{
    if (!before.isNull()) {
        m_store->remove(key);
        if (haveSameUid(before, after))
            m_events.push_back({Kind::Updated, false, false, false, before, after});
        else
            m_events.push_back({Kind::Deleted, false, true, false, before, before});
    }
    m_store->setResourceVersion(after.resourceVersion()); // S-1: it was seen
}

// B16: the deletion in between was not seen.
void SharedInformer::replaceOther(
    const ObjectKey &key, const Object &before, const Object &after, bool isInitial)
{
    m_store->put(key, after);
    m_events.push_back({Kind::Deleted, false, true, false, before, before});
    m_events.push_back({Kind::Added, isInitial, false, false, {}, after});
}

void SharedInformer::remove(const Delta &delta)
{
    const Object before = m_store->remove(delta.key);
    if (!delta.isFinalStateUnknown && !delta.object.isNull())
        m_store->setResourceVersion(delta.object.resourceVersion()); // S-1
    const bool isOther = !before.isNull() && !haveSameUid(before, delta.object);
    const bool isUnknown = delta.isFinalStateUnknown || isOther;
    const Object &lastKnown = isUnknown && !before.isNull() ? before : delta.object;
    m_events.push_back({Kind::Deleted, false, isUnknown, false, before, lastKnown});
}

void SharedInformer::replaceAll(const Delta &delta, bool isInInitialList)
{
    std::vector<Object> few;
    if (m_keep) {
        for (const Object &item : *delta.items) {
            if (Object part = m_keep(item); !part.isNull())
                few.push_back(std::move(part));
        }
    }
    const std::vector<Object> &items = m_keep ? few : *delta.items;
    if (m_store->working().objects.size() > 0) {
        QSet<ObjectKey> listed;
        listed.reserve(qsizetype(items.size()));
        for (const Object &item : items)
            listed.insert(item.key());
        std::vector<Object> gone;
        m_store->working().objects.forEach([&](const Object &object) {
            if (!listed.contains(object.key()))
                gone.push_back(object);
        });
        for (const Object &object : gone) {
            m_store->remove(object.key());
            m_events.push_back({Kind::Deleted, false, true, false, object, object});
        }
    }
    m_events.reserve(m_events.size() + items.size());
    for (const Object &item : items) {
        const ObjectKey key = item.key();
        const Object before = m_store->find(key);
        if (before.isNull()) {
            m_store->put(key, item);
            m_events.push_back({Kind::Added, isInInitialList, false, false, {}, item});
        } else if (!haveSameUid(before, item)) {
            replaceOther(key, before, item, isInInitialList);
        } else if (delta.origin == ListOrigin::Ordinary && isOlderState(item, before)) {
            m_staleEvents.fetch_add(1, std::memory_order_relaxed); // B14
        } else {
            if (before != item)
                m_store->put(key, item);
            m_events.push_back(
                {Kind::Updated, false, false, haveSameVersion(before, item), before, item});
        }
    }
    m_store->setResourceVersion(delta.resourceVersion);
}

void SharedInformer::syncAll()
{
    m_store->working().objects.forEach([this](const Object &object) {
        m_events.push_back({Kind::Updated, false, false, true, object, object});
    });
}

void SharedInformer::tellPublished()
{
    for (const Listening &listening : m_listeners)
        listening.listener->onPublished();
}

void SharedInformer::distribute()
{
    const std::vector<InformerEvent> events = std::exchange(m_events, {});
    if (events.empty())
        return;
    for (const Listening &listening : m_listeners)
        listening.listener->onEvents(events, listening.isSyncing);
}

void SharedInformer::onDamage(const Object &object)
{
    m_damagedObjects.fetch_add(1, std::memory_order_relaxed);
    m_options.reflector.log.with("resource", m_options.reflector.name)
        .error("the memory of a cached object was written to; a plugin has a stray pointer",
            {{"object", toString(object.key())}});
}

// Listeners --------------------------------------------------------------------------------------

Status SharedInformer::addListener(
    std::shared_ptr<InformerListener> listener, std::optional<Nanoseconds> resyncPeriod)
{
    if (m_isStopped)
        return Status(ErrorCode::Canceled,
            QStringLiteral("listen to %1: its informer has stopped").arg(m_options.reflector.name));
    const Nanoseconds wanted = possiblePeriod(resyncPeriod.value_or(m_options.resyncPeriod));
    Listening listening{std::move(listener), wanted, effectivePeriod(wanted), {}, true};
    listening.nextResync = support::momentAfter(m_time.monotonic(), listening.effective);
    std::vector<InformerEvent> replay;
    replay.reserve(std::size_t(m_store->working().objects.size()));
    m_store->working().objects.forEach([&](const Object &object) {
        replay.push_back({Kind::Added, true, false, false, {}, object});
    });
    if (!replay.empty())
        listening.listener->onEvents(replay, true);
    if (hasSynced())
        listening.listener->onSynced();
    m_listeners.push_back(std::move(listening));
    return Status::ok();
}

// 4.2: at least a second, and no shorter than what a running informer checks.
std::chrono::nanoseconds SharedInformer::possiblePeriod(Nanoseconds asked)
{
    const auto seconds = [](Nanoseconds ns) { return double(ns.count()) / 1e9; };
    if (asked <= 0ns)
        return 0ns;
    const Logger log = m_options.reflector.log.with("resource", m_options.reflector.name)
                           .with("askedSeconds", seconds(asked));
    if (asked < 1s)
        log.warning("a resync period below a second is taken as one second");
    const Nanoseconds wanted = std::max<Nanoseconds>(asked, 1s);
    if (m_resyncCheckPeriod <= 0ns) {
        log.warning("a resync period has no effect, the watch that is shared has no resync");
    } else if (wanted < m_resyncCheckPeriod) {
        if (!m_reflector)
            checkAsOftenAs(wanted);
        else
            log.warning("a resync period is shorter than that of the watch that is shared",
                {{"periodSeconds", seconds(m_resyncCheckPeriod)}});
    }
    return wanted;
}

void SharedInformer::checkAsOftenAs(Nanoseconds period)
{
    m_resyncCheckPeriod = period;
    for (Listening &listening : m_listeners) {
        if (listening.effective <= 0ns)
            listening.nextResync
                = support::momentAfter(m_time.monotonic(), effectivePeriod(listening.requested));
        listening.effective = effectivePeriod(listening.requested);
    }
    if (m_reflector)
        m_reflector->setResyncPeriod(period);
}

void SharedInformer::removeListener(const InformerListener *listener)
{
    const auto isIt = [&](const auto &other) { return other.get() == listener; };
    std::erase_if(m_listeners, [&](const Listening &other) { return isIt(other.listener); });
    for (Adoption &adoption : m_adoptions)
        std::erase_if(adoption.handover.listeners,
            [&](const Handover::Leaving &other) { return isIt(other.listener); });
}

void SharedInformer::keepOnly(Keep keep)
{
    m_keep = std::move(keep);
    const QString version = m_store->working().resourceVersion;
    std::vector<std::pair<Object, Object>> changed; // as it is, and what is left of it
    m_store->working().objects.forEach([&](const Object &object) {
        Object part = m_keep(object);
        if (part.isNull() || part.isMetadataOnly() != object.isMetadataOnly())
            changed.emplace_back(object, std::move(part));
    });
    for (const auto &[object, part] : changed) {
        if (part.isNull())
            m_store->remove(object.key());
        else
            m_store->put(object.key(), part);
    }
    m_store->setResourceVersion(version);
    m_store->publish();
}

std::vector<std::shared_ptr<InformerListener>> SharedInformer::listeners() const
{
    std::vector<std::shared_ptr<InformerListener>> all;
    for (const Listening &listening : m_listeners)
        all.push_back(listening.listener);
    for (const Adoption &adoption : m_adoptions) {
        for (const Handover::Leaving &leaving : adoption.handover.listeners)
            all.push_back(leaving.listener);
    }
    return all;
}

Status SharedInformer::addIndexers(std::vector<std::pair<QString, IndexValues>> indexers)
{
    if (m_isStopped)
        return Status(ErrorCode::Canceled,
            QStringLiteral("add an index to %1: its informer has stopped")
                .arg(m_options.reflector.name));
    const Status status = m_store->addIndexers(std::move(indexers));
    m_store->publish();
    return status;
}

void SharedInformer::removeIndexer(const QString &name)
{
    if (m_isStopped)
        return;
    m_store->removeIndexer(name);
    m_store->publish();
}

SharedInformer::Handover SharedInformer::handOver()
{
    Handover handover;
    handover.heard = m_store->snapshot();
    handover.hasSynced = hasSynced();
    for (Listening &listening : m_listeners)
        handover.listeners.push_back({std::move(listening.listener), listening.requested});
    m_listeners.clear();
    m_isAlive.reset(); // what is queued is not stored any more
    if (m_reflector)
        m_reflector->stop();
    return handover;
}

void SharedInformer::adopt(Handover handover, std::function<bool(InformerListener &)> moved)
{
    if (m_isStopped) {
        tellStopped(handover);
        return;
    }
    if (handover.listeners.empty())
        return;
    m_adoptions.push_back({std::move(handover), std::move(moved)});
    adoptThoseInTime();
}

void SharedInformer::adoptThoseInTime()
{
    if (m_adoptions.empty() || !hasSynced() || m_queue.depth() > 0)
        return;
    std::vector<Adoption> inTime;
    std::erase_if(m_adoptions, [&](Adoption &adoption) {
        const bool isBehind = compareVersions(m_store->working().resourceVersion,
                                  adoption.handover.heard->resourceVersion)
            < 0;
        if (!isBehind)
            inTime.push_back(std::move(adoption));
        return !isBehind;
    });
    for (const Adoption &adoption : inTime)
        tellDifferences(adoption);
}

void SharedInformer::tellDifferences(const Adoption &adoption)
{
    const ObjectTrie &heard = adoption.handover.heard->objects;
    const ObjectTrie &stored = m_store->working().objects;
    const bool isInitial = !adoption.handover.hasSynced;
    std::vector<InformerEvent> events;
    heard.forEach([&](const Object &object) {
        if (stored.find(object.key()).isNull())
            events.push_back({Kind::Deleted, false, true, false, object, object, true});
    });
    stored.forEach([&](const Object &object) {
        const Object known = heard.find(object.key());
        if (known.isNull()) {
            events.push_back({Kind::Added, isInitial, false, false, {}, object});
        } else if (!haveSameUid(known, object)) {
            events.push_back({Kind::Deleted, false, true, false, known, known, true});
            events.push_back({Kind::Added, isInitial, false, false, {}, object});
        } else if (!haveSameVersion(known, object)) {
            events.push_back({Kind::Updated, false, false, false, known, object, true});
        }
    });
    for (const auto &[listener, wanted] : adoption.handover.listeners) {
        if (!adoption.moved(*listener))
            continue;
        listener->onEvents(events, true);
        if (isInitial)
            listener->onSynced();
        if (wanted > 0ns && (m_resyncCheckPeriod <= 0ns || wanted < m_resyncCheckPeriod))
            checkAsOftenAs(wanted);
        const Nanoseconds effective = effectivePeriod(wanted);
        m_listeners.push_back({listener, wanted, effective,
            support::momentAfter(m_time.monotonic(), effective), true});
    }
}

// Resync -----------------------------------------------------------------------------------------

// I-5.
std::chrono::nanoseconds SharedInformer::effectivePeriod(Nanoseconds wanted) const
{
    if (wanted <= 0ns || m_resyncCheckPeriod <= 0ns)
        return 0ns;
    return std::max(wanted, m_resyncCheckPeriod);
}

std::chrono::nanoseconds SharedInformer::effectiveResync(const InformerListener *listener) const
{
    for (const Listening &listening : m_listeners) {
        if (listening.listener.get() == listener)
            return listening.effective;
    }
    return 0ns;
}

// I-6: who is due now gets the equal-version updates until the next tick.
bool SharedInformer::shouldResync()
{
    const Nanoseconds now = m_time.monotonic();
    bool isAnyDue = false;
    for (Listening &listening : m_listeners) {
        listening.isSyncing = listening.effective > 0ns && now >= listening.nextResync;
        if (listening.isSyncing) {
            listening.nextResync = support::momentAfter(now, listening.effective);
            isAnyDue = true;
        }
    }
    return isAnyDue;
}

} // namespace davit::cache
