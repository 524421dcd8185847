#include "deltafifo.h"

#include <QtCore/qset.h>

namespace davit::cache {
namespace {

// of two deletions in a row the observed one stays, the older of two observed ones.
void dropDoubleDeletion(std::vector<Delta> *deltas)
{
    if (deltas->size() < 2)
        return;
    Delta &older = (*deltas)[deltas->size() - 2];
    Delta &newer = deltas->back();
    if (older.type != DeltaType::Deleted || newer.type != DeltaType::Deleted)
        return;
    if (older.isFinalStateUnknown)
        older = std::move(newer);
    deltas->pop_back();
}

} // namespace

DeltaFifo::DeltaFifo(DeltaFifoOptions options) : m_options(std::move(options)) { }

Status DeltaFifo::keyOf(const Object &object, ObjectKey *key) const
{
    return m_options.keyFunction ? m_options.keyFunction(object, key) : keyByName(object, key);
}

Status DeltaFifo::add(const Object &object)
{
    const std::lock_guard lock(m_mutex);
    m_isPopulated = true;
    return queueObject(DeltaType::Added, object);
}

Status DeltaFifo::update(const Object &object)
{
    const std::lock_guard lock(m_mutex);
    m_isPopulated = true;
    return queueObject(DeltaType::Updated, object);
}

Status DeltaFifo::remove(const Object &object)
{
    ObjectKey key;
    if (const Status status = keyOf(object, &key); !status.isOk())
        return status;
    const std::lock_guard lock(m_mutex);
    m_isPopulated = true;
    return isKnown(key) ? queue(DeltaType::Deleted, key, object, false) : Status::ok();
}

Status DeltaFifo::removeUnseen(const ObjectKey &key, const Object &lastKnown)
{
    const std::lock_guard lock(m_mutex);
    m_isPopulated = true;
    return isKnown(key) ? queue(DeltaType::Deleted, key, lastKnown, true) : Status::ok();
}

bool DeltaFifo::isKnown(const ObjectKey &key) const
{
    return m_items.contains(key) || (m_options.known && !m_options.known->find(key).isNull());
}

Status DeltaFifo::queueObject(DeltaType type, const Object &object)
{
    ObjectKey key;
    const Status status = keyOf(object, &key);
    return status.isOk() ? queue(type, key, object, false) : status;
}

Status DeltaFifo::queue(
    DeltaType type, const ObjectKey &key, const Object &object, bool isTombstone)
{
    Delta delta{type, isTombstone, ListOrigin::Ordinary, key, object, {}, {}};
    if (m_options.transform && !isTombstone && type != DeltaType::Sync) {
        if (const Status status = m_options.transform(&delta.object); !status.isOk())
            return status;
    }
    std::vector<Delta> &deltas = m_items[key];
    if (deltas.empty())
        m_order.push_back(key);
    deltas.push_back(std::move(delta));
    dropDoubleDeletion(&deltas);
    m_readable.notify_one();
    return Status::ok();
}

Status DeltaFifo::replace(std::vector<Object> objects, const QString &, ListOrigin)
{
    const DeltaType type = m_options.emitsReplaced ? DeltaType::Replaced : DeltaType::Sync;
    const std::lock_guard lock(m_mutex);
    QSet<ObjectKey> listed;
    for (const Object &object : objects) {
        ObjectKey key;
        Status status = keyOf(object, &key);
        if (status.isOk())
            status = queue(type, key, object, false);
        if (!status.isOk())
            return status;
        listed.insert(key);
    }
    qsizetype deletions = 0;
    const std::deque<ObjectKey> queued = m_order;
    for (const ObjectKey &key : queued) {
        const std::vector<Delta> &deltas = m_items[key];
        if (listed.contains(key) || deltas.back().type == DeltaType::Deleted)
            continue;
        ++deletions;
        static_cast<void>(queue(DeltaType::Deleted, key, Object(deltas.back().object), true));
    }
    for (const ObjectKey &key :
        m_options.known ? m_options.known->keys() : std::vector<ObjectKey>()) {
        if (listed.contains(key) || m_items.contains(key))
            continue;
        ++deletions;
        static_cast<void>(queue(DeltaType::Deleted, key, m_options.known->find(key), true));
    }
    if (!std::exchange(m_isPopulated, true))
        m_initialCount = listed.size() + deletions;
    return Status::ok();
}

Status DeltaFifo::resync()
{
    const std::lock_guard lock(m_mutex);
    if (!m_options.known)
        return Status::ok();
    for (const ObjectKey &key : m_options.known->keys()) {
        const Object object = m_options.known->find(key);
        if (!object.isNull() && !m_items.contains(key))
            static_cast<void>(queue(DeltaType::Sync, key, object, false)); // cannot fail
    }
    return Status::ok();
}

void DeltaFifo::addIfNotPresent(const ObjectKey &key, std::vector<Delta> deltas)
{
    const std::lock_guard lock(m_mutex);
    m_isPopulated = true;
    if (deltas.empty() || m_items.contains(key))
        return;
    m_order.push_back(key);
    m_items.insert(key, std::move(deltas));
    m_readable.notify_one();
}

bool DeltaFifo::hasSynced() const
{
    const std::lock_guard lock(m_mutex);
    return isSynced();
}

void DeltaFifo::close()
{
    const std::lock_guard lock(m_mutex);
    m_isClosed = true;
    m_readable.notify_all();
}

Status DeltaFifo::pop(const Process &process)
{
    std::unique_lock lock(m_mutex);
    m_readable.wait(lock, [this] { return m_isClosed || !m_order.empty(); });
    if (m_order.empty())
        return Status(ErrorCode::Canceled, QStringLiteral("pop: the queue is closed"));
    const bool isInInitialList = !isSynced();
    const ObjectKey key = m_order.front();
    m_order.pop_front();
    m_initialCount -= m_initialCount > 0 ? 1 : 0;
    std::vector<Delta> deltas = m_items.take(key);
    Status status;
    if (process(deltas, isInInitialList, &status) == Outcome::Requeue) {
        m_order.push_back(key); // under the same lock: nothing newer can have come
        m_items.insert(key, std::move(deltas));
    }
    return status;
}

std::vector<ObjectKey> DeltaFifo::keys() const
{
    const std::lock_guard lock(m_mutex);
    return {m_order.begin(), m_order.end()};
}

std::vector<Delta> DeltaFifo::deltas(const ObjectKey &key) const
{
    const std::lock_guard lock(m_mutex);
    return m_items.value(key);
}

} // namespace davit::cache
