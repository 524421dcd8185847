// One record that several candidates see, and candidates on a clock that a test turns.
#pragma once

#include <client/leaderelector.h>
#include <testing/manualclock.h>

#include <QMap>
#include <QStringList>

// What the server has.
struct ElectionServer
{
    std::optional<davit::client::LeaderRecord> record;
    int version = 0;
};

// Answers at once, or as the test says; writes down each call.
class FakeLock final : public davit::client::ElectionLock
{
public:
    using LeaderRecord = davit::client::LeaderRecord;

    FakeLock(ElectionServer &server, davit::testing::ManualClock &clock,
        davit::testing::ManualExecutor &executor)
        : m_server(server), m_clock(clock), m_executor(executor)
    { }

    void get(Done done) override
    {
        Reply reply;
        if (const auto fault = next(QStringLiteral("get")))
            reply.error = *fault;
        else if (!m_server.record)
            reply.error = davit::Error(davit::ErrorCode::NotFound, QStringLiteral("no lease"));
        else
            fill(&reply);
        answer(QStringLiteral("get"), reply, std::move(done));
    }
    void create(const LeaderRecord &record, Done done) override
    {
        Reply reply;
        if (const auto fault = next(QStringLiteral("create")))
            reply.error = *fault;
        else if (m_server.record)
            reply.error = davit::Error(davit::ErrorCode::AlreadyExists, QStringLiteral("exists"));
        else
            store(record, &reply);
        answer(QStringLiteral("create"), reply, std::move(done));
    }
    void update(const LeaderRecord &record, Done done) override
    {
        Reply reply;
        if (const auto fault = next(QStringLiteral("update")))
            reply.error = *fault;
        else if (m_known != m_server.version)
            reply.error = davit::Error(davit::ErrorCode::Conflict, QStringLiteral("conflict"));
        else
            store(record, &reply);
        answer(QStringLiteral("update"), reply, std::move(done));
    }
    QString describe() const override { return QStringLiteral("Lease ops/davit"); }

    // The next calls of this verb fail so, in turn; Unset: that one works.
    void failNext(const QString &verb, davit::ErrorCode code) { m_faults[verb].append(code); }
    // From now on all calls of the verb do; Unset ends it. Timeout: after `delay` only.
    void failAlways(const QString &verb, davit::ErrorCode code) { m_always[verb] = code; }

    std::chrono::nanoseconds delay{0}; // of each answer
    QStringList calls; // "update", "update(Conflict)"

private:
    std::optional<davit::Error> next(const QString &verb)
    {
        QList<davit::ErrorCode> &faults = m_faults[verb];
        const davit::ErrorCode code
            = faults.isEmpty() ? m_always.value(verb, davit::ErrorCode::Unset) : faults.takeFirst();
        if (code == davit::ErrorCode::Unset)
            return std::nullopt;
        return davit::Error(code, verb + QStringLiteral(" Lease ops/davit: as the test says"));
    }
    void fill(Reply *reply)
    {
        m_known = m_server.version;
        reply->record = *m_server.record;
        const auto time = m_server.record->renewTime.value_or(std::chrono::nanoseconds(0));
        reply->raw = m_server.record->holderIdentity.toUtf8() + ' '
            + QByteArray::number(qlonglong(time.count())) + ' '
            + QByteArray::number(m_server.record->leaseDurationSeconds);
    }
    void store(const LeaderRecord &record, Reply *reply)
    {
        m_server.record = record;
        ++m_server.version;
        fill(reply);
    }
    void answer(const QString &verb, const Reply &reply, Done done)
    {
        QString call = verb;
        if (reply.error.isError())
            call += QStringLiteral("(%1)").arg(davit::errorCodeName(reply.error.code()));
        calls.append(call);
        if (delay.count() > 0)
            m_clock.callAfter(delay, m_executor, [done, reply] { done(reply); });
        else
            m_executor.post([done, reply] { done(reply); });
    }

    ElectionServer &m_server;
    davit::testing::ManualClock &m_clock;
    davit::testing::ManualExecutor &m_executor;
    int m_known = -1;
    QMap<QString, QList<davit::ErrorCode>> m_faults;
    QMap<QString, davit::ErrorCode> m_always;
};

// One candidate, what it heard in the order in which it did.
struct Candidate
{
    using Elector = davit::client::LeaderElector;

    Candidate(const davit::client::ElectionSettings &settings, davit::client::ElectionLock &lock,
        davit::testing::ManualClock &clock, davit::testing::ManualExecutor &executor,
        double random = 0.0)
        : permit(clock, QStringLiteral("not the leader"))
    {
        Elector::Surroundings around;
        around.lock = &lock;
        around.permit = &permit;
        around.time = &clock;
        around.executor = &executor;
        around.random = [random] { return random; };
        Elector::Callbacks callbacks;
        callbacks.onStartedLeading = [this] { heard.append(QStringLiteral("started")); };
        callbacks.onStoppedLeading = [this](Elector::End end) {
            heard.append(end == Elector::End::Lost  ? QStringLiteral("lost")
                    : end == Elector::End::Released ? QStringLiteral("released")
                                                    : QStringLiteral("stopped"));
        };
        callbacks.onNewLeader = [this](const QString &identity) {
            heard.append(QStringLiteral("leader=") + identity);
        };
        callbacks.onFailure = [this](const davit::Error &) { ++failures; };
        callbacks.onSlowPath = [this] { ++slowPaths; };
        made = Elector::make(settings, around, callbacks, &elector);
    }

    davit::support::Permit permit;
    std::unique_ptr<Elector> elector;
    davit::Status made;
    QStringList heard;
    int failures = 0;
    int slowPaths = 0;
};

inline davit::client::ElectionSettings settingsOf(const QString &identity)
{
    davit::client::ElectionSettings settings;
    settings.identity = identity;
    return settings;
}

// Renewed long ago, by whatever clock its writer had.
inline davit::client::LeaderRecord recordOf(
    const QString &holder, int seconds = 15, int transitions = 3)
{
    davit::client::LeaderRecord record;
    record.holderIdentity = holder;
    record.leaseDurationSeconds = seconds;
    record.acquireTime = std::chrono::seconds(1);
    record.renewTime = std::chrono::seconds(2);
    record.leaseTransitions = transitions;
    return record;
}
