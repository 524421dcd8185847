#include "eventcorrelator.h"

#include <algorithm>

namespace davit::client {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxMessages = 10; // the 10th distinct one is combined
constexpr auto kGroupGap = 600s;
constexpr double kBurst = 25;
constexpr double kSecondsPerToken = 300;

// Members joined by a character that no name holds.
QString joined(std::initializer_list<QString> parts)
{
    QString key;
    for (const QString &part : parts)
        key += part + QChar(u'\n');
    return key;
}

} // namespace

EventCorrelator::EventCorrelator() : m_groups(kMaxKeys), m_seen(kMaxKeys), m_tokens(kMaxKeys) { }

std::optional<CorrelatedEvent> EventCorrelator::correlate(const EventIdentity &identity,
    const QString &message, const QString &name, std::chrono::nanoseconds utc)
{
    const QString groupKey = joined({identity.involved, identity.type, identity.reason});
    Group &group = m_groups.touch(groupKey);
    if (utc - group.lastTime > kGroupGap)
        group.messages.clear();
    group.lastTime = utc;
    group.messages.insert(message);

    CorrelatedEvent event;
    event.message = message;
    QString key = joined({groupKey, message});
    if (group.messages.size() >= kMaxMessages) {
        event.message = QStringLiteral("(combined from similar events): ") + message;
        key = groupKey;
        while (group.messages.size() > kMaxMessages) // one is enough to stay above the limit
            group.messages.erase(group.messages.begin());
    }

    Seen &seen = m_seen.touch(key);
    event.isPatch = seen.count > 0;
    if (!event.isPatch) {
        seen.name = name;
        seen.firstTime = utc;
    }
    event.count = ++seen.count;
    event.name = seen.name;
    event.firstTime = seen.firstTime;
    if (!takeToken(joined({identity.involved, identity.type}), utc))
        return std::nullopt;
    return event;
}

bool EventCorrelator::takeToken(const QString &key, std::chrono::nanoseconds utc)
{
    Tokens &tokens = m_tokens.touch(key);
    if (tokens.isNew) {
        tokens.isNew = false;
        tokens.left = kBurst;
    } else {
        const double seconds = std::chrono::duration<double>(utc - tokens.countedAt).count();
        tokens.left = std::min(kBurst, tokens.left + std::max(0.0, seconds) / kSecondsPerToken);
    }
    tokens.countedAt = utc;
    if (tokens.left < 1)
        return false;
    tokens.left -= 1;
    return true;
}

} // namespace davit::client
