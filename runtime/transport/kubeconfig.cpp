#include "kubeconfig.h"

#include "credential.h"
#include "incluster.h"
#include "kubeconfigreader.h"
#include "proxyenvironment.h"
#include "tlsmaterial.h"

#include <QtCore/qregularexpression.h>

namespace davit::transport {
namespace {

using support::Json;

constexpr QLatin1StringView kExecV1("client.authentication.k8s.io/v1");
constexpr QLatin1StringView kExecV1beta1("client.authentication.k8s.io/v1beta1");
constexpr char kExecExtension[] = "client.authentication.k8s.io/exec";

// A server without a scheme: https where TLS settings stand beside it (C-60).
QUrl serverUrl(QString text, bool hasTls)
{
    if (!text.contains(QLatin1String("://")))
        text.prepend(hasTls ? QStringLiteral("https://") : QStringLiteral("http://"));
    return QUrl(text, QUrl::StrictMode);
}

void readCluster(KubeconfigReader &reader, ClusterConfig &config)
{
    config.isInsecure = reader.flag("insecure-skip-tls-verify");
    config.caPem
        = reader.bytes("certificate-authority-data", "certificate-authority", &config.caFile);
    config.tlsServerName = reader.text("tls-server-name");
    const QString server = reader.text("server");
    if (server.isEmpty())
        return reader.fault(QStringLiteral("server is missing"));
    config.server = serverUrl(server, config.isInsecure || !config.caPem.isEmpty());
    const QString scheme = config.server.scheme();
    if (!config.server.isValid() || config.server.host().isEmpty()
        || (scheme != QLatin1String("https") && scheme != QLatin1String("http"))) {
        reader.fault(
            QStringLiteral("server \"%1\" is no address like https://host:6443").arg(server));
    }
    if (!reader.has("proxy-url"))
        return;
    config.proxyUrl = QUrl(reader.text("proxy-url"), QUrl::StrictMode);
    const QString proxy = config.proxyUrl.scheme();
    if (config.proxyUrl.host().isEmpty()
        || (proxy != QLatin1String("http") && proxy != QLatin1String("socks5"))) {
        reader.fault(
            QStringLiteral("proxy-url is no address like http://host:3128 or socks5://host:1080"));
    }
}

ExecConfig::InteractiveMode interactiveMode(KubeconfigReader &reader, const ExecConfig &exec)
{
    using Mode = ExecConfig::InteractiveMode;
    const QString text = reader.text("interactiveMode");
    if (text == QLatin1String("Never"))
        return Mode::Never;
    if (text == QLatin1String("IfAvailable"))
        return Mode::IfAvailable;
    if (text == QLatin1String("Always"))
        return Mode::Always;
    if (!text.isEmpty()) {
        reader.fault(
            QStringLiteral("exec: interactiveMode \"%1\" is none of Never, IfAvailable, Always")
                .arg(text));
    } else if (exec.apiVersion == kExecV1) {
        reader.fault(QStringLiteral(
            "exec: interactiveMode is missing, %1 wants Never, IfAvailable or Always")
                         .arg(kExecV1));
    }
    return Mode::IfAvailable; // the default of v1beta1
}

void readExecEnvironment(KubeconfigReader &reader, ExecConfig &exec)
{
    const Json *const list = support::arrayMember(reader.value(), "env");
    for (const Json &item : list ? *list : Json::array()) {
        const QString name = QString::fromStdString(support::stringMember(item, "name"));
        if (name.isEmpty())
            reader.fault(QStringLiteral("exec: an entry of env has no name"));
        exec.environment.append(
            {name, QString::fromStdString(support::stringMember(item, "value"))});
    }
}

ExecConfig readExec(const KubeconfigEntry &user, const QString &what, QStringList &faults)
{
    const KubeconfigEntry entry{user.value.at("exec"), user.file};
    KubeconfigReader reader(entry, what, faults);
    ExecConfig exec;
    exec.apiVersion = reader.text("apiVersion");
    if (exec.apiVersion != kExecV1 && exec.apiVersion != kExecV1beta1) {
        reader.fault(exec.apiVersion.isEmpty()
                ? QStringLiteral("exec: apiVersion is missing")
                : QStringLiteral("exec: apiVersion \"%1\" is neither %2 nor %3")
                      .arg(exec.apiVersion, kExecV1, kExecV1beta1));
    }
    const QString command = reader.text("command");
    if (command.isEmpty())
        reader.fault(QStringLiteral("exec: command is missing"));
    // A name without a slash is looked up in PATH.
    exec.command = command.contains(u'/') ? reader.absolute(command) : command;
    const Json *const arguments = support::arrayMember(entry.value, "args");
    for (const Json &item : arguments ? *arguments : Json::array())
        exec.arguments.append(item.is_string() ? QString::fromStdString(item.get<std::string>())
                                               : QString::fromStdString(item.dump()));
    readExecEnvironment(reader, exec);
    exec.interactiveMode = interactiveMode(reader, exec);
    exec.isClusterInfoProvided = reader.flag("provideClusterInfo");
    exec.installHint = reader.text("installHint");
    return exec;
}

void readToken(KubeconfigReader &reader, ClusterConfig &config)
{
    config.token = reader.text("token").toUtf8().trimmed();
    if (!isHeaderSafe(config.token))
        reader.fault(QStringLiteral("token ") + kNotHeaderSafe);
    config.tokenFile = reader.path("tokenFile");
    if (config.tokenFile.isEmpty() || !config.token.isEmpty())
        return;
    // Read here so that a wrong path is told at once (C-59).
    const std::optional<QByteArray> contents = reader.fileContents(config.tokenFile);
    config.token = contents.value_or(QByteArray()).trimmed();
    if (contents && config.token.isEmpty())
        reader.fault(QStringLiteral("tokenFile %1 is empty").arg(config.tokenFile));
    if (!isHeaderSafe(config.token))
        reader.fault(QStringLiteral("tokenFile %1 %2").arg(config.tokenFile, kNotHeaderSafe));
}

// What this build cannot do, as an Unsupported error; never left out in silence, since that would
// be another identity.
Status unsupported(KubeconfigReader &reader)
{
    const auto refuse = [&](const char *what, const char *instead) {
        return Error(ErrorCode::Unsupported,
            reader.prefix()
                + QStringLiteral("%1 is not supported, use %2")
                      .arg(QLatin1String(what), QLatin1String(instead)));
    };
    if (reader.has("auth-provider"))
        return refuse("auth-provider", "an exec plugin, a token or a client certificate");
    if (reader.has("username") || reader.has("password"))
        return refuse("basic authentication", "a token or a client certificate");
    for (const char *member : {"as", "as-uid", "as-groups", "as-user-extra"}) {
        if (reader.has(member))
            return refuse("impersonation (as)", "a user of its own");
    }
    return {};
}

Status readUser(const KubeconfigEntry &entry, ClusterConfig &config, QStringList &faults)
{
    const QString what = QStringLiteral("user \"%1\"").arg(config.userName);
    KubeconfigReader reader(entry, what, faults);
    config.clientCertificatePem = reader.bytes(
        "client-certificate-data", "client-certificate", &config.clientCertificateFile);
    config.clientKeyPem = reader.bytes("client-key-data", "client-key", &config.clientKeyFile);
    readToken(reader, config);
    if (!config.token.isEmpty() && (reader.has("username") || reader.has("password")))
        reader.fault(
            QStringLiteral("token and basic authentication exclude each other, remove one"));
    if (reader.has("exec") && reader.has("auth-provider"))
        reader.fault(QStringLiteral("exec and auth-provider exclude each other, remove one"));
    if (support::objectMember(entry.value, "exec"))
        config.exec = readExec(entry, what, faults);
    if (!config.token.isEmpty())
        config.exec.reset(); // C-73
    return faults.isEmpty() ? unsupported(reader) : Status();
}

// The entry that a context names; null with a fault when there is none.
const KubeconfigEntry *entryOf(KubeconfigReader &context, const char *member,
    const KubeconfigFiles::Entries &entries, QString *name)
{
    *name = context.text(member);
    if (name->isEmpty()) {
        context.fault(QStringLiteral("it names no %1").arg(QLatin1String(member)));
        return nullptr;
    }
    const auto found = entries.find(*name);
    if (found != entries.end())
        return &found->second;
    context.fault(QStringLiteral("its %1 \"%2\" does not exist").arg(QLatin1String(member), *name));
    return nullptr;
}

bool isDnsLabel(const QString &text)
{
    static const QRegularExpression label(
        QStringLiteral("\\A[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\z"));
    return label.match(text).hasMatch();
}

Result<QString> chosenContext(const KubeconfigFiles &files, const QString &wanted)
{
    const QString where = files.files.join(QStringLiteral(", "));
    const QString name = wanted.isEmpty() ? files.currentContext : wanted;
    if (name.isEmpty()) {
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("kubeconfig %1: no current-context is set").arg(where));
    }
    if (files.contexts.find(name) == files.contexts.end()) {
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("kubeconfig %1: context \"%2\" does not exist").arg(where, name));
    }
    return name;
}

// config of the cluster's extension for exec plugins, as JSON.
QByteArray execExtension(const KubeconfigEntry &cluster)
{
    const Json *const list = support::arrayMember(cluster.value, "extensions");
    for (const Json &item : list ? *list : Json::array()) {
        if (support::stringMember(item, "name") == kExecExtension && item.contains("extension"))
            return support::dumpJson(item.at("extension"));
    }
    return {};
}

void finish(ClusterConfig &config, const LoadEnvironment &environment)
{
    if (config.proxyUrl.isEmpty())
        config.proxyUrl = proxyFromEnvironment(config.server, environment);
    if (config.server.scheme() == QLatin1String("https"))
        return;
    config.token.clear();
    config.tokenFile.clear();
    config.exec.reset();
}

Result<ClusterConfig> build(
    const KubeconfigFiles &files, const QString &wanted, const LoadEnvironment &environment)
{
    const Result<QString> name = chosenContext(files, wanted);
    if (!name.isOk())
        return name.error();
    ClusterConfig config;
    config.contextName = name.value();
    const KubeconfigEntry &entry = files.contexts.find(config.contextName)->second;
    config.source
        = QStringLiteral("kubeconfig %1, context \"%2\"").arg(entry.file, config.contextName);

    QStringList faults;
    KubeconfigReader context(
        entry, QStringLiteral("context \"%1\"").arg(config.contextName), faults);
    QString clusterName;
    const KubeconfigEntry *const cluster
        = entryOf(context, "cluster", files.clusters, &clusterName);
    const KubeconfigEntry *const user = entryOf(context, "user", files.users, &config.userName);
    if (const QString space = context.text("namespace"); !space.isEmpty()) {
        if (!isDnsLabel(space))
            context.fault(QStringLiteral("namespace \"%1\" is no valid name").arg(space));
        config.namespaceName = space;
    }
    if (cluster) {
        KubeconfigReader reader(
            *cluster, QStringLiteral("cluster \"%1\"").arg(clusterName), faults);
        readCluster(reader, config);
    }
    const Status status = user ? readUser(*user, config, faults) : Status();
    if (!faults.isEmpty())
        return Error(ErrorCode::InvalidConfiguration, faults.join(QStringLiteral("; ")));
    if (!status.isOk())
        return status.error();
    if (config.exec && config.exec->isClusterInfoProvided)
        config.exec->clusterExtensionJson = execExtension(*cluster);
    if (const auto ssl = tlsConfiguration(config); !ssl.isOk())
        return ssl.error();
    finish(config, environment);
    return config;
}

} // namespace

Result<ClusterConfig> loadClusterConfig(
    const LoadRequest &request, const LoadEnvironment &environment)
{
    const QString variable = environment.variable("KUBECONFIG");
    QStringList paths = variable.split(u':', Qt::SkipEmptyParts);
    paths.removeDuplicates();
    MissingFiles missing = MissingFiles::AreSkipped;
    if (!request.kubeconfig.isEmpty()) {
        paths = QStringList{request.kubeconfig};
        missing = MissingFiles::AreFaults;
    } else if (paths.isEmpty()) {
        if (isInCluster(environment))
            return loadInCluster(environment);
        paths = QStringList{environment.homeFolder + QStringLiteral("/.kube/config")};
    }
    const Result<KubeconfigFiles> files = readKubeconfigFiles(paths, missing);
    if (!files.isOk())
        return files.error();
    if (!files.value().isEmpty())
        return build(files.value(), request.context, environment);
    if (request.kubeconfig.isEmpty() && isInCluster(environment))
        return loadInCluster(environment); // C-61
    if (!request.kubeconfig.isEmpty()) // it was read, so it is there
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("no cluster is configured: %1 has no clusters, contexts or users; name "
                           "a kubeconfig with --kubeconfig")
                .arg(request.kubeconfig));
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("no cluster is configured: %1 does not exist or names none, and this is no "
                       "pod; name a kubeconfig with --kubeconfig or KUBECONFIG")
            .arg(paths.join(QStringLiteral(", "))));
}

} // namespace davit::transport
