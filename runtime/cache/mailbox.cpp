#include "mailbox.h"

#include <QtCore/qcoreapplication.h>
#include <QtCore/qcoreevent.h>
#include <davit/priv/controllerspec.h>
#include <iterator>
#include <utility>

namespace davit::cache {

using priv::Notification;
using Kind = Notification::Kind;

Mailbox::Mailbox(Delivery delivery, int parts)
    : m_isLatest(priv::isLatest(delivery))
    , m_tellsVanished(delivery == priv::kLatestOfController)
    , m_partsLeft(parts)
{ }

void Mailbox::put(std::vector<Notification> notifications)
{
    const std::lock_guard lock(m_mutex);
    if (m_isClosed || notifications.empty())
        return;
    const bool wasEmpty = isEmpty();
    for (Notification &notification : notifications) {
        countInitial(notification, 1);
        if (m_isLatest)
            merge(std::move(notification));
    }
    if (!m_isLatest) {
        if (m_events.empty())
            m_events = std::move(notifications);
        else
            std::move(notifications.begin(), notifications.end(), std::back_inserter(m_events));
    }
    checkSynced(); // an initial addition may have merged into nothing
    wake(wasEmpty);
}

void Mailbox::partSynced()
{
    const std::lock_guard lock(m_mutex);
    const bool wasEmpty = isEmpty();
    --m_partsLeft;
    checkSynced();
    wake(wasEmpty);
}

void Mailbox::setReceiver(QObject *receiver)
{
    const std::lock_guard lock(m_mutex);
    m_receiver = receiver;
    wake(true);
}

std::vector<Notification> Mailbox::take()
{
    const std::lock_guard lock(m_mutex);
    std::vector<Notification> batch = std::exchange(m_events, {});
    for (qsizetype entries = 0; entries < kPortion && !m_entries.empty(); ++entries) {
        Entry &entry = m_entries.front();
        if (entry.isSynced)
            batch.emplace_back().kind = Kind::Synced;
        if (entry.deleted)
            batch.push_back(std::move(*entry.deleted));
        if (entry.state)
            batch.push_back(std::move(*entry.state));
        forget(m_entries.begin());
    }
    wake(true); // the rest comes with the next event
    return batch;
}

void Mailbox::handled(const Notification &notification)
{
    const std::lock_guard lock(m_mutex);
    const bool wasEmpty = isEmpty();
    countInitial(notification, -1);
    checkSynced();
    wake(wasEmpty);
}

void Mailbox::close()
{
    std::vector<Notification> events; // freed outside the lock
    Entries entries;
    const std::lock_guard lock(m_mutex);
    m_isClosed = true;
    m_receiver = nullptr;
    events.swap(m_events);
    entries.swap(m_entries);
    m_byKey.clear();
}

bool Mailbox::hasSynced() const
{
    const std::lock_guard lock(m_mutex);
    return m_hasSynced;
}

qsizetype Mailbox::pending() const
{
    const std::lock_guard lock(m_mutex);
    qsizetype count = qsizetype(m_events.size());
    for (const Entry &entry : m_entries)
        count += int(entry.isSynced) + int(bool(entry.deleted)) + int(bool(entry.state));
    return count;
}

void Mailbox::countInitial(const Notification &notification, int by)
{
    if (notification.kind == Kind::Added && notification.isInInitialList)
        m_initialUnhandled += by;
}

void Mailbox::checkSynced()
{
    if (m_hasSynced || m_isClosed || m_partsLeft > 0 || m_initialUnhandled > 0)
        return;
    m_hasSynced = true;
    if (m_isLatest)
        m_entries.emplace_back().isSynced = true;
    else
        m_events.emplace_back().kind = Kind::Synced;
}

// Under the lock: after setReceiver(nullptr) nobody posts to a receiver that may be dead, and what
// the poster wrote is seen by the taker.
void Mailbox::wake(bool wasEmpty)
{
    if (wasEmpty && !isEmpty() && m_receiver)
        QCoreApplication::postEvent(m_receiver, new QEvent(QEvent::Type(priv::wakeUpEventType())));
}

// Latest -----------------------------------------------------------------------------------------

void Mailbox::merge(Notification &&notification)
{
    const ObjectKey key = notification.object.key();
    if (const auto found = m_byKey.find(key); found != m_byKey.end()) {
        mergeInto(*found, std::move(notification));
        return;
    }
    Entry &entry = m_entries.emplace_back();
    entry.key = key;
    m_byKey.insert(key, std::prev(m_entries.end()));
    (notification.kind == Kind::Deleted ? entry.deleted : entry.state) = std::move(notification);
}

void Mailbox::mergeInto(Entries::iterator entry, Notification &&notification)
{
    std::optional<Notification> &state = entry->state;
    if (notification.kind != Kind::Deleted) {
        if (!state) // deleted, then added: both, in order
            state = std::move(notification);
        else // added then updated is added; before and isInInitialList stay those of the first
            state->object = std::move(notification.object);
        return;
    }
    if (!state) { // deleted twice: the observed one says more
        if (entry->deleted->isFinalStateUnknown && !notification.isFinalStateUnknown)
            entry->deleted = std::move(notification);
        return;
    }
    const bool wasAdded = state->kind == Kind::Added;
    if (wasAdded)
        countInitial(*state, -1); // never to be seen, but handled for synced
    state.reset();
    if (entry->deleted) // added with another uid meanwhile: the first deletion is told
        return;
    if (!wasAdded || m_tellsVanished) // updated, then deleted: deleted
        entry->deleted = std::move(notification);
    else // added, then deleted, and never seen: nothing
        forget(entry);
}

void Mailbox::forget(Entries::iterator entry)
{
    if (!entry->isSynced)
        m_byKey.remove(entry->key);
    m_entries.erase(entry);
}

} // namespace davit::cache
