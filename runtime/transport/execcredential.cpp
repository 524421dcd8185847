#include "execcredential.h"

#include <support/glibswitch.h>
#include <support/json.h>
#include <support/rfc3339.h>

#include <QtCore/qtimer.h>
#include <algorithm>
#include <csignal>
#include <mutex>
#include <set>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace davit::transport {
namespace {

using support::Json;
using namespace std::chrono_literals;

constexpr std::chrono::seconds kRunLimit{60};
constexpr std::chrono::seconds kExpirySlack{10};
constexpr size_t kMaxHintsAnHour = 10;
constexpr qsizetype kMaxPrinted = qsizetype(1024) * 1024;

// What to do; its standard error is ours.
constexpr QLatin1StringView kByHand(
    "; its own words stand on standard error, run it in a shell to see more");
constexpr QLatin1StringView kMustPrint(
    "; it has to print one ExecCredential and nothing else, run it in a shell to see what it does");

// What endExecPrograms() kills: processes, or, when negative, their groups.
struct Running
{
    std::mutex mutex;
    std::set<pid_t> targets; // GUARDED_BY(mutex)
};
Running &running()
{
    static auto *const kept = new Running;
    return *kept;
}

Error malformed(const char *what)
{
    return Error(ErrorCode::InvalidConfiguration, QLatin1String(what));
}

// Between fork and exec: async-signal-safe calls only.
void prepareChild()
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC); // what whoever started us left open is not for it
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

// A group of its own makes it possible to end the program with all its children.
void prepareGroup()
{
    setpgid(0, 0);
    prepareChild();
}

} // namespace

void endExecPrograms() noexcept
{
    const std::lock_guard lock(running().mutex);
    for (const pid_t target : running().targets)
        kill(target, SIGKILL);
}

Result<ExecOutput> parseExecOutput(const QByteArray &text, const QString &apiVersion)
{
    Json root;
    QString fault;
    if (!support::parseJson(text, &root, &fault) || !root.is_object())
        return malformed("it printed no JSON object");
    if (support::stringMember(root, "kind") != "ExecCredential")
        return malformed("it printed something else than an ExecCredential");
    if (support::stringMember(root, "apiVersion") != apiVersion.toStdString())
        return malformed("it printed another apiVersion than the kubeconfig names");
    const Json *const status = support::objectMember(root, "status");
    if (!status)
        return malformed("it printed no status");
    for (const char *name :
        {"token", "clientCertificateData", "clientKeyData", "expirationTimestamp"}) {
        const auto member = status->find(name);
        if (member != status->end() && !member->is_null() && !member->is_string())
            return Error(ErrorCode::InvalidConfiguration,
                QStringLiteral("it printed a status.%1 that is no text").arg(QLatin1String(name)));
    }
    ExecOutput output;
    const auto bytes = [&](const char *name) {
        return support::toByteArray(support::stringMember(*status, name));
    };
    output.token = bytes("token").trimmed();
    if (!isHeaderSafe(output.token))
        return malformed("it printed a token with control characters");
    output.certificatePem = bytes("clientCertificateData");
    output.keyPem = bytes("clientKeyData");
    if (output.certificatePem.isEmpty() != output.keyPem.isEmpty())
        return malformed("it printed a certificate without a key, or a key without a certificate");
    if (output.token.isEmpty() && output.keyPem.isEmpty())
        return malformed("it printed neither a token nor a certificate");
    if (const auto expires = status->find("expirationTimestamp");
        expires != status->end() && !expires->is_null()) {
        const auto time
            = support::parseRfc3339(QString::fromStdString(expires->get<std::string>()));
        if (!time)
            return malformed("it printed an expirationTimestamp that is no RFC 3339 time");
        output.expires = std::max(*time, std::chrono::nanoseconds(0)); // year 1 is Go's zero
    }
    return output;
}

QByteArray execInfo(const ClusterConfig &config, bool isInteractive)
{
    Json spec = {{"interactive", isInteractive}};
    if (config.exec->isClusterInfoProvided) {
        Json cluster = {{"server", config.server.toString().toStdString()}};
        if (!config.tlsServerName.isEmpty())
            cluster["tls-server-name"] = config.tlsServerName.toStdString();
        if (config.isInsecure)
            cluster["insecure-skip-tls-verify"] = true;
        if (!config.caPem.isEmpty())
            cluster["certificate-authority-data"] = config.caPem.toBase64().toStdString();
        if (!config.proxyUrl.isEmpty())
            cluster["proxy-url"] = config.proxyUrl.toString().toStdString();
        Json extension;
        QString fault;
        if (support::parseJson(config.exec->clusterExtensionJson, &extension, &fault))
            cluster["config"] = extension;
        spec["cluster"] = cluster;
    }
    return support::dumpJson({{"apiVersion", config.exec->apiVersion.toStdString()},
        {"kind", "ExecCredential"}, {"spec", spec}});
}

ExecCredential::ExecCredential(const ClusterConfig &config, const support::TimeSource &time,
    CertificateTaker taker, std::function<void(const ExecRun &)> onRun)
    : m_config(config)
    , m_exec(*config.exec)
    , m_time(time)
    , m_takeCertificate(std::move(taker))
    , m_onRun(std::move(onRun))
{ }

ExecCredential::~ExecCredential()
{
    if (!m_process)
        return;
    m_process->disconnect();
    killGroup();
    m_process->waitForFinished(1000);
    forgetRunning();
}

void ExecCredential::prepare(std::function<void()> ready)
{
    if (isFresh())
        return ready();
    m_waiting.push_back(std::move(ready));
    if (!m_process)
        run();
}

Result<QByteArray> ExecCredential::token()
{
    if (m_output)
        return m_output->token;
    return m_error.isError() ? m_error : fault(QStringLiteral("it has not run"));
}

// The cached one was refused: whatever the program prints now is worth one more try.
bool ExecCredential::renew(const QByteArray &refused)
{
    if (m_output && m_output->token == refused)
        m_output.reset();
    return true;
}

bool ExecCredential::isFresh() const
{
    return m_output && (!m_output->expires || m_time.utc() + kExpirySlack < *m_output->expires);
}

void ExecCredential::run()
{
    using Mode = ExecConfig::InteractiveMode;
    const bool hasTerminal = isatty(STDIN_FILENO) == 1;
    if (m_exec.interactiveMode == Mode::Always && !hasTerminal)
        return conclude(
            fault(QStringLiteral("interactiveMode is Always and there is no terminal; run davit in "
                                 "one, or write IfAvailable")));
    const bool isInteractive = hasTerminal && m_exec.interactiveMode != Mode::Never;
    m_printed.clear();
    m_givenUp.clear();
    m_process = std::make_unique<QProcess>();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (qgetenv(support::kGlibSwitch) == support::kSetByDavit)
        environment.remove(QLatin1StringView(support::kGlibSwitch));
    for (const auto &[name, value] : m_exec.environment)
        environment.insert(name, value);
    environment.insert(QStringLiteral("KUBERNETES_EXEC_INFO"),
        QString::fromUtf8(execInfo(m_config, isInteractive)));
    m_process->setProcessEnvironment(environment);
    m_process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
    if (isInteractive) {
        m_process->setInputChannelMode(QProcess::ForwardedInputChannel);
        m_process->setChildProcessModifier(prepareChild);
    } else {
        m_process->setStandardInputFile(QProcess::nullDevice());
        m_process->setChildProcessModifier(prepareGroup);
    }
    QProcess *const process = m_process.get();
    QObject::connect(process, &QProcess::finished, process, [this] { onEnded(); });
    QObject::connect(
        process, &QProcess::errorOccurred, process, [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                onEnded();
        });
    QObject::connect(
        process, &QProcess::readyReadStandardOutput, process, [this] { takeOutput(); });
    QTimer::singleShot(kRunLimit, process,
        [this] { giveUp(QStringLiteral("it did not end within 60 s") + kByHand); });
    process->start(m_exec.command, m_exec.arguments);
    const pid_t id = pid_t(process->processId());
    if (id == 0)
        return; // it could not be started, and onEnded() has been called
    m_target = isInteractive ? id : -id;
    const std::lock_guard lock(running().mutex);
    running().targets.insert(m_target);
}

void ExecCredential::takeOutput()
{
    m_printed += m_process->read(kMaxPrinted + 1 - m_printed.size());
    if (m_printed.size() > kMaxPrinted)
        giveUp(QStringLiteral("it printed more than 1 MiB") + kMustPrint);
}

void ExecCredential::giveUp(const QString &what)
{
    if (!m_givenUp.isEmpty())
        return;
    m_givenUp = what;
    killGroup();
}

QString ExecCredential::awaited() const
{
    return m_process ? QStringLiteral("exec plugin ") + m_exec.command : QString();
}

std::optional<std::chrono::nanoseconds> ExecCredential::expires() const
{
    if (!m_output)
        return std::nullopt;
    return m_output->expires ? m_output->expires : webTokenExpiry(m_output->token);
}

void ExecCredential::onEnded()
{
    QProcess &process = *m_process;
    takeOutput();
    noteEnd();
    if (!m_givenUp.isEmpty())
        return conclude(fault(m_givenUp));
    if (process.error() == QProcess::FailedToStart) {
        return conclude(fault(
            QStringLiteral("it could not be started: ") + process.errorString() + installHint()));
    }
    if (process.exitStatus() != QProcess::NormalExit)
        return conclude(
            fault(QStringLiteral("signal %1 ended it").arg(process.exitCode()) + kByHand));
    if (process.exitCode() != 0)
        return conclude(
            fault(QStringLiteral("it ended with exit code %1").arg(process.exitCode()) + kByHand));
    const Result<ExecOutput> output = parseExecOutput(m_printed, m_exec.apiVersion);
    if (!output.isOk())
        return conclude(fault(output.error().message() + kMustPrint));
    if (!output.value().keyPem.isEmpty()) {
        const Status taken
            = m_takeCertificate(output.value().certificatePem, output.value().keyPem);
        if (!taken.isOk())
            return conclude(fault(QStringLiteral("what it printed is of no use: ")
                + taken.error().message() + kByHand));
    }
    m_output = output.value();
    conclude(Error());
}

void ExecCredential::noteEnd()
{
    if (m_process->error() == QProcess::FailedToStart)
        m_run = {1, "plugin_not_found_error"};
    else if (m_process->exitStatus() != QProcess::NormalExit || m_process->exitCode() != 0)
        m_run = {m_process->exitCode(), "plugin_execution_error"};
    else
        m_run = {};
}

// C-71: the kubeconfig's own is shown ten times an hour at most.
QString ExecCredential::installHint()
{
    const QString usual = QStringLiteral("; install it, or correct command, args and env of the "
                                         "user's exec");
    const auto now = m_time.monotonic();
    while (!m_hintedAt.empty() && now - m_hintedAt.front() >= 1h)
        m_hintedAt.pop_front();
    if (m_exec.installHint.isEmpty() || m_hintedAt.size() >= kMaxHintsAnHour)
        return usual;
    m_hintedAt.push_back(now);
    return QStringLiteral("; ") + m_exec.installHint;
}

// Whoever waited goes on, with a token or with the fault.
void ExecCredential::conclude(const Error &error)
{
    m_error = error;
    if (error.isError())
        m_output.reset();
    if (m_process) {
        m_run.expires = m_output ? m_output->expires : std::nullopt;
        if (m_onRun)
            m_onRun(m_run);
        forgetRunning();
        m_process->disconnect();
        m_process.release()->deleteLater(); // a signal of it may be under way
    }
    for (const auto &ready : std::exchange(m_waiting, {}))
        ready();
}

// "kubeconfig …, context "dev": user "alice": exec plugin /opt/x: what".
Error ExecCredential::fault(const QString &what) const
{
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("%1: user \"%2\": exec plugin %3: %4")
            .arg(m_config.source, m_config.userName, m_exec.command, what));
}

void ExecCredential::killGroup()
{
    if (m_target != 0)
        kill(m_target, SIGKILL);
    m_process->kill();
}

// Its number may be given to another process from now on.
void ExecCredential::forgetRunning()
{
    const std::lock_guard lock(running().mutex);
    running().targets.erase(std::exchange(m_target, 0));
}

} // namespace davit::transport
