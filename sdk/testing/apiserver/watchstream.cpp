#include "watchstream.h"

#include <algorithm>

namespace davit::testing::apiserver {
namespace {

constexpr std::size_t kInitialBatch = 500;
constexpr Version kChangeBatch = 1000;
constexpr std::chrono::milliseconds kLookAround{250};
// The real server sends a bookmark this long before a watch times out.
constexpr std::chrono::seconds kBookmarkBeforeEnd{2};
constexpr long long kLongestSeconds = 1'000'000'000; // far from where a clock ends

std::string errorEvent(const ApiFault &fault)
{
    return "{\"type\":\"ERROR\",\"object\":" + statusJson(fault) + "}\n";
}

} // namespace

WatchStream::WatchStream(ApiStore &store, WatchControl &control, const Target &target,
    const ApiRequest &request, const Selectors &selectors)
    : m_store(store)
    , m_control(control)
    , m_target(target)
    , m_selectors(selectors)
    , m_form(formOf(request))
    , m_includeObject(request.param("includeObject"))
    , m_generation(control.endedGeneration)
    , m_hasBookmarks(request.isTrue("allowWatchBookmarks"))
    , m_bookmarksSeen(control.bookmarkRequests)
{
    ++m_control.openWatches;
    const auto now = Clock::now();
    m_nextBookmark = now + m_control.bookmarkInterval;
    const long long seconds = std::min(request.number("timeoutSeconds"), kLongestSeconds);
    if (seconds > 0) {
        m_deadline = now + std::chrono::seconds(seconds);
        if (std::chrono::seconds(seconds) > kBookmarkBeforeEnd)
            m_nextBookmark = std::min(m_nextBookmark, m_deadline - kBookmarkBeforeEnd);
    }
}

WatchStream::~WatchStream()
{
    --m_control.openWatches;
}

ApiFault WatchStream::open(ApiStore &store, WatchControl &control, const Target &target,
    const ApiRequest &request, const Selectors &selectors, std::shared_ptr<WatchStream> *result)
{
    if (const ApiFault fault = checkListOptions(request, true); fault.isSet())
        return fault;
    const std::string text = request.param("resourceVersion");
    Version wanted = 0;
    if (const ApiFault fault = parseVersion(text, &wanted); fault.isSet())
        return fault;
    const bool hasInitialEvents = request.isTrue("sendInitialEvents");
    if (hasInitialEvents && wanted > store.lastVersion())
        return tooLargeVersion(wanted, store.lastVersion());
    std::shared_ptr<WatchStream> stream(
        new WatchStream(store, control, target, request, selectors));
    const bool isLegacy = !request.has("sendInitialEvents") && wanted == 0;
    if (hasInitialEvents || isLegacy) {
        for (const auto &[key, record] : store.objects(target.kind->storageId))
            if (stream->isSelected(*record))
                stream->m_initial.push_back(record);
        stream->m_isInitial = true;
        stream->m_endsInitialWithBookmark = hasInitialEvents && stream->m_hasBookmarks;
        stream->m_seen = store.lastVersion();
    } else {
        stream->m_seen = wanted == 0 ? store.lastVersion() : wanted;
    }
    *result = std::move(stream);
    return {};
}

bool WatchStream::isSelected(const Record &record) const
{
    return (m_target.namespaceName.empty() || record.namespaceName == m_target.namespaceName)
        && (m_target.name.empty() || record.name == m_target.name) && m_selectors.matches(record);
}

// What a change looks like through the selectors: an object that leaves them is deleted.
bool WatchStream::toEvent(const Change &change, Sent *event) const
{
    if (change.storageId != m_target.kind->storageId)
        return false;
    const bool was = change.before && isSelected(*change.before);
    const bool is = change.type != ChangeType::Deleted && isSelected(*change.now);
    if (is) {
        *event = {was ? "MODIFIED" : "ADDED", change.now};
        return true;
    }
    if (!was)
        return false;
    if (change.type == ChangeType::Deleted) {
        *event = {"DELETED", change.now};
        return true;
    }
    auto last = std::make_shared<Record>(*change.before); // as it was, with the version of now
    last->version = change.now->version;
    Json object = last->tree();
    object["metadata"]["resourceVersion"] = std::to_string(last->version);
    last->text = support::toStdString(support::dumpJson(object));
    *event = {"DELETED", std::move(last)};
    return true;
}

void WatchStream::takeChanges(std::vector<Sent> *events)
{
    const Version last = std::min(m_store.lastVersion(), m_seen + kChangeBatch);
    while (m_seen < last) {
        Sent event{};
        if (toEvent(m_store.changeAt(++m_seen), &event))
            events->push_back(std::move(event));
    }
}

std::string WatchStream::eventText(const char *type, const Record &record)
{
    const bool isFirst = std::exchange(m_isFirstEvent, false);
    return viewEvent(*m_target.kind, type, record, m_form, m_includeObject, isFirst);
}

// A batch of initial events, and the mark behind the last one.
bool WatchStream::takeInitial(std::string *text)
{
    const std::size_t end = std::min(m_initial.size(), m_initialSent + kInitialBatch);
    for (; m_initialSent < end; ++m_initialSent)
        *text += eventText("ADDED", *m_initial[m_initialSent]);
    if (m_initialSent < m_initial.size())
        return true;
    m_initial.clear();
    m_isInitial = false;
    if (m_endsInitialWithBookmark)
        *text += viewBookmark(*m_target.kind, m_seen, m_form, true);
    return true;
}

bool WatchStream::isBookmarkDue(Clock::time_point now)
{
    if (!m_hasBookmarks)
        return false;
    const int requests = m_control.bookmarkRequests;
    if (now < m_nextBookmark && requests == m_bookmarksSeen)
        return false;
    m_bookmarksSeen = requests;
    m_nextBookmark = now + m_control.bookmarkInterval;
    return true;
}

void WatchStream::wait(std::unique_lock<std::mutex> &lock)
{
    auto until = std::min(Clock::now() + kLookAround, m_deadline);
    if (m_hasBookmarks)
        until = std::min(until, m_nextBookmark);
    m_store.changed().wait_until(lock, until);
}

bool WatchStream::next(std::string *text)
{
    if (m_isInitial)
        return takeInitial(text);
    std::vector<Sent> events;
    bool hasBookmark = false;
    bool isServed = true;
    {
        std::unique_lock lock(m_store.mutex());
        const auto hasNews = [this] {
            return m_store.lastVersion() > m_seen || m_control.isStopping
                || m_control.endedGeneration != m_generation
                || m_control.bookmarkRequests != m_bookmarksSeen;
        };
        if (!hasNews())
            wait(lock);
        if (m_control.isStopping)
            return false;
        if (m_control.endedGeneration != m_generation) {
            if (m_control.endsWithExpired)
                *text = errorEvent(tooOld(m_seen, m_store.lastVersion()));
            return false;
        }
        if (m_seen < m_store.forgottenVersion()) {
            *text = errorEvent(tooOld(m_seen, m_store.forgottenVersion() + 1));
            return false;
        }
        takeChanges(&events);
        isServed = m_control.kinds.isServed(*m_target.kind);
        hasBookmark = m_seen >= m_store.lastVersion() && isBookmarkDue(Clock::now());
    }
    for (const Sent &event : events)
        *text += eventText(event.type, *event.record);
    if (hasBookmark)
        *text += viewBookmark(*m_target.kind, m_seen, m_form, false);
    return isServed && Clock::now() < m_deadline;
}

} // namespace davit::testing::apiserver
