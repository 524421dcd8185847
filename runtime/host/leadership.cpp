#include "leadership.h"

#include <davit/eventrecorder.h>
#include <davit/objectbuilder.h>

#include <QtCore/qrandom.h>

namespace davit::host {
namespace {

using namespace std::chrono_literals;

// As client-go's health check for leader election is used by the field.
constexpr auto kHealthTolerance = 20s;
constexpr auto kLastEventTime = 1s;

client::LeaseSettings leaseSettings(const ElectionSetup &setup)
{
    client::LeaseSettings settings;
    settings.key = setup.lease;
    settings.timeout = client::leaseTimeout(setup.election.renewDeadline);
    return settings;
}

client::ClientIdentity eventIdentity()
{
    client::PolicyRule rule;
    rule.apiGroups = QStringList{QString()};
    rule.resources = QStringList{QStringLiteral("events")};
    rule.verbs = QStringList{QStringLiteral("create"), QStringLiteral("patch")};
    return {QStringLiteral("davit"), QStringLiteral(DAVIT_SDK_VERSION_STRING), client::Rbac({rule}),
        nullptr, {}, nullptr};
}

MetricLabels leaseLabels(const ElectionSetup &setup)
{
    return {{QStringLiteral("name"), setup.lease.name}};
}

} // namespace

std::shared_ptr<support::Permit> Leadership::makePermit(
    const ElectionSetup &setup, const support::TimeSource &time)
{
    return std::make_shared<support::Permit>(time,
        QStringLiteral("this process does not hold the Lease %1, and only its holder writes")
            .arg(toString(setup.lease)));
}

Leadership::Leadership(const ElectionSetup &setup, const Surroundings &around, Callbacks callbacks)
    : m_setup(setup)
    , m_around(around)
    , m_callbacks(std::move(callbacks))
    , m_log(around.log, QStringLiteral("leader-election"))
    , m_isAlive(std::make_shared<bool>(true))
    , m_isMaster(around.metrics.gauge(QStringLiteral("leader_election_master_status"),
          QStringLiteral("Whether this process is the leader: 1 is, 0 is not, by Lease"),
          leaseLabels(setup)))
    , m_slowPaths(around.metrics.counter(QStringLiteral("leader_election_slowpath_total"),
          QStringLiteral("Renewals of the leader that needed a read first, by Lease"),
          leaseLabels(setup)))
    , m_strand(m_pool)
    , m_rest(around.transport, m_strand, around.time,
          std::make_shared<transport::ServerWarnings>(m_log))
    , m_lock(leaseSettings(setup), m_rest)
    , m_events(new client::PluginEvents(eventIdentity(), m_rest, around.time, m_log))
{
    m_events->retain();
    m_pool.setMaxThreadCount(1);
    m_isMaster.set(0);
    client::LeaderElector::Surroundings elector;
    elector.lock = &m_lock;
    elector.permit = around.permit.get();
    elector.time = &around.time;
    elector.executor = &m_strand;
    elector.random = [] { return QRandomGenerator::global()->generateDouble(); };
    client::LeaderElector::Callbacks heard;
    heard.onStartedLeading = [this] { started(); };
    heard.onStoppedLeading = [this](End end) { ended(end); };
    heard.onNewLeader = [this](const QString &identity) { holderChanged(identity); };
    heard.onFailure = [this](const Error &error) { failed(error); };
    heard.onSlowPath = [this] { m_slowPaths.increment(); };
    const Status made
        = client::LeaderElector::make(setup.election, elector, std::move(heard), &m_elector);
    Q_ASSERT(made.isOk());
}

Leadership::~Leadership()
{
    *m_isAlive = false;
    m_rest.close();
    m_strand.stop();
    m_elector.reset();
    m_events->close();
    m_events->release();
}

void Leadership::start()
{
    m_isStarted = true;
    m_log.info("is a candidate; reconciles wait until it leads",
        {{"lease", toString(m_setup.lease)}, {"identity", m_setup.election.identity}});
    m_callbacks.onChanged(
        QStringLiteral("not known yet, this process waits for %1").arg(m_lock.describe()));
    m_elector->start();
}

void Leadership::stop(AfterStop after)
{
    if (m_isStarted)
        m_elector->stop(after);
    else
        toHost([this] { m_callbacks.onEnd(End::Stopped); });
}

bool Leadership::isHealthy() const
{
    return m_elector->isHealthy(kHealthTolerance);
}

void Leadership::toHost(std::function<void()> work)
{
    m_around.executor.post([isAlive = m_isAlive, work = std::move(work)] {
        if (*isAlive)
            work();
    });
}

void Leadership::started()
{
    m_hasLed = true;
    m_isMaster.set(1);
    m_lastFailure.clear();
    m_log.info("leads; reconciles begin", {{"lease", toString(m_setup.lease)}});
    record(QStringLiteral("became leader"));
    toHost([this] { m_callbacks.onLeading(); });
}

void Leadership::ended(End end)
{
    m_isMaster.set(0);
    if (end == End::Lost)
        m_log.error("lost the lease; nothing is reconciled or written any more",
            {{"lease", toString(m_setup.lease)},
                {"renewDeadlineSeconds",
                    std::chrono::duration<double>(m_setup.election.renewDeadline).count()}});
    else
        m_log.info(end == End::Released ? "gave the lease back" : "is no candidate any more",
            {{"lease", toString(m_setup.lease)}});
    if (m_hasLed)
        record(QStringLiteral("stopped leading"));
    m_events->finish(
        kLastEventTime, [this, end] { toHost([this, end] { m_callbacks.onEnd(end); }); });
}

void Leadership::holderChanged(const QString &identity)
{
    const bool isMe = identity == m_setup.election.identity;
    QString told = QStringLiteral("nobody, %1 is free").arg(m_lock.describe());
    if (isMe)
        told = QStringLiteral("this process, %1, by %2").arg(identity, m_lock.describe());
    else if (!identity.isEmpty())
        told = QStringLiteral("%1, by %2; this process stands by").arg(identity, m_lock.describe());
    m_log.info("the leader is",
        {{"lease", toString(m_setup.lease)}, {"holder", identity}, {"isThisProcess", isMe}});
    toHost([this, told] { m_callbacks.onChanged(told); });
}

// A failure is told when it begins, and when it is another one.
void Leadership::failed(const Error &error)
{
    QString sentence = error.message();
    if (error.code() == ErrorCode::Forbidden)
        sentence += QStringLiteral(
            "; a Role in namespace %1 must allow get, create and update of leases in apiGroup "
            "coordination.k8s.io")
                        .arg(m_setup.lease.namespaceName);
    if (std::exchange(m_lastFailure, sentence) == sentence)
        return;
    m_log.error("the lease cannot be read or written; it is tried again", {{"error", sentence}});
}

void Leadership::record(const QString &what)
{
    const ObjectBuilder lease(
        Gvk{QStringLiteral("coordination.k8s.io"), QStringLiteral("v1"), QStringLiteral("Lease")},
        m_setup.lease);
    m_events->record(lease.build(), EventSeverity::Normal, QStringLiteral("LeaderElection"),
        m_setup.election.identity + QLatin1Char(' ') + what);
}

} // namespace davit::host
