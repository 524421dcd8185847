#include "realfifo.h"

#include <QtCore/qset.h>
#include <algorithm>
#include <iterator>

namespace davit::cache {

QLatin1StringView deltaTypeName(DeltaType type)
{
    constexpr QLatin1StringView names[] = {QLatin1StringView("Unset"), QLatin1StringView("Added"),
        QLatin1StringView("Updated"), QLatin1StringView("Deleted"), QLatin1StringView("Replaced"),
        QLatin1StringView("ReplacedAll"), QLatin1StringView("Sync"), QLatin1StringView("SyncAll"),
        QLatin1StringView("Bookmark")};
    return names[std::size_t(type)];
}

Status keyByName(const Object &object, ObjectKey *key)
{
    *key = object.key();
    if (!key->name.isEmpty())
        return Status::ok();
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("queue %1: it has no name (namespace \"%2\", uid \"%3\", version \"%4\")")
            .arg(toString(object.gvk()), key->namespaceName, object.uid(),
                object.resourceVersion()));
}

namespace {

bool isBatchable(DeltaType type)
{
    return type != DeltaType::ReplacedAll && type != DeltaType::SyncAll
        && type != DeltaType::Bookmark;
}

} // namespace

Status RealFifo::check(const RealFifoOptions &options)
{
    const auto refuse = [](const char *what) {
        return Status(
            ErrorCode::InvalidArgument, QStringLiteral("RealFifo: ") + QLatin1StringView(what));
    };
    if (options.isAtomic && options.known)
        return refuse("an atomic queue does not look at known objects");
    if (!options.isAtomic && !options.known)
        return refuse("a queue that relists item by item needs the known objects");
    if (!options.isAtomic && options.emitsBookmarks)
        return refuse("bookmarks need an atomic queue");
    return Status::ok();
}

RealFifo::RealFifo(RealFifoOptions options) : m_options(std::move(options))
{
    Q_ASSERT(check(m_options).isOk());
}

Status RealFifo::keyOf(const Object &object, ObjectKey *key) const
{
    return m_options.keyFunction ? m_options.keyFunction(object, key) : keyByName(object, key);
}

Status RealFifo::add(const Object &object)
{
    return enqueue(DeltaType::Added, object);
}

Status RealFifo::update(const Object &object)
{
    return enqueue(DeltaType::Updated, object);
}

Status RealFifo::remove(const Object &object)
{
    return enqueue(DeltaType::Deleted, object);
}

Status RealFifo::enqueue(DeltaType type, const Object &object)
{
    Delta delta;
    delta.type = type;
    delta.object = object;
    Status status = keyOf(object, &delta.key);
    if (status.isOk() && m_options.transform)
        status = m_options.transform(&delta.object);
    std::unique_lock lock(m_mutex);
    markPopulated();
    if (!status.isOk())
        return status;
    const bool wasEmpty = m_entries.empty();
    m_entries.push_back(std::move(delta));
    lock.unlock();
    announce(wasEmpty);
    return status;
}

Status RealFifo::removeUnseen(const ObjectKey &key, const Object &lastKnown)
{
    std::unique_lock lock(m_mutex);
    markPopulated();
    const bool wasEmpty = m_entries.empty();
    Delta delta;
    delta.type = DeltaType::Deleted;
    delta.isFinalStateUnknown = true;
    delta.key = key;
    delta.object = lastKnown;
    m_entries.push_back(std::move(delta));
    lock.unlock();
    announce(wasEmpty);
    return Status::ok();
}

Status RealFifo::replace(
    std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin)
{
    if (m_options.transform) {
        for (Object &object : objects) {
            if (const Status status = m_options.transform(&object); !status.isOk())
                return status;
        }
    }
    return m_options.isAtomic ? replaceAtomically(std::move(objects), resourceVersion, origin)
                              : replaceItemByItem(std::move(objects));
}

Status RealFifo::replaceAtomically(
    std::vector<Object> objects, const QString &resourceVersion, ListOrigin origin)
{
    std::erase_if(objects, [this](const Object &object) {
        ObjectKey key;
        const Status status = keyOf(object, &key);
        if (!status.isOk())
            m_options.log.warning(
                "an item of a list is left out", {{"error", status.error().message()}});
        return !status.isOk();
    });
    Delta delta;
    delta.type = DeltaType::ReplacedAll;
    delta.origin = origin;
    delta.resourceVersion = resourceVersion;
    delta.items = std::make_shared<const std::vector<Object>>(std::move(objects));
    std::unique_lock lock(m_mutex);
    const bool wasEmpty = m_entries.empty();
    m_entries.push_back(std::move(delta));
    finishPopulation(m_isPopulated);
    lock.unlock();
    announce(wasEmpty);
    return Status::ok();
}

Status RealFifo::replaceItemByItem(std::vector<Object> objects)
{
    std::vector<ObjectKey> keys(objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (const Status status = keyOf(objects[i], &keys[i]); !status.isOk())
            return status;
    }
    const QSet<ObjectKey> listed(keys.begin(), keys.end());
    std::unique_lock lock(m_mutex);
    const bool wasEmpty = m_entries.empty();
    // The newest entry of each key that is queued, in the order of first appearance.
    std::vector<ObjectKey> order;
    QHash<ObjectKey, const Delta *> newest;
    for (const Delta &delta : m_entries) {
        if (!newest.contains(delta.key))
            order.push_back(delta.key);
        newest[delta.key] = &delta;
    }
    std::vector<Delta> more;
    const auto buryUnseen = [&](const ObjectKey &key, const Object &object) {
        more.push_back({DeltaType::Deleted, true, ListOrigin::Ordinary, key, object, {}, {}});
    };
    for (const ObjectKey &key : order) {
        const Delta *const last = newest.value(key);
        if (!listed.contains(key) && last->type != DeltaType::Deleted)
            buryUnseen(key, last->object);
    }
    for (const ObjectKey &key : m_options.known->keys()) {
        if (!listed.contains(key) && !newest.contains(key))
            buryUnseen(key, m_options.known->find(key));
    }
    for (std::size_t i = 0; i < objects.size(); ++i)
        more.push_back({DeltaType::Replaced, false, ListOrigin::Ordinary, keys[i],
            std::move(objects[i]), {}, {}});
    std::move(more.begin(), more.end(), std::back_inserter(m_entries));
    finishPopulation(m_isPopulated);
    lock.unlock();
    announce(wasEmpty);
    return Status::ok();
}

Status RealFifo::resync()
{
    const std::vector<ObjectKey> known
        = m_options.isAtomic ? std::vector<ObjectKey>() : m_options.known->keys();
    std::unique_lock lock(m_mutex);
    const bool wasEmpty = m_entries.empty();
    if (m_options.isAtomic) {
        m_entries.emplace_back().type = DeltaType::SyncAll;
    } else {
        QSet<ObjectKey> queued;
        for (const Delta &delta : m_entries)
            queued.insert(delta.key);
        for (const ObjectKey &key : known) {
            const Object object = m_options.known->find(key);
            if (!queued.contains(key) && !object.isNull())
                m_entries.push_back(
                    {DeltaType::Sync, false, ListOrigin::Ordinary, key, object, {}, {}});
        }
    }
    const bool isReadable = !m_entries.empty();
    lock.unlock();
    announce(wasEmpty && isReadable);
    return Status::ok();
}

void RealFifo::bookmark(const QString &resourceVersion)
{
    if (!m_options.emitsBookmarks)
        return;
    std::unique_lock lock(m_mutex);
    const bool wasEmpty = m_entries.empty();
    Delta &delta = m_entries.emplace_back();
    delta.type = DeltaType::Bookmark;
    delta.resourceVersion = resourceVersion;
    lock.unlock();
    announce(wasEmpty);
}

// An event before any list makes the queue synced at once.
void RealFifo::markPopulated()
{
    m_isPopulated = true;
}

// The first list counts what it found queued, too.
void RealFifo::finishPopulation(bool wasPopulated)
{
    if (wasPopulated)
        return;
    m_isPopulated = true;
    m_initialCount = m_entries.size();
}

void RealFifo::announce(bool wasEmpty)
{
    if (!wasEmpty)
        return;
    m_readable.notify_one();
    if (m_options.onReadable)
        m_options.onReadable();
}

bool RealFifo::hasSynced() const
{
    const std::lock_guard lock(m_mutex);
    return m_isPopulated && m_initialCount == 0;
}

void RealFifo::close()
{
    const std::lock_guard lock(m_mutex);
    m_isClosed = true;
    m_readable.notify_all();
}

qsizetype RealFifo::depth() const
{
    const std::lock_guard lock(m_mutex);
    return qsizetype(m_entries.size());
}

Status RealFifo::pop(const Process &process)
{
    std::unique_lock lock(m_mutex);
    m_readable.wait(lock, [this] { return m_isClosed || !m_entries.empty(); });
    return run(lock, 1, process);
}

Status RealFifo::popBatch(const Process &process)
{
    std::unique_lock lock(m_mutex);
    m_readable.wait(lock, [this] { return m_isClosed || !m_entries.empty(); });
    return run(lock, m_options.maxBatch, process);
}

bool RealFifo::tryPopBatch(const Process &process, Status *status)
{
    std::unique_lock lock(m_mutex);
    if (m_entries.empty())
        return false;
    *status = run(lock, m_options.maxBatch, process);
    return true;
}

std::vector<Delta> RealFifo::take(std::size_t limit, bool *isInInitialList)
{
    *isInInitialList = !(m_isPopulated && m_initialCount == 0);
    const std::size_t edge = m_initialCount > 0 ? m_initialCount : m_entries.size();
    const std::size_t most = std::min({limit, edge, m_entries.size()});
    std::vector<Delta> batch;
    QSet<ObjectKey> keys;
    while (batch.size() < most) {
        Delta &next = m_entries.front();
        if (!batch.empty()) {
            if (!isBatchable(next.type) || keys.contains(next.key))
                break;
        }
        keys.insert(next.key);
        const bool isLast = !isBatchable(next.type) || next.key.name.isEmpty();
        batch.push_back(std::move(next));
        m_entries.pop_front();
        if (isLast)
            break;
    }
    return batch;
}

Status RealFifo::run(std::unique_lock<std::mutex> &lock, std::size_t limit, const Process &process)
{
    if (m_entries.empty())
        return Status(ErrorCode::Canceled, QStringLiteral("pop: the queue is closed"));
    bool isInInitialList = false;
    const std::vector<Delta> batch = take(limit, &isInInitialList);
    lock.unlock();
    const Status status = process(batch, isInInitialList);
    lock.lock();
    m_initialCount -= std::min(m_initialCount, batch.size()); // after the work: Q-13
    return status;
}

} // namespace davit::cache
