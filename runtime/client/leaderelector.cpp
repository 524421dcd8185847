#include "leaderelector.h"

#include <limits>
#include <utility>

namespace davit::client {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

Error refusal(const QString &sentence)
{
    return Error(ErrorCode::InvalidArgument, sentence);
}

QString text(std::chrono::milliseconds time)
{
    return QString::number(double(time.count()) / 1000.0) + QStringLiteral(" s");
}

} // namespace

Status checkElection(const ElectionSettings &settings)
{
    if (settings.identity.isEmpty())
        return refusal(QStringLiteral("leader election: the identity is empty"));
    if (settings.leaseDuration < 1s || settings.leaseDuration % 1s != 0ms)
        return refusal(QStringLiteral("leader election: the lease duration of %1 is not a whole "
                                      "number of seconds, 1 at least")
                           .arg(text(settings.leaseDuration)));
    constexpr std::chrono::seconds kMost{std::numeric_limits<qint32>::max()};
    if (settings.leaseDuration > kMost)
        return refusal(QStringLiteral("leader election: the lease duration of %1 is longer than a "
                                      "Lease can say, %2")
                           .arg(text(settings.leaseDuration), text(kMost)));
    if (settings.renewDeadline <= 0ms || settings.retryPeriod <= 0ms)
        return refusal(QStringLiteral(
            "leader election: renew deadline and retry period must be longer than nothing"));
    if (settings.leaseDuration <= settings.renewDeadline)
        return refusal(QStringLiteral("leader election: the lease duration of %1 must be longer "
                                      "than the renew deadline of %2")
                           .arg(text(settings.leaseDuration), text(settings.renewDeadline)));
    const auto retry = std::chrono::duration<double>(settings.retryPeriod);
    if (settings.renewDeadline <= LeaderElector::kJitterFactor * retry)
        return refusal(QStringLiteral("leader election: the renew deadline of %1 must be longer "
                                      "than 1.2 times the retry period of %2")
                           .arg(text(settings.renewDeadline), text(settings.retryPeriod)));
    return Status::ok();
}

Status LeaderElector::make(const ElectionSettings &settings, const Surroundings &around,
    Callbacks callbacks, std::unique_ptr<LeaderElector> *elector)
{
    if (Status status = checkElection(settings); !status.isOk())
        return status;
    if (!around.lock)
        return refusal(QStringLiteral("leader election: there is no lock"));
    if (!callbacks.onStartedLeading || !callbacks.onStoppedLeading)
        return refusal(QStringLiteral(
            "leader election: onStartedLeading and onStoppedLeading are both needed"));
    elector->reset(new LeaderElector(settings, around, std::move(callbacks)));
    return Status::ok();
}

LeaderElector::LeaderElector(
    const ElectionSettings &settings, const Surroundings &around, Callbacks callbacks)
    : m_settings(settings)
    , m_around(around)
    , m_callbacks(std::move(callbacks))
    , m_isAlive(std::make_shared<bool>(true))
{ }

LeaderElector::~LeaderElector()
{
    *m_isAlive = false;
    cancelTimers();
}

void LeaderElector::start()
{
    m_around.executor->post([this, isAlive = m_isAlive] {
        if (!*isAlive || m_phase != Phase::Idle)
            return;
        m_phase = Phase::Acquiring;
        tryOnce();
    });
}

void LeaderElector::stop(AfterStop afterStop)
{
    m_around.executor->post([this, isAlive = m_isAlive, afterStop] {
        if (!*isAlive || m_phase == Phase::Releasing || m_phase == Phase::Ended)
            return;
        // A try under way may win although nobody waits for its answer any more.
        const bool mayHold = m_phase == Phase::Leading || m_isTrying;
        ++m_step;
        cancelTimers();
        m_around.permit->revoke();
        if (!mayHold || afterStop != AfterStop::Release)
            return end(End::Stopped);
        m_phase = Phase::Releasing;
        m_deadlineTimer = after(m_settings.renewDeadline, [this] { end(End::Stopped); });
        release();
    });
}

bool LeaderElector::isLeader() const
{
    return m_around.permit->isValid();
}

QString LeaderElector::leader() const
{
    const std::lock_guard lock(m_mutex);
    return m_record.holderIdentity;
}

bool LeaderElector::isHealthy(Nanoseconds tolerance) const
{
    const std::lock_guard lock(m_mutex);
    return !m_hasRecord || !isMine()
        || now() - m_observedAt <= m_settings.leaseDuration + tolerance;
}

ElectionLock::Done LeaderElector::heard(std::function<void(const ElectionLock::Reply &)> function)
{
    return [this, isAlive = m_isAlive, step = ++m_step, function = std::move(function)](
               const ElectionLock::Reply &reply) {
        if (*isAlive && step == m_step)
            function(reply);
    };
}

support::TimeSource::TimerId LeaderElector::after(Nanoseconds delay, std::function<void()> work)
{
    return m_around.time->callAfter(
        delay, *m_around.executor, [isAlive = m_isAlive, work = std::move(work)] {
            if (*isAlive)
                work();
        });
}

void LeaderElector::cancelTimers()
{
    m_around.time->cancel(std::exchange(m_tryTimer, 0));
    m_around.time->cancel(std::exchange(m_deadlineTimer, 0));
}

bool LeaderElector::isValid(Nanoseconds at) const
{
    return m_hasRecord && m_observedAt + std::chrono::seconds(m_record.leaseDurationSeconds) > at;
}

void LeaderElector::observe(const LeaderRecord &record, const QByteArray &raw, Nanoseconds at)
{
    {
        const std::lock_guard lock(m_mutex);
        m_record = record;
        m_hasRecord = true;
        m_observedAt = at;
    }
    m_raw = raw;
    if (std::exchange(m_hasReported, true) && m_reported == record.holderIdentity)
        return;
    m_reported = record.holderIdentity;
    if (m_callbacks.onNewLeader)
        m_callbacks.onNewLeader(m_reported);
}

LeaderRecord LeaderElector::freshRecord() const
{
    LeaderRecord record;
    record.holderIdentity = m_settings.identity;
    record.leaseDurationSeconds
        = int(std::chrono::duration_cast<std::chrono::seconds>(m_settings.leaseDuration).count());
    record.acquireTime = record.renewTime = m_around.time->utc();
    return record;
}

void LeaderElector::tryOnce()
{
    m_isTrying = true;
    m_triedAt = now();
    // After a stop of the process, say. The timer of the deadline comes too late by as much.
    if (m_phase == Phase::Leading && !m_around.permit->isValid())
        return lose();
    if (m_settings.kind == ElectionKind::Plain && m_hasRecord && isMine() && isValid(m_triedAt))
        tryFast();
    else
        trySlow();
}

void LeaderElector::tryFast()
{
    LeaderRecord record = freshRecord();
    record.acquireTime = m_record.acquireTime.value_or(*record.acquireTime);
    record.leaseTransitions = m_record.leaseTransitions;
    m_around.lock->update(
        record, heard([this, record, sentAt = m_triedAt](const ElectionLock::Reply &reply) {
            if (!reply.error.isError())
                return won(record, reply, sentAt);
            if (reply.error.code() != ErrorCode::Conflict && m_callbacks.onFailure)
                m_callbacks.onFailure(reply.error);
            trySlow();
        }));
}

void LeaderElector::trySlow()
{
    m_around.lock->get(heard([this](const ElectionLock::Reply &found) {
        if (found.error.code() == ErrorCode::NotFound && m_settings.kind == ElectionKind::Plain)
            write(freshRecord(), true);
        else if (found.error.isError())
            failed(found.error);
        else
            judge(found);
    }));
}

void LeaderElector::judge(const ElectionLock::Reply &found)
{
    if (!m_hasRecord || found.raw != m_raw)
        observe(found.record, found.raw, now());
    const bool mayWrite
        = m_settings.kind == ElectionKind::Coordinated ? mayRenewCoordinated() : mayTake();
    if (!mayWrite)
        return notNow();
    LeaderRecord record = freshRecord();
    record.strategy = m_record.strategy;
    record.leaseTransitions = m_record.leaseTransitions + (isMine() ? 0 : 1);
    if (isMine()) {
        record.acquireTime = m_record.acquireTime.value_or(*record.acquireTime);
        if (m_phase == Phase::Leading && m_callbacks.onSlowPath)
            m_callbacks.onSlowPath();
    }
    write(record, false);
}

bool LeaderElector::mayTake() const
{
    return isMine() || m_record.holderIdentity.isEmpty() || !isValid(now());
}

bool LeaderElector::mayRenewCoordinated() const
{
    return isMine() && isValid(now()) && m_record.preferredHolder.isEmpty();
}

void LeaderElector::write(const LeaderRecord &record, bool isNew)
{
    const Nanoseconds sentAt = now();
    auto done = heard([this, record, sentAt](const ElectionLock::Reply &reply) {
        if (reply.error.isError())
            failed(reply.error);
        else
            won(record, reply, sentAt);
    });
    if (isNew)
        m_around.lock->create(record, std::move(done));
    else
        m_around.lock->update(record, std::move(done));
}

// The lease counts from the moment before it was asked for.
void LeaderElector::won(
    const LeaderRecord &record, const ElectionLock::Reply &reply, Nanoseconds sentAt)
{
    observe(record, reply.raw, sentAt);
    if (!m_around.permit->extend(sentAt + m_settings.renewDeadline)) {
        if (m_phase == Phase::Leading)
            return lose();
        return notNow(); // the answer came too late to begin with it
    }
    m_around.time->cancel(m_deadlineTimer);
    m_deadlineTimer = after(sentAt + m_settings.renewDeadline - now(), [this] {
        if (!m_around.permit->isValid()) // else this timer was overtaken by a good write
            lose();
    });
    tryAfter(m_settings.retryPeriod);
    if (std::exchange(m_phase, Phase::Leading) != Phase::Leading)
        m_callbacks.onStartedLeading();
}

void LeaderElector::failed(const Error &error)
{
    const bool isRace = m_phase == Phase::Acquiring
        && (error.code() == ErrorCode::Conflict || error.code() == ErrorCode::AlreadyExists);
    if (!isRace && m_callbacks.onFailure)
        m_callbacks.onFailure(error);
    notNow();
}

void LeaderElector::notNow()
{
    if (m_phase == Phase::Leading) // in steps from begin to begin; the deadline's timer ends it
        return tryAfter(m_triedAt + m_settings.retryPeriod - now());
    const double jitter = kJitterFactor * (m_around.random ? m_around.random() : 0.0);
    tryAfter(std::chrono::duration_cast<nanoseconds>((1.0 + jitter) * m_settings.retryPeriod));
}

void LeaderElector::tryAfter(Nanoseconds delay)
{
    m_around.time->cancel(m_tryTimer);
    m_isTrying = false;
    m_tryTimer = after(std::max(delay, nanoseconds(0)), [this] {
        if (!m_isTrying && (m_phase == Phase::Acquiring || m_phase == Phase::Leading))
            tryOnce();
    });
}

void LeaderElector::lose()
{
    if (m_phase != Phase::Leading)
        return;
    ++m_step;
    cancelTimers();
    m_around.permit->revoke();
    end(End::Lost);
}

void LeaderElector::release()
{
    m_around.lock->get(heard([this](const ElectionLock::Reply &found) {
        if (found.error.isError() || found.record.holderIdentity != m_settings.identity)
            return end(End::Stopped);
        giveBack(found);
    }));
}

void LeaderElector::giveBack(const ElectionLock::Reply &found)
{
    LeaderRecord record = found.record;
    record.holderIdentity.clear();
    record.leaseDurationSeconds = 1;
    record.acquireTime = record.renewTime = m_around.time->utc();
    m_around.lock->update(record, heard([this, record](const ElectionLock::Reply &reply) {
        if (reply.error.code() == ErrorCode::Conflict)
            return release();
        if (reply.error.isError())
            return end(End::Stopped);
        observe(record, reply.raw, now());
        end(End::Released);
    }));
}

void LeaderElector::end(End how)
{
    if (std::exchange(m_phase, Phase::Ended) == Phase::Ended)
        return;
    ++m_step;
    cancelTimers();
    m_callbacks.onStoppedLeading(how);
}

} // namespace davit::client
