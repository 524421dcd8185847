#include "leasecandidate.h"

#include <algorithm>
#include <utility>

namespace davit::client {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kResync = 5min;
constexpr nanoseconds kShortestDelay = 5ms;
constexpr nanoseconds kLongestDelay = 1000s;

nanoseconds delayAfter(int failures)
{
    constexpr int kDoublings = 18; // beyond the longest delay
    return std::min(kShortestDelay * (1 << std::min(failures - 1, kDoublings)), kLongestDelay);
}

bool isPing(const CandidateRecord &record)
{
    return record.pingTime && (!record.renewTime || *record.pingTime > *record.renewTime);
}

} // namespace

LeaseCandidate::LeaseCandidate(const CandidateRecord &record, Surroundings around)
    : m_record(record), m_around(std::move(around)), m_isAlive(std::make_shared<bool>(true))
{ }

LeaseCandidate::~LeaseCandidate()
{
    *m_isAlive = false;
    m_around.time.cancel(m_timer);
}

void LeaseCandidate::start()
{
    m_around.executor.post([this, isAlive = m_isAlive] {
        if (*isAlive)
            publish();
    });
}

void LeaseCandidate::observed(const CandidateRecord &record)
{
    if (!isPing(record))
        return;
    m_around.executor.post([this, isAlive = m_isAlive] {
        if (!*isAlive)
            return;
        if (m_isBusy)
            m_isPinged = true;
        else
            publish();
    });
}

CandidateObject::Done LeaseCandidate::heard(
    std::function<void(const CandidateObject::Reply &)> function)
{
    return
        [isAlive = m_isAlive, function = std::move(function)](const CandidateObject::Reply &reply) {
            if (*isAlive)
                function(reply);
        };
}

void LeaseCandidate::publish()
{
    m_around.time.cancel(std::exchange(m_timer, 0));
    m_isBusy = true;
    m_around.object.get(heard([this](const CandidateObject::Reply &found) {
        const auto done
            = heard([this](const CandidateObject::Reply &reply) { published(reply.error); });
        const bool isMissing = found.error.code() == ErrorCode::NotFound;
        if (found.error.isError() && !isMissing)
            return published(found.error);
        CandidateRecord record = isMissing ? m_record : found.record;
        record.renewTime = m_around.time.utc();
        if (isMissing)
            m_around.object.create(record, done);
        else
            m_around.object.update(record, done);
    }));
}

void LeaseCandidate::published(const Error &error)
{
    m_isBusy = false;
    const bool isPinged = std::exchange(m_isPinged, false);
    if (error.isError()) {
        if (m_around.onFailure)
            m_around.onFailure(error);
        return publishAfter(delayAfter(++m_failures));
    }
    m_failures = 0;
    if (isPinged)
        return publish();
    publishAfter(kResync);
}

void LeaseCandidate::publishAfter(nanoseconds delay)
{
    m_timer = m_around.time.callAfter(delay, m_around.executor, [this, isAlive = m_isAlive] {
        if (*isAlive && !m_isBusy)
            publish();
    });
}

} // namespace davit::client
