#include "transportcore.h"
#include "execcredential.h"
#include "httpheaders.h"
#include "inputfile.h"
#include "proxyenvironment.h"
#include "tlsmaterial.h"

#include <QtNetwork/qnetworkproxy.h>
#include <utility>
#include <vector>

namespace davit::transport {
namespace {

constexpr std::chrono::seconds kFileCheckInterval{10};
constexpr std::chrono::minutes kQuietCheckInterval{5}; // while nobody asks anything

constexpr char kReadError[] = "read_error";
constexpr char kEmpty[] = "empty";

// The new contents; the old ones, and why in `fault`, when the file is gone, empty or unfit.
// `reason`, if it is wanted, is that in one word, or stays as it is.
QByteArray reread(
    const QString &path, const QByteArray &old, QString &fault, const char **reason = nullptr)
{
    if (path.isEmpty())
        return old;
    QString unreadable;
    const QByteArray bytes = readInputFile(path, &unreadable, std::chrono::milliseconds(0));
    if (!bytes.isEmpty())
        return bytes;
    if (reason)
        *reason = unreadable.isEmpty() ? kEmpty : kReadError;
    if (!old.isEmpty()) // it was empty from the start: C-44
        fault = QStringLiteral("%1 %2").arg(path,
            unreadable.isEmpty() ? QStringLiteral("is empty")
                                 : QStringLiteral("cannot be read: ") + unreadable);
    return old;
}

QByteArray baseUrlOf(const QUrl &server)
{
    QByteArray text = server.toEncoded(QUrl::RemoveQuery | QUrl::RemoveFragment);
    while (text.endsWith('/'))
        text.chop(1);
    return text;
}

// Of none or a SOCKS one; http proxies are reached by the bridge.
QNetworkProxy proxyOf(const QUrl &url)
{
    if (url.isEmpty())
        return QNetworkProxy::NoProxy;
    return QNetworkProxy(
        QNetworkProxy::Socks5Proxy, url.host(), portOf(url), url.userName(), url.password());
}

// What is sent beside tokens, as servers and proxies may repeat it.
QByteArrayList passwordsOf(const ClusterConfig &config)
{
    QByteArrayList secrets;
    const auto add = [&](const QString &user, const QByteArray &password) {
        if (!password.isEmpty())
            secrets << password << user.toUtf8() + ':' + password
                    << basicAuthorization(user, password).mid(qstrlen("Basic "));
    };
    add(config.basicUser, config.basicPassword);
    add(config.proxyUrl.userName(), config.proxyUrl.password().toUtf8());
    return secrets;
}

} // namespace

TransportCore::TransportCore(
    const ClusterConfig &config, const TransportOptions &options, support::Executor &io)
    : m_io(io)
    , m_context{config, serverNameOf(config.server), baseUrlOf(config.server),
          options.userAgent.isEmpty() ? hostUserAgent() : options.userAgent, {}, {},
          options.time ? *options.time : support::systemTimeSource(), nullptr, nullptr,
          options.onPeer}
    , m_onReloadFault(options.onReloadFault)
    , m_onCaReload(options.onCaReload)
{
    m_context.passwords.set(passwordsOf(config));
    const Result<QSslConfiguration> ssl = tlsConfiguration(config);
    if (ssl.isOk())
        m_context.ssl = ssl.value();
    else
        m_context.configurationFault = ssl.error();
    if (config.exec) {
        m_context.credential = std::make_unique<ExecCredential>(
            config, m_context.time,
            [this, hasOwn = !config.clientKeyPem.isEmpty()](
                const QByteArray &certificatePem, const QByteArray &keyPem) {
                if (hasOwn)
                    return Status(); // C-73: the kubeconfig's own goes first
                ClusterConfig fresh = m_context.config;
                fresh.clientCertificatePem = certificatePem;
                fresh.clientKeyPem = keyPem;
                return use(fresh);
            },
            options.onExecRun);
    } else {
        m_context.credential = makeCredential(config, m_context.time);
    }
    m_context.pool
        = std::make_unique<ConnectionPool>([this] { return makeManager(); }, options.managers);
    m_filesReadAt = m_context.time.monotonic();
    lookLater();
}

TransportCore::~TransportCore()
{
    m_context.time.cancel(m_nextLook);
    for (const auto &[handOver, exchange] : std::exchange(m_running, {})) {
        exchange->disconnect();
        exchange->fail(Error(ErrorCode::Canceled,
            QStringLiteral("%1: the connection was shut down").arg(m_context.serverName)));
    }
}

void TransportCore::start(const Request &request, const std::shared_ptr<HandOver> &handOver)
{
    reloadFiles();
    auto exchange = std::make_unique<QnamExchange>(m_context, request, handOver);
    QnamExchange *const started = exchange.get();
    QObject::connect(started, &QnamExchange::done, started, [this, key = handOver.get()] {
        const auto found = m_running.find(key);
        if (found == m_running.end())
            return;
        found->second.release()->deleteLater(); // it is in the middle of a call
        m_running.erase(found);
    });
    m_running.emplace(handOver.get(), std::move(exchange));
    started->begin();
}

void TransportCore::resume(HandOver *handOver)
{
    if (const auto found = m_running.find(handOver); found != m_running.end())
        found->second->resume();
}

void TransportCore::abandon(HandOver *handOver)
{
    m_running.erase(handOver);
}

bool TransportCore::hasFiles() const
{
    const ClusterConfig &config = m_context.config;
    return !config.caFile.isEmpty() || !config.clientCertificateFile.isEmpty()
        || !config.clientKeyFile.isEmpty();
}

// C-42: a watch may be all that is open, and must not stay under a certificate that was replaced.
void TransportCore::lookLater()
{
    if (!hasFiles())
        return;
    m_nextLook = m_context.time.callAfter(kQuietCheckInterval, m_io, [this] {
        reloadFiles();
        lookLater();
    });
}

// New certificates serve new exchanges, on new managers. A pair that does not fit (the files are
// just being swapped) keeps the old one.
void TransportCore::reloadFiles()
{
    ClusterConfig &config = m_context.config;
    const auto now = m_context.time.monotonic();
    if (!hasFiles() || now - *m_filesReadAt < kFileCheckInterval)
        return;
    m_filesReadAt = now;
    ClusterConfig fresh = config;
    QString fault;
    const char *caFault = nullptr;
    fresh.caPem = reread(config.caFile, config.caPem, fault, &caFault);
    fresh.clientCertificatePem
        = reread(config.clientCertificateFile, config.clientCertificatePem, fault);
    fresh.clientKeyPem = reread(config.clientKeyFile, config.clientKeyPem, fault);
    const bool isOtherCa = fresh.caPem != config.caPem;
    if (isOtherCa) {
        ClusterConfig alone = config; // with the certificate that is in use
        alone.caPem = fresh.caPem;
        if (!tlsConfiguration(alone).isOk())
            caFault = "ca_parse_error";
    }
    const Status status = use(fresh);
    if (!status.isOk())
        fault = status.error().message();
    if (!config.caFile.isEmpty() && (caFault || !isOtherCa || status.isOk()))
        tellCa(caFault ? caFault : isOtherCa ? "updated" : "unchanged");
    tellReload(fault);
}

// Not of a CA that has to wait for the other files: a later look takes it up.
void TransportCore::tellCa(const char *reason) const
{
    const bool isGood = qstrcmp(reason, "updated") == 0 || qstrcmp(reason, "unchanged") == 0;
    if (m_onCaReload)
        m_onCaReload({isGood ? "success" : "failure", reason});
}

void TransportCore::tellReload(const QString &fault)
{
    m_failedLooks = fault.isEmpty() ? 0 : m_failedLooks + 1;
    if (m_failedLooks == 2 && m_onReloadFault)
        m_onReloadFault(fault);
}

// From now on new exchanges use these certificates, on new managers; nothing changes when they do
// not fit.
Status TransportCore::use(const ClusterConfig &fresh)
{
    ClusterConfig &config = m_context.config;
    if (fresh.caPem == config.caPem && fresh.clientCertificatePem == config.clientCertificatePem
        && fresh.clientKeyPem == config.clientKeyPem) {
        return {};
    }
    const Result<QSslConfiguration> ssl = tlsConfiguration(fresh);
    if (!ssl.isOk())
        return ssl.error();
    const bool isOtherIdentity = fresh.clientCertificatePem != config.clientCertificatePem;
    config = fresh;
    m_context.ssl = ssl.value();
    m_context.configurationFault = Error();
    if (m_context.proxyBridge)
        m_context.proxyBridge->setConfiguration(m_context.ssl);
    m_context.pool->retireAll();
    if (isOtherIdentity)
        endWatches();
    return {};
}

// C-42: no connection of the old certificate stays open. Calls and lists on it end soon by
// themselves, watches are opened again by those who hold them, from the version that they know.
void TransportCore::endWatches()
{
    std::vector<HandOver *> watches;
    for (const auto &[handOver, exchange] : m_running) {
        if (exchange->isOpenWatch())
            watches.push_back(handOver);
    }
    for (HandOver *const handOver : watches) {
        if (const auto found = m_running.find(handOver); found != m_running.end())
            found->second->fail(Error(ErrorCode::ConnectionLost,
                QStringLiteral("%1: the client certificate was replaced, the watch begins again "
                               "with the new one")
                    .arg(m_context.serverName)));
    }
}

std::unique_ptr<QNetworkAccessManager> TransportCore::makeManager()
{
    const QUrl &proxy = m_context.config.proxyUrl;
    auto &bridge = m_context.proxyBridge;
    if (bridge && bridge->proxy().port() == 0) // no port to be had then
        bridge.reset();
    if (!bridge && proxy.scheme().startsWith(QLatin1StringView("http")))
        bridge = std::make_unique<ProxyBridge>(proxy, m_context.ssl);
    auto manager = std::make_unique<QNetworkAccessManager>();
    manager->setProxy(bridge ? bridge->proxy() : proxyOf(proxy));
    return manager;
}

QString serverNameOf(const QUrl &server)
{
    QUrl shown;
    shown.setScheme(server.scheme());
    shown.setHost(server.host());
    shown.setPort(portOf(server));
    if (server.path() != QLatin1String("/")) // one of several servers behind a gateway
        shown.setPath(server.path());
    return shown.toString();
}

} // namespace davit::transport
