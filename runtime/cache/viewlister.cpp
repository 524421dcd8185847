#include "viewlister.h"

#include <QtCore/qset.h>
#include <algorithm>

namespace davit::cache {

ViewLister::ViewLister(const Gvk &gvk, const QString &viewKey,
    std::vector<std::shared_ptr<ViewPart>> parts, Ownership ownership, Waits waits)
    : m_gvk(gvk)
    , m_viewKey(viewKey)
    , m_parts(std::move(parts))
    , m_ownership(ownership)
    , m_waits(std::move(waits))
{ }

ViewLister::~ViewLister()
{
    if (m_ownership != Ownership::Owned)
        return;
    for (const std::shared_ptr<ViewPart> &part : m_parts)
        part->close();
}

bool ViewLister::hasSynced() const noexcept
{
    return std::all_of(m_parts.begin(), m_parts.end(),
        [](const std::shared_ptr<ViewPart> &part) { return part->hasSynced(); });
}

Object ViewLister::find(const ObjectKey &key) const
{
    for (const std::shared_ptr<ViewPart> &part : m_parts) {
        const QString &scope = part->filter().scope().namespaceName;
        if (!scope.isEmpty() && scope != key.namespaceName)
            continue;
        const auto [snapshot, all] = part->read();
        const Object object = snapshot->objects.find(key);
        if (!object.isNull() && (all || part->filter().passes(object)))
            return part->filter().shown(object);
    }
    return {};
}

QList<Object> ViewLister::list(const QString *namespaceName, const LabelSelector *selector) const
{
    QList<Object> found;
    if (selector && selector->toString() == QLatin1StringView("<nothing>"))
        return found; // without a look at the store (S-8)
    const QString asked = namespaceName ? *namespaceName : QString(); // empty: all (S-9)
    for (const std::shared_ptr<ViewPart> &part : m_parts) {
        const ViewFilter &filter = part->filter();
        const QString &scope = filter.scope().namespaceName;
        if (!asked.isEmpty() && !scope.isEmpty() && scope != asked)
            continue;
        const ViewPart::Reading reading = part->read();
        const auto &snapshot = reading.snapshot;
        const auto take = [&](const Object &object) {
            if ((reading.showsAll || filter.passes(object))
                && (!selector || selector->matches(object)))
                found += filter.shown(object);
        };
        const QString &narrow = asked.isEmpty() ? scope : asked;
        if (narrow.isEmpty())
            snapshot->objects.forEach(take);
        else
            snapshot->forEachOf(QString(kNamespaceIndex), narrow, take);
    }
    return found;
}

QString ViewLister::storeName(const QString &name) const
{
    return name == kNamespaceIndex ? name : m_viewKey + u'/' + name;
}

bool ViewLister::byIndex(const QString &name, const QString &value, QList<Object> *objects) const
{
    const QString inStore = storeName(name);
    bool isKnown = false;
    for (const std::shared_ptr<ViewPart> &part : m_parts) {
        const ViewPart::Reading reading = part->read();
        const auto &snapshot = reading.snapshot;
        isKnown = isKnown || snapshot->hasIndex(inStore);
        snapshot->forEachOf(inStore, value, [&](const Object &object) {
            if (reading.showsAll || part->filter().passes(object))
                objects->append(part->filter().shown(object));
        });
    }
    return isKnown;
}

QStringList ViewLister::indexValues(const QString &name) const
{
    const QString inStore = storeName(name);
    QSet<QString> values;
    for (const std::shared_ptr<ViewPart> &part : m_parts) {
        const ViewPart::Reading reading = part->read();
        const auto &snapshot = reading.snapshot;
        for (const QString &value : snapshot->indexValues(inStore)) {
            // The store's own index speaks for objects beyond this view, too.
            bool isSeen = reading.showsAll || inStore != kNamespaceIndex;
            if (!isSeen) {
                snapshot->forEachOf(inStore, value, [&](const Object &object) {
                    isSeen = isSeen || part->filter().passes(object);
                });
            }
            if (isSeen)
                values.insert(value);
        }
    }
    QStringList sorted(values.begin(), values.end());
    sorted.sort();
    return sorted;
}

qsizetype ViewLister::count() const
{
    qsizetype count = 0;
    for (const std::shared_ptr<ViewPart> &part : m_parts) {
        const ViewPart::Reading reading = part->read();
        const auto &snapshot = reading.snapshot;
        if (reading.showsAll) {
            count += snapshot->objects.size();
            continue;
        }
        snapshot->objects.forEach(
            [&](const Object &object) { count += part->filter().passes(object) ? 1 : 0; });
    }
    return count;
}

Status ViewLister::waitFor(const Consistency &consistency) const
{
    const auto began = std::chrono::steady_clock::now();
    const Status status = ConsistencyWait(consistency, m_parts, m_waits.ownWrites.get()).run();
    if (m_waits.observer) {
        const bool isOfOwn = consistency.type() == ConsistencyType::OwnWrites;
        const char *const result = status.isOk()             ? "success"
            : status.error().code() == ErrorCode::StaleCache ? "timeout"
                                                             : "error";
        m_waits.observer(QLatin1StringView(isOfOwn ? "own_writes" : "not_older_than"),
            QLatin1StringView(result), std::chrono::steady_clock::now() - began);
    }
    return status;
}

} // namespace davit::cache
