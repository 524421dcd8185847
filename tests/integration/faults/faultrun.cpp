#include "faultrun.h"

#include <QtCore/qhash.h>
#include <QtNetwork/qnetworkaccessmanager.h>
#include <QtTest/qtest.h>
#include <random>

using namespace std::chrono_literals;
using convergence::Heard;
using convergence::History;
using convergence::World;
using davit::cache::InitialSync;
using davit::testing::FaultProxy;
using Break = FaultProxy::Break;

static constexpr int kWriters = 20;
static constexpr int kObjects = 400;
static constexpr int kWritesPerSecond = 300;
static constexpr int kAnswerLimitMs = 20000; // until some informer asks again

static constexpr Heard::Kind kKinds[]
    = {Heard::Kind::Added, Heard::Kind::Updated, Heard::Kind::Deleted};

// Where an event of that kind can be left out and must be missed. An update just before the
// deletion is not among them: a relist may rightly skip it. `unheard`: what is to be thought of a
// key's event that has not come yet.
static std::vector<size_t> droppable(
    const std::vector<Heard> &heard, Heard::Kind kind, Heard::Kind unheard)
{
    std::vector<size_t> found;
    QHash<QString, Heard::Kind> next; // what the key's following event is
    for (size_t i = heard.size(); i-- > 0;) {
        const Heard &event = heard[i];
        const bool isChange = kind != Heard::Kind::Updated
            || (!(event.before == event.object)
                && next.value(event.key, unheard) != Heard::Kind::Deleted);
        if (event.kind == kind && isChange)
            found.push_back(i);
        next.insert(event.key, event.kind);
    }
    return found;
}

FaultRun::FaultRun(const FaultTarget &target)
    : m_target(target)
    , m_gateway(target.port, target.tls)
    , m_direct(QStringLiteral("127.0.0.1"), target.port)
    , m_load(new LoadWriter(target.connection, "default", kObjects, kWriters, target.memory))
{ }

FaultRun::~FaultRun()
{
    m_rigs.clear();
}

QString FaultRun::begin()
{
    const quint16 gatewayPort = m_gateway.start();
    m_indirect = std::make_unique<FaultProxy>(QStringLiteral("127.0.0.1"), gatewayPort);
    if (gatewayPort == 0 || !m_direct.start().isOk() || !m_indirect->start().isOk())
        return QStringLiteral("a proxy does not start");
    m_load.begin(LoadWriter::Work::CreateAll, 0, 5000);
    if (!QTest::qWaitFor([this] { return m_load.isOver(); }, 60000) || !m_load.failure().isEmpty())
        return QStringLiteral("the objects are not written: ") + m_load.failure();
    const QString half = QStringLiteral("half=1");
    for (const QString &fault : {addRig("direct, streaming", false, InitialSync::Auto, {{}, half}),
             addRig("direct, lists of a selector", false, InitialSync::List, {half}),
             addRig("gateway, streaming", true, InitialSync::Auto, {{}, half}),
             addRig("gateway, lists", true, InitialSync::List, {{}}),
             addRig("gateway, streaming of a selector", true, InitialSync::Auto, {half})})
        if (!fault.isEmpty())
            return fault;
    const auto haveSynced = [this] {
        return std::all_of(m_handlers.begin(), m_handlers.end(),
            [](const Handler &handler) { return handler.recorder->hasSynced(); });
    };
    if (!QTest::qWaitFor(haveSynced, 60000))
        return QStringLiteral("the informers do not sync");
    m_load.begin(LoadWriter::Work::Churn, 1 << 30, kWritesPerSecond);
    return {};
}

QString FaultRun::addRig(
    const char *name, bool isBehindGateway, InitialSync sync, const QStringList &selectors)
{
    davit::transport::ClusterConfig config = m_target.config;
    if (isBehindGateway) {
        config = {};
        config.source = QStringLiteral("the gateway");
        config.server = QUrl(QStringLiteral("http://127.0.0.1"));
    }
    config.server.setPort(isBehindGateway ? m_indirect->port() : m_direct.port());
    RigOptions options;
    // Longer than the 3 s for which a server that was restored waits for a version that it lost
    // before it says so.
    options.patience = 4s;
    options.factory.initialSync = [sync](const davit::Gvk &) { return sync; };
    options.factory.backoff.initial = 10ms;
    options.factory.backoff.cap = 100ms;
    auto rig = std::make_unique<InformerRig>(config, options);
    const davit::transport::Resource configMaps{
        {{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")}, QStringLiteral("configmaps"),
        true};
    for (const QString &selector : selectors) {
        davit::InformerRequest request(configMaps.gvk);
        request.inNamespaces({QStringLiteral("default")}).withLabels(selector);
        const davit::Status made = rig->watch(configMaps, request);
        if (!made.isOk())
            return made.error().message();
    }
    for (qsizetype i = 0; i < selectors.size(); ++i)
        m_handlers.push_back({QStringLiteral("%1 [%2]").arg(QLatin1String(name), selectors[i]),
            &rig->recorder(size_t(i)), selectors[i].toLatin1(), {}});
    m_rigs.push_back(std::move(rig));
    return {};
}

QString FaultRun::play(const Fault &fault)
{
    FaultProxy &proxy = fault.isBehindGateway ? *m_indirect : m_direct;
    const int whileMs = std::min(fault.amount, 200);
    switch (fault.kind) {
    case Fault::Kind::Cut:
        proxy.breakConnections(Break::Cut);
        break;
    case Fault::Kind::Reset:
        proxy.breakConnections(Break::Reset);
        break;
    case Fault::Kind::CutAfterBytes:
    case Fault::Kind::ResetAfterBytes:
        proxy.breakAfter(
            fault.amount, fault.kind == Fault::Kind::CutAfterBytes ? Break::Cut : Break::Reset, 1);
        proxy.breakConnections(Break::Cut); // a new connection counts from its start
        break;
    case Fault::Kind::Stall:
        proxy.breakConnections(Break::Stall);
        QTest::qWait(std::min(fault.amount, 1500));
        proxy.breakConnections(Break::Reset);
        break;
    case Fault::Kind::Refuse:
        proxy.setMode(FaultProxy::Mode::Refuse);
        proxy.breakConnections(Break::Reset);
        QTest::qWait(whileMs);
        proxy.setMode(FaultProxy::Mode::Pass);
        break;
    case Fault::Kind::HoldBack:
        proxy.setMode(FaultProxy::Mode::HoldFromServer);
        QTest::qWait(whileMs);
        proxy.breakConnections(Break::Reset);
        proxy.setMode(FaultProxy::Mode::Pass);
        break;
    case Fault::Kind::Delay:
        proxy.setDelay(20ms);
        QTest::qWait(whileMs);
        proxy.setDelay(0ms);
        break;
    case Fault::Kind::BadAnswer:
        return playAnswer(fault);
    default:
        m_target.strikeServer(fault.kind);
        break;
    }
    QTest::qWait(10);
    return m_load.failure();
}

QString FaultRun::playAnswer(const Fault &fault)
{
    if (fault.answer.request == BadAnswer::Request::List) {
        // Somebody has to list: a watch is told that its version is too old.
        for (const NamedAnswer &answer : badAnswers())
            if (qstrcmp(answer.name, "410 as an event") == 0)
                m_gateway.arm(answer.answer);
    }
    m_gateway.arm(fault.answer);
    // So that somebody asks. Whoever was in the middle of it may have all that it wants.
    for (int i = 0; i < kAnswerLimitMs / 1000; ++i) {
        m_indirect->breakConnections(Break::Cut);
        if (QTest::qWaitFor([this] { return !m_gateway.isArmed(); }, 1000))
            return m_load.failure();
    }
    return QStringLiteral("nobody asked for the answer \"%1\"; %2").arg(fault.name, phases());
}

QString FaultRun::phases() const
{
    QStringList all;
    for (const auto &rig : m_rigs)
        for (const davit::cache::ResourceState &state : rig->states())
            all.append(QStringLiteral("%1: phase %2 (%3)")
                           .arg(state.scope.toText())
                           .arg(int(state.reflector.phase))
                           .arg(state.reflector.lastError.message()));
    return all.join(QStringLiteral("; "));
}

World FaultRun::listed(const QByteArray &selector) const
{
    QNetworkAccessManager manager;
    int status = 0;
    bool ok = false;
    QByteArray target = "/api/v1/namespaces/default/configmaps";
    if (!selector.isEmpty())
        target += "?labelSelector=" + selector.toPercentEncoding();
    const QByteArray json = m_target.connection.get(manager, target, &status);
    World world = convergence::worldOfList(json, &ok);
    return status == 200 && ok ? world : World();
}

QStringList FaultRun::check(Handler &handler, History history) const
{
    QStringList faults;
    const World replayed = convergence::replay(handler.recorder->heard(), &faults, history);
    for (const QString &difference :
        convergence::differences(handler.fresh, handler.recorder->stored()))
        faults.append(QStringLiteral("the store: ") + difference);
    for (const QString &difference : convergence::differences(handler.fresh, replayed))
        faults.append(QStringLiteral("the replay: ") + difference);
    for (QString &fault : faults)
        fault.prepend(handler.name + QLatin1String(": "));
    return faults;
}

QStringList FaultRun::disagreements(History history)
{
    m_gateway.disarm();
    for (FaultProxy *const proxy : {&m_direct, m_indirect.get()}) {
        proxy->setMode(FaultProxy::Mode::Pass);
        proxy->setDelay(0ms);
        proxy->breakAfter(0, Break::Unset, 0);
    }
    // Faults may have left a handler with few events; without them the writers see to the rest.
    if (!QTest::qWaitFor([this] { return eachHeardEachKind(); }, 60000))
        return {
            QStringLiteral("a handler heard no event of some kind within a minute; ") + phases()};
    m_load.writer().finishSoon();
    if (!QTest::qWaitFor([this] { return m_load.isOver(); }, 60000) || !m_load.failure().isEmpty())
        return {QStringLiteral("the writers do not end: ") + m_load.failure()};
    for (Handler &handler : m_handlers) {
        handler.fresh = listed(handler.selector);
        if (handler.fresh.isEmpty())
            return {QStringLiteral("there is no fresh list to compare with")};
    }
    QStringList found;
    const auto agree = [&] {
        found.clear();
        for (Handler &handler : m_handlers)
            found += check(handler, history);
        return found.isEmpty();
    };
    if (!QTest::qWaitFor(agree, 60000))
        found.append(QStringLiteral("not within a minute"));
    return found;
}

// One that can be left out and stays so, whatever comes.
bool FaultRun::eachHeardEachKind() const
{
    for (const Handler &handler : m_handlers)
        for (const auto kind : kKinds)
            if (droppable(handler.recorder->heard(), kind, Heard::Kind::Deleted).empty())
                return false;
    return true;
}

QStringList FaultRun::unnoticedDrops(quint32 seed, History history) const
{
    std::mt19937 random(seed);
    QStringList unnoticed;
    for (const Handler &handler : m_handlers) {
        for (const auto kind : kKinds) {
            const QString what = handler.name + QStringLiteral(": kind %1").arg(int(kind));
            std::vector<Heard> heard = handler.recorder->heard();
            const std::vector<size_t> fitting = droppable(heard, kind, Heard::Kind::Added);
            if (fitting.empty()) {
                unnoticed.append(what + QStringLiteral(" was not heard"));
                continue;
            }
            heard.erase(heard.begin() + ptrdiff_t(fitting[random() % fitting.size()]));
            QStringList faults;
            const World world = convergence::replay(heard, &faults, history);
            if (faults.isEmpty() && convergence::differences(handler.fresh, world).isEmpty())
                unnoticed.append(what);
        }
    }
    return unnoticed;
}

QString FaultRun::summary() const
{
    quint64 lists = 0;
    quint64 watches = 0;
    quint64 fills = 0;
    quint64 failed = 0;
    for (const auto &rig : m_rigs) {
        for (const davit::cache::ResourceState &state : rig->states()) {
            lists += state.reflector.listRequests;
            watches += state.reflector.watchRequests;
            fills += state.reflector.fills;
            failed += state.reflector.failedRounds;
        }
    }
    size_t heard = 0;
    for (const Handler &handler : m_handlers)
        heard += handler.recorder->heard().size();
    return QStringLiteral(
        "%1 writes, %2 answers lost; %3 lists and %4 watches asked for, %5 fills, "
        "%6 failed rounds; %7 events heard")
        .arg(m_load.writer().writes())
        .arg(m_load.writer().lostAnswers())
        .arg(lists)
        .arg(watches)
        .arg(fills)
        .arg(failed)
        .arg(heard);
}
