#include "threadsafestore.h"

#include <QtCore/qset.h>
#include <algorithm>

namespace davit::cache {

// Where snapshots go when their last holder lets go, on whichever thread that is.
class ThreadSafeStore::Trash : public std::enable_shared_from_this<Trash>
{
public:
    explicit Trash(support::Executor *strand) : m_strand(strand) { }

    std::shared_ptr<const StoreSnapshot> share(const StoreSnapshot &state)
    {
        {
            const std::lock_guard lock(m_mutex);
            ++m_held;
        }
        return {new StoreSnapshot(state),
            [trash = shared_from_this()](const StoreSnapshot *snapshot) { trash->take(snapshot); }};
    }

    // On the strand, or on any thread once the strand is gone: then under the lock, since snapshots
    // share nodes.
    void sweep()
    {
        std::vector<std::unique_ptr<const StoreSnapshot>> dead;
        {
            const std::lock_guard lock(m_mutex);
            dead.swap(m_dead);
        }
    }

    // `working` is freed under the same lock.
    void detach(StoreSnapshot &&working)
    {
        const std::lock_guard lock(m_mutex);
        m_strand = nullptr;
        m_isDetached = true;
        m_dead.clear();
        const StoreSnapshot freed(std::move(working));
    }

    qsizetype held() const
    {
        const std::lock_guard lock(m_mutex);
        return m_held;
    }

private:
    void take(const StoreSnapshot *snapshot)
    {
        const std::lock_guard lock(m_mutex);
        --m_held;
        if (m_isDetached) {
            delete snapshot;
            return;
        }
        m_dead.emplace_back(snapshot);
        if (m_strand && m_dead.size() == 1)
            m_strand->post([self = shared_from_this()] { self->sweepOnStrand(); });
    }

    // A sweep that was posted before detach() may run after it.
    void sweepOnStrand()
    {
        {
            const std::lock_guard lock(m_mutex);
            if (m_isDetached)
                return;
        }
        sweep();
    }

    mutable std::mutex m_mutex;
    support::Executor *m_strand; // GUARDED_BY(m_mutex)
    bool m_isDetached = false; // GUARDED_BY(m_mutex)
    qsizetype m_held = 0; // GUARDED_BY(m_mutex)
    std::vector<std::unique_ptr<const StoreSnapshot>> m_dead; // GUARDED_BY(m_mutex)
};

namespace {

// In an index, where equal keys do not tell the old object from the new one.
auto isOf(const ObjectEntry &entry)
{
    return [handle = entry.handle](const ObjectEntry &other) { return other.handle == handle; };
}

} // namespace

ThreadSafeStore::ThreadSafeStore(support::Executor *strand)
    : m_trash(std::make_shared<Trash>(strand))
{
    publish();
}

ThreadSafeStore::~ThreadSafeStore()
{
    detach();
}

std::shared_ptr<const StoreSnapshot> ThreadSafeStore::snapshot() const
{
    const std::lock_guard lock(m_mutex);
    return m_published;
}

qsizetype ThreadSafeStore::heldSnapshots() const
{
    return m_trash->held();
}

Object ThreadSafeStore::put(const ObjectKey &key, const Object &object)
{
    const Object stored = priv::internObject(object);
    const quint64 hash = hashOf(key);
    const Object before = m_working.objects.put(key, hash, stored);
    const ObjectEntry newEntry{hash, priv::PoolAccess::peek(stored)};
    const ObjectEntry oldEntry{hash, priv::PoolAccess::peek(before)};
    for (std::size_t i = 0; i < m_working.indexes.size(); ++i) {
        if (before.isNull())
            indexObject(i, key, newEntry);
        else
            reindexObject(i, key, oldEntry, newEntry);
    }
    m_working.resourceVersion = stored.resourceVersion();
    return before;
}

Object ThreadSafeStore::remove(const ObjectKey &key)
{
    const quint64 hash = hashOf(key);
    const Object before = m_working.objects.remove(key, hash);
    if (before.isNull())
        return before;
    for (std::size_t i = 0; i < m_working.indexes.size(); ++i)
        unindexObject(i, key, {hash, priv::PoolAccess::peek(before)});
    return before;
}

void ThreadSafeStore::replace(const std::vector<Object> &objects, const QString &resourceVersion)
{
    // What stays keeps its place in the tries, so that a relist shares nearly all with its
    // predecessor.
    QSet<ObjectKey> keys;
    keys.reserve(qsizetype(objects.size()));
    for (const Object &object : objects) {
        const ObjectKey key = object.key();
        keys.insert(key);
        if (m_working.objects.find(key) != object)
            put(key, object);
    }
    std::vector<ObjectKey> gone;
    m_working.objects.forEach([&](const Object &object) {
        const ObjectKey key = object.key();
        if (!keys.contains(key))
            gone.push_back(key);
    });
    for (const ObjectKey &key : gone)
        remove(key);
    m_working.resourceVersion = resourceVersion;
}

void ThreadSafeStore::publish()
{
    std::shared_ptr<const StoreSnapshot> next = m_trash->share(m_working);
    {
        const std::lock_guard lock(m_mutex);
        m_published.swap(next);
    }
    next.reset();
    m_trash->sweep();
}

Status ThreadSafeStore::addIndexers(std::vector<std::pair<QString, IndexValues>> indexers)
{
    for (std::size_t i = 0; i < indexers.size(); ++i) {
        const QString &name = indexers[i].first;
        const auto isTwin = [&](const auto &other) { return other.first == name; };
        if (m_working.hasIndex(name)
            || std::any_of(indexers.begin(), indexers.begin() + std::ptrdiff_t(i), isTwin))
            return Status(ErrorCode::AlreadyExists,
                QStringLiteral("add index %1: an index of that name is there already").arg(name));
    }
    for (auto &[name, values] : indexers) {
        m_working.indexes.push_back(
            {name, std::make_shared<const IndexValues>(std::move(values)), {}});
        m_given.emplace_back();
        m_working.objects.forEachEntry([&](const ObjectEntry &entry) {
            indexObject(m_given.size() - 1, entry.object().key(), entry);
        });
    }
    return Status::ok();
}

void ThreadSafeStore::removeIndexer(const QString &name)
{
    for (std::size_t i = 0; i < m_working.indexes.size(); ++i) {
        if (m_working.indexes[i].name != name)
            continue;
        m_working.indexes.erase(m_working.indexes.begin() + std::ptrdiff_t(i));
        m_given.erase(m_given.begin() + std::ptrdiff_t(i));
        return;
    }
}

void ThreadSafeStore::detach()
{
    m_trash->detach(std::move(m_working));
    m_working = {};
    m_given.clear();
}

void ThreadSafeStore::indexObject(std::size_t which, const ObjectKey &key, const ObjectEntry &entry)
{
    addValues(which, key, entry, (*m_working.indexes[which].values)(entry.object()));
}

void ThreadSafeStore::addValues(std::size_t which, const ObjectKey &key, const ObjectEntry &entry,
    const std::optional<QStringList> &values)
{
    if (!values || values->isEmpty())
        return;
    for (const QString &value : *values) {
        BorrowedTrie &members = m_working.indexes[which].buckets.own(value);
        if (!members.find(entry.hash, isOf(entry))) // a value given twice counts once
            members.insert(entry);
    }
    m_given[which].insert(key, *values);
}

void ThreadSafeStore::unindexObject(
    std::size_t which, const ObjectKey &key, const ObjectEntry &entry)
{
    BucketTrie<BorrowedTrie> &buckets = m_working.indexes[which].buckets;
    const QStringList values = m_given[which].take(key);
    for (const QString &value : values) {
        const BorrowedTrie *const members = buckets.find(value);
        if (!members || !members->find(entry.hash, isOf(entry)))
            continue; // the value was given twice
        if (members->size() == 1)
            buckets.drop(value);
        else
            buckets.own(value).take(entry.hash, isOf(entry));
    }
}

// Most changes leave an object in its buckets: then its entries change in place.
void ThreadSafeStore::reindexObject(
    std::size_t which, const ObjectKey &key, const ObjectEntry &from, const ObjectEntry &to)
{
    StoreIndex &index = m_working.indexes[which];
    const std::optional<QStringList> values = (*index.values)(to.object());
    const QStringList given = m_given[which].value(key);
    if (values.value_or(QStringList()) != given) {
        unindexObject(which, key, from);
        addValues(which, key, to, values);
        return;
    }
    for (const QString &value : given) {
        if (ObjectEntry *const entry = index.buckets.own(value).edit(from.hash, isOf(from)))
            entry->handle = to.handle;
    }
}

} // namespace davit::cache
