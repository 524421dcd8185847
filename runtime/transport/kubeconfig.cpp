#include "kubeconfig.h"

#include "backoffenvironment.h"
#include "credential.h"
#include "httpheaders.h"
#include "incluster.h"
#include "kubeconfigmembers.h"
#include "kubeconfigreader.h"
#include "proxyenvironment.h"
#include "tlsmaterial.h"

#include <support/dnsnames.h>

#include <algorithm>

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
    if (config.isInsecure && (!config.caPem.isEmpty() || !config.caFile.isEmpty()))
        reader.fault(QStringLiteral("a certificate authority and insecure-skip-tls-verify exclude "
                                    "each other, remove one"));
    config.tlsServerName = reader.text("tls-server-name");
    const QString server = reader.text("server");
    if (server.isEmpty()) {
        if (!reader.has("server")) // what is no text was told already
            reader.fault(QStringLiteral("server is missing, add it, like https://host:6443"));
        return;
    }
    config.server = serverUrl(server, config.isInsecure || !config.caPem.isEmpty());
    const QString scheme = config.server.scheme();
    if (!config.server.isValid() || !hasHost(config.server)
        || (scheme != QLatin1String("https") && scheme != QLatin1String("http"))) {
        // A password may stand before an "@".
        const QString shown
            = server.contains(u'@') ? QString() : QStringLiteral(" \"%1\"").arg(server);
        reader.fault(QStringLiteral("server%1 is no address like https://host:6443").arg(shown));
    } else if (!config.server.userInfo().isEmpty()) {
        reader.fault(QStringLiteral(
            "server holds a user name, put it into the user's username and password"));
    }
    if (!reader.has("proxy-url"))
        return;
    config.proxyUrl = QUrl(reader.text("proxy-url"), QUrl::StrictMode);
    if (const QString fault = proxyFault(config.proxyUrl); !fault.isEmpty())
        reader.fault(QStringLiteral("proxy-url ") + fault);
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
        reader.fault(QStringLiteral(
            "interactiveMode \"%1\" is none of Never, IfAvailable, Always, write one")
                         .arg(text));
    } else if (exec.apiVersion == kExecV1) {
        reader.fault(
            QStringLiteral("interactiveMode is missing, %1 wants Never, IfAvailable or Always")
                .arg(kExecV1));
    }
    return Mode::IfAvailable; // the default of v1beta1
}

void readExecEnvironment(
    KubeconfigReader &reader, const QString &what, QStringList &faults, ExecConfig &exec)
{
    int index = 0;
    for (const Json &item : reader.maps("env", "{name: A, value: b}")) {
        const KubeconfigEntry entry{item, reader.file()};
        KubeconfigReader variable(
            entry, QStringLiteral("%1: env[%2]").arg(what).arg(index++), faults);
        const QString name = variable.text("name");
        if (!variable.has("name"))
            variable.fault(QStringLiteral("name is missing, add it"));
        exec.environment.append({name, variable.text("value")});
    }
}

ExecConfig readExec(const KubeconfigEntry &user, const QString &userWhat, QStringList &faults)
{
    const KubeconfigEntry entry{user.value.at("exec"), user.file};
    const QString what = userWhat + QStringLiteral(": exec");
    KubeconfigReader reader(entry, what, faults);
    ExecConfig exec;
    exec.apiVersion = reader.text("apiVersion");
    if (!reader.has("apiVersion"))
        reader.fault(QStringLiteral("apiVersion is missing, add it, like %1").arg(kExecV1));
    else if (!exec.apiVersion.isEmpty() && exec.apiVersion != kExecV1
        && exec.apiVersion != kExecV1beta1)
        reader.fault(
            QStringLiteral("apiVersion \"%1\" is neither %2 nor %3, write the one that the "
                           "program knows")
                .arg(exec.apiVersion, kExecV1, kExecV1beta1));
    const QString command = reader.text("command");
    if (!reader.has("command"))
        reader.fault(QStringLiteral("command is missing, name the program"));
    // A name without a slash is looked up in PATH.
    exec.command = command.contains(u'/') ? reader.absolute(command) : command;
    exec.arguments = reader.texts("args");
    readExecEnvironment(reader, what, faults, exec);
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
    const std::optional<QByteArray> contents = reader.fileContents("tokenFile", config.tokenFile);
    config.token = contents.value_or(QByteArray()).trimmed();
    if (contents && config.token.isEmpty())
        reader.fault(
            QStringLiteral("tokenFile %1 is empty, write a token into it or correct the path")
                .arg(config.tokenFile));
    if (!isHeaderSafe(config.token))
        reader.fault(QStringLiteral("tokenFile %1 %2").arg(config.tokenFile, kNotHeaderSafe));
}

void readBasic(KubeconfigReader &reader, ClusterConfig &config)
{
    if (!reader.has("username") && !reader.has("password"))
        return;
    if (!config.token.isEmpty())
        return reader.fault(
            QStringLiteral("token and basic authentication exclude each other, remove one"));
    config.basicUser = reader.text("username");
    config.basicPassword = reader.text("password").toUtf8();
    if (config.basicUser.isEmpty())
        reader.fault(QStringLiteral("username is missing beside password, add it"));
    if (config.basicUser.contains(u':')) // RFC 7617: the colon ends it
        reader.fault(QStringLiteral(
            "username holds a colon, basic authentication cannot send it, use a token"));
}

QList<std::pair<QString, QStringList>> readExtra(KubeconfigReader &reader, const char *member)
{
    QList<std::pair<QString, QStringList>> extra;
    if (!reader.has(member))
        return extra;
    if (!reader.value().at(member).is_object()) {
        reader.fault(QStringLiteral("%1 is no map, write it as {scopes: [view]}")
                         .arg(QLatin1String(member)));
        return extra;
    }
    const KubeconfigEntry map{reader.value().at(member), {}};
    QStringList faults;
    KubeconfigReader values(map, QString(), faults);
    for (const auto &item : map.value.items())
        extra.append({QString::fromStdString(item.key()), values.texts(item.key().c_str())});
    if (!faults.isEmpty())
        reader.fault(QStringLiteral("%1: a value is no list of texts, write it as {scopes: [view]}")
                         .arg(QLatin1String(member)));
    return extra;
}

// C-48
void readImpersonation(KubeconfigReader &reader, ClusterConfig &config)
{
    Impersonation &as = config.impersonation;
    as.user = reader.text("as");
    as.uid = reader.text("as-uid");
    as.groups = reader.texts("as-groups");
    as.extra = readExtra(reader, "as-user-extra");
    if (as.user.isEmpty() && (!as.uid.isEmpty() || !as.groups.isEmpty() || !as.extra.isEmpty()))
        reader.fault(QStringLiteral(
            "as-uid, as-groups and as-user-extra mean nothing without as, add it or remove them"));
    for (const auto &[name, values] : impersonationHeaders(as)) {
        const QString what = QString::fromLatin1(name).replace(
            QLatin1String("Impersonate-"), QLatin1String("as: "));
        if (!std::all_of(values.begin(), values.end(), isHeaderSafe))
            reader.fault(what + QStringLiteral(" holds control characters, remove them"));
        if (values.size() > 1 && !canRepeatHeaders())
            reader.fault(
                QStringLiteral("%1 has %2 values and Qt %3 can send one, so the server would take "
                               "us for somebody else; leave one, or run with Qt 6.4 to 6.7")
                    .arg(what, QString::number(values.size()), QLatin1String(qVersion())));
    }
}

Status readUser(const KubeconfigEntry &entry, ClusterConfig &config, QStringList &faults)
{
    const QString what = QStringLiteral("user \"%1\"").arg(config.userName);
    KubeconfigReader reader(entry, what, faults);
    config.clientCertificatePem = reader.bytes(
        "client-certificate-data", "client-certificate", &config.clientCertificateFile);
    config.clientKeyPem = reader.bytes("client-key-data", "client-key", &config.clientKeyFile);
    if (reader.has("client-certificate-data") || reader.has("client-certificate")) {
        if (!reader.has("client-key-data") && !reader.has("client-key"))
            reader.fault(QStringLiteral("the client certificate has no client-key, add it"));
    } else if (reader.has("client-key-data") || reader.has("client-key")) {
        reader.fault(QStringLiteral("the client key has no client-certificate, add it"));
    }
    readToken(reader, config);
    readBasic(reader, config);
    readImpersonation(reader, config);
    if (reader.has("exec") && reader.has("auth-provider"))
        reader.fault(QStringLiteral("exec and auth-provider exclude each other, remove one"));
    if (support::objectMember(entry.value, "exec"))
        config.exec = readExec(entry, what, faults);
    else if (reader.has("exec")) // without it, it would be another identity
        reader.fault(QStringLiteral("exec is no map of apiVersion, command and more"));
    if (!config.token.isEmpty() || !config.basicUser.isEmpty())
        config.exec.reset(); // C-73
    if (faults.isEmpty() && reader.has("auth-provider")) {
        // Never left out in silence: that would be another identity.
        return Status(ErrorCode::Unsupported,
            reader.prefix()
                + QStringLiteral("auth-provider is not supported, use an exec plugin, a token or a "
                                 "client certificate"));
    }
    return {};
}

// "there are a, b and 3 more", for who mistyped one.
QString namesOf(const KubeconfigFiles::Entries &entries, const char *what)
{
    constexpr int kShown = 8;
    QStringList names;
    for (const auto &[name, entry] : entries)
        names << name;
    if (names.isEmpty())
        return QStringLiteral("there is no %1 at all").arg(QLatin1String(what));
    const qsizetype more = names.size() - kShown;
    return QStringLiteral("there %1 %2")
               .arg(names.size() == 1 ? QStringLiteral("is") : QStringLiteral("are"),
                   names.mid(0, kShown).join(QStringLiteral(", ")))
        + (more > 0 ? QStringLiteral(" and %1 more").arg(more) : QString());
}

// The entry that a context names; null with a fault when there is none.
const KubeconfigEntry *entryOf(KubeconfigReader &context, const char *member,
    const KubeconfigFiles::Entries &entries, QString *name)
{
    *name = context.text(member);
    if (!context.has(member))
        context.fault(QStringLiteral("it names no %1, add it: %2")
                          .arg(QLatin1String(member), namesOf(entries, member)));
    if (name->isEmpty())
        return nullptr;
    const auto found = entries.find(*name);
    if (found != entries.end())
        return &found->second;
    context.fault(QStringLiteral("its %1 \"%2\" does not exist, correct it: %3")
                      .arg(QLatin1String(member), *name, namesOf(entries, member)));
    return nullptr;
}

Result<QString> chosenContext(const KubeconfigFiles &files, const QString &wanted)
{
    const QString where = files.files.join(QStringLiteral(", "));
    const QString names = namesOf(files.contexts, "context");
    const QString name = wanted.isEmpty() ? files.currentContext : wanted;
    if (name.isEmpty()) {
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral(
                "kubeconfig %1: no current-context is set; choose one with --context, or "
                "with kubectl config use-context: %2")
                .arg(where, names));
    }
    if (files.contexts.find(name) == files.contexts.end()) {
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("kubeconfig %1: %2 \"%3\" does not exist; correct it: %4")
                .arg(where,
                    wanted.isEmpty() ? QStringLiteral("the current-context")
                                     : QStringLiteral("context"),
                    name, names));
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

void dropWhatNeedsTls(ClusterConfig &config)
{
    if (config.server.scheme() == QLatin1String("https"))
        return;
    config.token.clear();
    config.tokenFile.clear();
    config.basicUser.clear();
    config.basicPassword.clear();
    config.exec.reset();
    config.impersonation = {}; // anybody on the way could claim to be whoever it names
}

// Where no proxy-url says it.
Result<ClusterConfig> withProxy(
    const Result<ClusterConfig> &loaded, const LoadEnvironment &environment, const QString &choice)
{
    if (!loaded.isOk())
        return loaded.error();
    ClusterConfig config = loaded.value();
    config.choice = choice;
    if (!config.proxyUrl.isEmpty())
        return config;
    config.proxyUrl = proxyFromEnvironment(config.server, environment);
    const QString fault = config.proxyUrl.isEmpty() ? QString() : proxyFault(config.proxyUrl);
    if (fault.isEmpty())
        return config;
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("%1_PROXY in the environment %2; or name the server in NO_PROXY")
            .arg(config.server.scheme().toUpper(), fault));
}

// kubectl goes on as well where a member is unknown; a mistyped token makes it nobody.
void warnOfUnknown(
    const KubeconfigEntry &context, const Json &cluster, const Json &user, ClusterConfig &config)
{
    const auto look = [&](const QString &where, const Json &value, KubeconfigLevel level) {
        for (const QString &sentence : unknownMembers(value, level))
            config.warnings << where + QStringLiteral(": ") + sentence;
    };
    look(QStringLiteral("kubeconfig %1: context \"%2\"").arg(context.file, config.contextName),
        context.value, KubeconfigLevel::Context);
    look(config.clusterSource, cluster, KubeconfigLevel::Cluster);
    look(config.userSource, user, KubeconfigLevel::User);
    if (const Json *const exec = support::objectMember(user, "exec"))
        look(config.userSource + QStringLiteral(": exec"), *exec, KubeconfigLevel::Exec);
}

Result<ClusterConfig> build(const KubeconfigFiles &files, const QString &wanted)
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
        if (!support::isDnsLabel(space))
            context.fault(
                QStringLiteral("namespace \"%1\" is no valid name, it is lower-case letters, "
                               "digits and \"-\"")
                    .arg(space));
        config.namespaceName = space;
    }
    if (cluster) {
        KubeconfigReader reader(
            *cluster, QStringLiteral("cluster \"%1\"").arg(clusterName), faults);
        readCluster(reader, config);
        config.clusterSource
            = QStringLiteral("kubeconfig %1: cluster \"%2\"").arg(cluster->file, clusterName);
    }
    if (user)
        config.userSource
            = QStringLiteral("kubeconfig %1: user \"%2\"").arg(user->file, config.userName);
    const Status status = user ? readUser(*user, config, faults) : Status();
    if (!faults.isEmpty())
        return Error(ErrorCode::InvalidConfiguration, faults.join(QStringLiteral("; ")));
    if (!status.isOk())
        return status.error();
    warnOfUnknown(entry, cluster->value, user->value, config);
    if (config.exec && config.exec->isClusterInfoProvided)
        config.exec->clusterExtensionJson = execExtension(*cluster);
    if (const auto ssl = tlsConfiguration(config); !ssl.isOk())
        return ssl.error();
    dropWhatNeedsTls(config);
    return config;
}

// A variable that is set and leads nowhere is an error of somebody (C-53).
Result<ClusterConfig> inPodInstead(
    const LoadEnvironment &environment, const QStringList &paths, bool areAllMissing)
{
    const Result<ClusterConfig> loaded = withProxy(loadInCluster(environment), environment,
        QStringLiteral("this is a pod and the files of KUBECONFIG name no cluster"));
    if (!loaded.isOk() || !areAllMissing)
        return loaded;
    ClusterConfig config = loaded.value();
    config.warnings.append(
        QStringLiteral("KUBECONFIG names %1, and none of that exists: the in-cluster configuration "
                       "is used")
            .arg(paths.join(QStringLiteral(", "))));
    return config;
}

// kubectl tells it, too.
Result<ClusterConfig> withoutMissing(
    const KubeconfigFiles &files, const Result<ClusterConfig> &loaded)
{
    if (!loaded.isOk() || files.missing.isEmpty())
        return loaded;
    ClusterConfig config = loaded.value();
    config.warnings.prepend(
        QStringLiteral("KUBECONFIG names %1, which %2 not exist; correct it, or leave it out")
            .arg(files.missing.join(QStringLiteral(", ")),
                files.missing.size() == 1 ? QStringLiteral("does") : QStringLiteral("do")));
    return config;
}

Result<ClusterConfig> chooseAndLoad(const LoadRequest &request, const LoadEnvironment &environment)
{
    const QString variable = environment.variable("KUBECONFIG");
    QStringList paths = variable.split(u':', Qt::SkipEmptyParts);
    paths.removeDuplicates();
    MissingFiles missing = MissingFiles::AreSkipped;
    QString choice = QStringLiteral("KUBECONFIG names it");
    if (!request.kubeconfig.isEmpty()) {
        paths = QStringList{request.kubeconfig};
        missing = MissingFiles::AreFaults;
        choice = QStringLiteral("--kubeconfig names it");
    } else if (paths.isEmpty()) {
        if (isInCluster(environment))
            return withProxy(loadInCluster(environment), environment,
                QStringLiteral("this is a pod and neither --kubeconfig nor KUBECONFIG is set"));
        paths = QStringList{environment.homeFolder + QStringLiteral("/.kube/config")};
        choice = QStringLiteral("neither --kubeconfig nor KUBECONFIG is set and this is no pod");
    }
    const Result<KubeconfigFiles> files = readKubeconfigFiles(paths, missing);
    if (!files.isOk())
        return files.error();
    if (!files.value().isEmpty())
        return withoutMissing(
            files.value(), withProxy(build(files.value(), request.context), environment, choice));
    if (request.kubeconfig.isEmpty() && isInCluster(environment)) // C-61
        return inPodInstead(environment, paths, files.value().files.isEmpty());
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

} // namespace

Result<ClusterConfig> loadClusterConfig(
    const LoadRequest &request, const LoadEnvironment &environment)
{
    const Result<ClusterConfig> loaded = chooseAndLoad(request, environment);
    if (!loaded.isOk())
        return loaded;
    ClusterConfig config = loaded.value();
    const Status status = readBackoff(environment, &config);
    return status.isOk() ? Result<ClusterConfig>(config) : Result<ClusterConfig>(status.error());
}

} // namespace davit::transport
