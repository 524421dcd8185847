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

std::optional<QStringList> namespaceOf(const Object &object)
{
    return QStringList{object.namespaceName()};
}

auto hasValue(const QString &value)
{
    return [&value](const BucketEntry &entry) { return entry.bucket->value == value; };
}

} // namespace

ThreadSafeStore::ThreadSafeStore(support::Executor *strand)
    : m_trash(std::make_shared<Trash>(strand))
{
    m_working.indexes.push_back(
        {QString(kNamespaceIndex), std::make_shared<const IndexValues>(namespaceOf), {}});
    m_given.emplace_back(); // the namespace is read from the object again
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
        if (!before.isNull())
            unindexObject(i, key, oldEntry, before);
        indexObject(i, key, newEntry, stored);
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
        unindexObject(i, key, {hash, priv::PoolAccess::peek(before)}, before);
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
        if (m_working.index(name)
            || std::any_of(indexers.begin(), indexers.begin() + std::ptrdiff_t(i), isTwin))
            return Status(ErrorCode::AlreadyExists,
                QStringLiteral("add index %1: an index of that name is there already").arg(name));
    }
    for (auto &[name, values] : indexers) {
        m_working.indexes.push_back(
            {name, std::make_shared<const IndexValues>(std::move(values)), {}});
        m_given.emplace_back();
        m_working.objects.forEachEntry([&](const ObjectEntry &entry) {
            const Object object = entry.object();
            indexObject(m_given.size() - 1, object.key(), entry, object);
        });
    }
    return Status::ok();
}

void ThreadSafeStore::removeIndexer(const QString &name)
{
    for (std::size_t i = 1; i < m_working.indexes.size(); ++i) {
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

void ThreadSafeStore::indexObject(
    std::size_t which, const ObjectKey &key, const ObjectEntry &entry, const Object &object)
{
    StoreIndex &index = m_working.indexes[which];
    std::optional<QStringList> values = (*index.values)(object);
    if (!values || values->isEmpty())
        return;
    for (const QString &value : std::as_const(*values)) {
        const quint64 hash = hashOf(value);
        if (!index.buckets.find(hash, hasValue(value)))
            index.buckets.insert({hash, new IndexBucket{1, value, {}}});
        BorrowedTrie &members = ownBucket(index, hash, value).members;
        const auto isThis = [&](const ObjectEntry &other) { return other.handle == entry.handle; };
        if (!members.find(entry.hash, isThis)) // a value given twice counts once
            members.insert(entry);
    }
    if (which > 0)
        m_given[which].insert(key, std::move(*values));
}

void ThreadSafeStore::unindexObject(
    std::size_t which, const ObjectKey &key, const ObjectEntry &entry, const Object &object)
{
    StoreIndex &index = m_working.indexes[which];
    const QStringList values
        = which > 0 ? m_given[which].take(key) : QStringList{object.namespaceName()};
    const auto isThis = [&](const ObjectEntry &other) { return other.handle == entry.handle; };
    for (const QString &value : values) {
        const quint64 hash = hashOf(value);
        const BucketEntry *const found = index.buckets.find(hash, hasValue(value));
        if (!found || !found->bucket->members.find(entry.hash, isThis))
            continue; // the value was given twice
        if (found->bucket->members.size() == 1)
            BucketCounting::release(*index.buckets.take(hash, hasValue(value)));
        else
            ownBucket(index, hash, value).members.take(entry.hash, isThis);
    }
}

// The bucket of a value that is there, as one that no snapshot shares.
IndexBucket &ThreadSafeStore::ownBucket(StoreIndex &index, quint64 hash, const QString &value)
{
    BucketEntry *const place = index.buckets.edit(hash, hasValue(value));
    if (place->bucket->refs > 1) {
        --place->bucket->refs;
        place->bucket = new IndexBucket{1, place->bucket->value, place->bucket->members};
    }
    return *place->bucket;
}

} // namespace davit::cache
