#include "viewpart.h"

#include "runninginformer.h"

namespace davit::cache {

using priv::Notification;

GuardedIndex::GuardedIndex(const QString &key, const QString &name,
    std::shared_ptr<const IndexFunction> function, priv::FaultSink &faults)
    : m_key(key), m_name(name), m_function(std::move(function)), m_faults(faults)
{ }

// The lock is this index's own, and only end() competes for it: it waits for a call that runs.
std::optional<QStringList> GuardedIndex::values(const Object &object) const
{
    const std::lock_guard lock(m_mutex);
    std::optional<QStringList> values(std::in_place);
    if (!m_function)
        return values;
    const bool isGood = priv::pluginCall(
        m_faults, "index function", m_name, [&] { *values = m_function->values(object); });
    if (!isGood)
        values.reset();
    return values;
}

void GuardedIndex::end()
{
    std::shared_ptr<const IndexFunction> ended;
    {
        const std::lock_guard lock(m_mutex);
        ended.swap(m_function);
    }
    if (ended)
        priv::pluginCall(m_faults, "end of an index function", m_name, [&] { ended.reset(); });
}

ViewPart::ViewPart(const WatchScope &scope, std::shared_ptr<Mailbox> mailbox)
    : m_filter(scope), m_mailbox(std::move(mailbox))
{ }

ViewPart::~ViewPart() = default;

void ViewPart::attach(std::shared_ptr<RunningInformer> informer, std::shared_ptr<void> place,
    std::chrono::nanoseconds resyncPeriod)
{
    {
        const std::lock_guard lock(m_mutex);
        m_informer = informer;
        m_store = informer->informer().store();
        m_watched = informer->filter();
        m_isExact = informer->scope() == m_filter.scope();
    }
    std::optional<std::chrono::nanoseconds> own;
    if (resyncPeriod >= resyncPeriod.zero())
        own = resyncPeriod;
    informer->executor().post([self = shared_from_this(), informer, own, place = std::move(place)] {
        if (!informer->informer().addListener(self, own).isOk())
            self->onStopped();
    });
}

void ViewPart::close()
{
    std::shared_ptr<RunningInformer> informer;
    std::vector<std::shared_ptr<GuardedIndex>> indexes;
    {
        const std::lock_guard lock(m_mutex);
        m_isClosed = m_hasEnded = true;
        informer.swap(m_informer);
        indexes.swap(m_indexes);
    }
    m_news.tell();
    for (const std::shared_ptr<GuardedIndex> &index : indexes)
        index->end();
    if (!informer)
        return;
    informer->executor().post([self = shared_from_this(), informer, indexes] {
        informer->informer().removeListener(self.get());
        for (const std::shared_ptr<GuardedIndex> &index : indexes)
            informer->informer().removeIndexer(index->key());
        informer->recount();
    });
}

bool ViewPart::moveTo(std::shared_ptr<RunningInformer> wider)
{
    std::size_t built = 0; // index functions may read this view: no lock while they run
    for (;;) {
        std::vector<std::pair<QString, IndexValues>> missing;
        std::shared_ptr<RunningInformer> left; // let go outside the lock
        {
            const std::lock_guard lock(m_mutex);
            if (m_isClosed)
                break;
            for (; built < m_indexes.size(); ++built)
                missing.push_back(indexer(m_indexes[built], false));
            if (missing.empty()) {
                left = std::exchange(m_informer, std::move(wider));
                m_store = m_informer->informer().store();
                m_wasExact = std::exchange(m_isExact, false);
                m_watched = m_informer->filter();
            }
        }
        if (left) {
            m_news.tell();
            return true;
        }
        const Status status = wider->informer().addIndexers(std::move(missing));
        Q_ASSERT(status.isOk()); // keys are unique
    }
    return false;
}

void ViewPart::addIndex(std::shared_ptr<GuardedIndex> index)
{
    std::shared_ptr<RunningInformer> informer;
    bool isExact = false;
    {
        const std::lock_guard lock(m_mutex);
        if (m_isClosed || !m_informer)
            return;
        m_indexes.push_back(index);
        informer = m_informer;
        isExact = m_isExact;
    }
    informer->runAndWait([raw = &informer->informer(), indexer = indexer(index, isExact)] {
        static_cast<void>(raw->addIndexers({indexer})); // there already when the part just moved
    });
}

std::pair<QString, IndexValues> ViewPart::indexer(
    const std::shared_ptr<GuardedIndex> &index, bool all) const
{
    // The function sees what its view shows, and nothing else.
    return {index->key(), [index, all, filter = m_filter](const Object &object) {
                return all || filter.passes(object) ? index->values(filter.shown(object))
                                                    : std::optional<QStringList>(std::in_place);
            }};
}

ViewPart::Reading ViewPart::read() const
{
    const std::lock_guard lock(m_mutex);
    return {m_store->snapshot(), m_isExact || m_filter.isTransparent()};
}

ViewPart::Feed ViewPart::feed() const
{
    const std::lock_guard lock(m_mutex);
    const bool isSynced = hasSynced(); // before the snapshot: that is then of this list or later
    return {m_store->snapshot(), m_watched, isSynced, m_hasEnded};
}

ViewPart::Waited ViewPart::waitUntil(const std::function<bool(const Feed &)> &isShown,
    std::chrono::steady_clock::time_point until) const
{
    for (;;) {
        const quint64 told = m_news.told();
        { // a snapshot is not held while waiting
            const Feed now = feed();
            if (isShown(now))
                return Waited::Shown;
            if (now.hasEnded)
                return Waited::Ended;
        }
        if (!m_news.waitBeyond(told, until))
            return Waited::TimedOut;
    }
}

void ViewPart::onStopped()
{
    {
        const std::lock_guard lock(m_mutex);
        m_hasEnded = true;
    }
    m_news.tell();
}

void ViewPart::onSynced()
{
    if (m_hasSynced.exchange(true, std::memory_order_acq_rel))
        return;
    m_news.tell();
    if (m_mailbox)
        m_mailbox->partSynced();
}

void ViewPart::onEvents(const std::vector<InformerEvent> &events, bool wantsSync)
{
    if (!m_mailbox)
        return;
    const bool all = read().showsAll;
    std::vector<Notification> notifications;
    notifications.reserve(events.size());
    for (const InformerEvent &event : events) {
        if (!event.isSync || wantsSync)
            present(event, all, &notifications);
    }
    m_mailbox->put(std::move(notifications));
}

void ViewPart::present(const InformerEvent &event, bool all, std::vector<Notification> *out) const
{
    const auto passes = [&](const Object &object) { return all || m_filter.passes(object); };
    // What the informer before held was this view's only if it was no wider.
    const auto wasShown = [&](const InformerEvent &of, const Object &before) {
        return (of.isBeforeShown && m_wasExact) || passes(before);
    };
    Notification shown;
    switch (event.kind) {
    case InformerEvent::Kind::Added:
        if (!passes(event.object))
            return;
        shown.isInInitialList = event.isInInitialList;
        break;
    case InformerEvent::Kind::Updated: {
        const bool did = wasShown(event, event.before);
        const bool does = passes(event.object);
        if (!did && !does)
            return;
        shown.kind = !did ? Notification::Kind::Added
            : does        ? Notification::Kind::Updated
                          : Notification::Kind::Deleted;
        if (did && does)
            shown.before = m_filter.shown(event.before);
        if (!does) {
            shown.object = m_filter.shown(event.before); // the last state inside the view
            out->push_back(std::move(shown));
            return;
        }
        break;
    }
    case InformerEvent::Kind::Deleted:
        // What counts is whether this view showed it.
        if (!wasShown(event, event.before.isNull() ? event.object : event.before))
            return;
        shown.kind = Notification::Kind::Deleted;
        shown.isFinalStateUnknown = event.isFinalStateUnknown;
        break;
    }
    shown.object = m_filter.shown(event.object);
    out->push_back(std::move(shown));
}

} // namespace davit::cache
