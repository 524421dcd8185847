#include "consistencywait.h"

#include "resourceversion.h"

#include <algorithm>

namespace davit::cache {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds kLongestWait = 1h;

QString timeText(std::chrono::milliseconds time)
{
    return time.count() % 1000 == 0 ? QStringLiteral("%1 s").arg(time.count() / 1000)
                                    : QStringLiteral("%1 ms").arg(time.count());
}

bool isBehind(const QString &version, const QString &wanted)
{
    return !wanted.isEmpty() && !hasReached(version, wanted);
}

} // namespace

ConsistencyWait::ConsistencyWait(const Consistency &asked,
    std::vector<std::shared_ptr<ViewPart>> parts, const OwnWrites *ownWrites)
    : m_asked(asked)
    , m_until(std::chrono::steady_clock::now() + std::min(asked.timeout(), kLongestWait))
{
    for (std::shared_ptr<ViewPart> &part : parts) {
        Wanted &wanted = m_wanted.emplace_back();
        if (asked.type() == ConsistencyType::NotOlderThan)
            wanted.version = asked.resourceVersion();
        else if (asked.type() == ConsistencyType::OwnWrites && ownWrites)
            wanted.own = ownWrites->of(part->filter().scope());
        wanted.part = std::move(part);
    }
}

Status ConsistencyWait::run()
{
    for (Wanted &wanted : m_wanted) {
        const auto look = [&wanted](const ViewPart::Feed &feed) { return isShown(&wanted, feed); };
        switch (wanted.part->waitUntil(look, m_until)) {
        case ViewPart::Waited::Shown:
            break;
        case ViewPart::Waited::TimedOut:
            return failure(wanted, ErrorCode::StaleCache);
        case ViewPart::Waited::Ended:
            return failure(wanted, ErrorCode::Canceled);
        }
    }
    return Status::ok();
}

// What showed once shows from then on: it is not looked at again.
bool ConsistencyWait::isShown(Wanted *wanted, const ViewPart::Feed &feed)
{
    wanted->hasSynced = feed.hasSynced;
    wanted->shownVersion = feed.snapshot->resourceVersion;
    if (!feed.hasSynced)
        return false;
    std::erase_if(wanted->own.writes, [&](const std::shared_ptr<const KeyWrites> &writes) {
        return writes->isShown(*feed.snapshot, *feed.watched);
    });
    if (!isBehind(wanted->shownVersion, wanted->own.floor))
        wanted->own.floor.clear();
    return wanted->own.writes.empty() && wanted->own.floor.isEmpty()
        && !isBehind(wanted->shownVersion, wanted->version);
}

Error ConsistencyWait::failure(const Wanted &wanted, ErrorCode code) const
{
    QString lacking;
    if (!wanted.hasSynced)
        lacking = QStringLiteral("the first list");
    else if (!wanted.version.isEmpty())
        lacking = QStringLiteral("version ") + wanted.version;
    else if (wanted.own.writes.empty())
        lacking = QStringLiteral("own writes up to version ") + wanted.own.floor;
    else
        lacking = QStringLiteral("own ") + wanted.own.writes.front()->toText();
    if (const std::size_t all = wanted.own.writes.size(); wanted.hasSynced && all > 1)
        lacking += QStringLiteral(" and %1 more").arg(all - 1);
    const QString end = code == ErrorCode::Canceled
        ? QStringLiteral("did not come before the view was closed")
        : QStringLiteral("did not come within ")
            + timeText(std::min(m_asked.timeout(), kLongestWait));
    const QString has = wanted.hasSynced
        ? QStringLiteral("the cache is at version ") + wanted.shownVersion
        : QStringLiteral("the cache has not synced");
    return Error(code,
        QStringLiteral("wait for the cache of %1: %2 %3; %4")
            .arg(wanted.part->filter().scope().toText(), lacking, end, has));
}

} // namespace davit::cache
