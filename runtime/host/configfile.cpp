#include "configfile.h"

#include <davit/quantity.h>
#include <support/yaml.h>
#include <transport/inputfile.h>

#include <QtCore/qdir.h>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qstandardpaths.h>
#include <algorithm>

namespace davit::host {

namespace {

constexpr QLatin1StringView kApiVersion("davit.dev/v1alpha1");
constexpr QLatin1StringView kKind("DavitConfiguration");

// What is wrong with it, to follow the file's name; empty when nothing is.
QString readInitialSync(const QJsonValue &member, QHash<QString, cache::InitialSync> *syncs)
{
    using cache::InitialSync;
    const QHash<QString, InitialSync> words{{QStringLiteral("auto"), InitialSync::Auto},
        {QStringLiteral("list"), InitialSync::List},
        {QStringLiteral("watchList"), InitialSync::WatchList}};
    if (!member.isUndefined() && !member.isObject())
        return QStringLiteral("has \"initialSync\" that is no mapping from kind to auto, list or "
                              "watchList");
    const QJsonObject kinds = member.toObject();
    for (auto i = kinds.constBegin(); i != kinds.constEnd(); ++i) {
        const auto word = words.constFind(i.value().toString());
        if (word == words.constEnd())
            return QStringLiteral("has \"initialSync.%1\" that is none of auto, list and watchList")
                .arg(i.key());
        syncs->insert(i.key(), *word);
    }
    return {};
}

QString readContentType(const QJsonValue &member, bool *prefersProtobuf)
{
    constexpr QLatin1StringView kProtobuf("application/vnd.kubernetes.protobuf");
    constexpr QLatin1StringView kJson("application/json");
    const QString type = member.toString(member.isUndefined() ? kProtobuf : QLatin1StringView());
    if (type != kProtobuf && type != kJson)
        return QStringLiteral("has a \"contentType\" that is neither %1 nor %2")
            .arg(kProtobuf, kJson);
    *prefersProtobuf = type == kProtobuf;
    return {};
}

QString readExecPolicy(const QJsonValue &member, ExecPolicy *policy)
{
    using Kind = ExecPolicy::Kind;
    if (member.isUndefined())
        return {};
    const QHash<QString, Kind> words{{QStringLiteral("AllowAll"), Kind::AllowAll},
        {QStringLiteral("DenyAll"), Kind::DenyAll}, {QStringLiteral("AllowList"), Kind::AllowList}};
    const QJsonObject settings = member.toObject();
    for (const QString &name : settings.keys())
        if (name != QLatin1StringView("policy") && name != QLatin1StringView("allow"))
            return QStringLiteral("has an unknown member \"execPrograms.%1\"; known are policy and "
                                  "allow")
                .arg(name);
    const auto word = words.constFind(settings.value(QLatin1StringView("policy")).toString());
    if (word == words.constEnd())
        return QStringLiteral("has \"execPrograms\" without a policy that is one of AllowAll, "
                              "DenyAll and AllowList");
    policy->kind = *word;
    const QJsonValue list = settings.value(QLatin1StringView("allow"));
    for (const QJsonValue &entry : list.toArray())
        policy->allowed << entry.toString();
    const bool isList = policy->kind == Kind::AllowList;
    if (isList != !policy->allowed.isEmpty() || policy->allowed.contains(QString()))
        return QStringLiteral("has \"execPrograms.allow\" that is no list of programs beside the "
                              "policy AllowList");
    return {};
}

// A Kubernetes quantity in a range, to follow "limits.NAME"; empty when it is good or not there.
QString readBytes(const QJsonValue &member, qint64 least, qint64 most, qint64 *bytes)
{
    if (member.isUndefined())
        return {};
    const QString text
        = member.isDouble() ? QString::number(member.toInteger(-1)) : member.toString();
    Quantity quantity;
    if (!Quantity::parse(text, &quantity).isOk() || quantity.toInt64() < least
        || quantity.toInt64() > most)
        return QStringLiteral("is no number of bytes from %1 to %2, such as 32Mi")
            .arg(least)
            .arg(most);
    *bytes = quantity.toInt64();
    return {};
}

QString readLimits(const QJsonValue &member, Configuration *configuration)
{
    constexpr qint64 kMiB = qint64(1) << 20;
    qint64 eventBytes = configuration->limits.maxEventBytes;
    qint64 itemBytes = configuration->limits.maxItemBytes;
    struct Known
    {
        QString name;
        qint64 least;
        qint64 most;
        qint64 *bytes;
    };
    const Known known[] = {{QStringLiteral("eventBytes"), kMiB / 16, 256 * kMiB, &eventBytes},
        {QStringLiteral("itemBytes"), kMiB / 16, 256 * kMiB, &itemBytes},
        {QStringLiteral("listBytes"), kMiB, kMiB << 20, &configuration->maxListBytes}};
    if (!member.isUndefined() && !member.isObject())
        return QStringLiteral("has \"limits\" that is no mapping from name to bytes");
    QJsonObject limits = member.toObject();
    for (const Known &one : known) {
        const QString wrong = readBytes(limits.take(one.name), one.least, one.most, one.bytes);
        if (!wrong.isEmpty())
            return QStringLiteral("has \"limits.%1\" that %2").arg(one.name, wrong);
    }
    if (!limits.isEmpty())
        return QStringLiteral("has an unknown member \"limits.%1\"; known are eventBytes, "
                              "itemBytes and listBytes")
            .arg(limits.constBegin().key());
    configuration->limits = {qsizetype(eventBytes), qsizetype(itemBytes)};
    return {};
}

QString programOf(const QString &command)
{
    const QString found
        = command.contains(u'/') ? command : QStandardPaths::findExecutable(command);
    return found.isEmpty() ? QString() : QDir::cleanPath(found);
}

} // namespace

bool ExecPolicy::allows(const QString &command) const
{
    if (kind != Kind::AllowList)
        return kind == Kind::AllowAll;
    const QString program = programOf(command);
    return !program.isEmpty()
        && std::any_of(allowed.begin(), allowed.end(),
            [&program](const QString &entry) { return programOf(entry) == program; });
}

Result<Configuration> readConfiguration(const QString &path)
{
    if (path.isEmpty())
        return Configuration();
    const auto fault = [&path](const QString &what) {
        return Error(ErrorCode::InvalidConfiguration,
            QStringLiteral("configuration file %1 %2").arg(path, what));
    };
    QString unreadable;
    const QByteArray text = transport::readInputFile(path, &unreadable);
    if (!unreadable.isEmpty())
        return fault(QStringLiteral("cannot be read (%1); check --config").arg(unreadable));
    const support::YamlDocuments yaml = support::yamlToJson(text, support::SameKeys::AreFaults);
    if (!yaml.isOk())
        return fault(QStringLiteral("is no YAML: %1").arg(yaml.error));
    if (yaml.documents.size() != 1)
        return fault(
            QStringLiteral("holds %1 documents; it must hold one").arg(yaml.documents.size()));
    const QJsonDocument document = QJsonDocument::fromJson(yaml.documents.first());
    if (!document.isObject())
        return fault(
            QStringLiteral("is no mapping; begin it with \"apiVersion: %1\"").arg(kApiVersion));
    const QJsonObject root = document.object();
    if (root.value(QLatin1StringView("apiVersion")).toString() != kApiVersion
        || root.value(QLatin1StringView("kind")).toString() != kKind)
        return fault(QStringLiteral("must begin with \"apiVersion: %1\" and \"kind: %2\"")
                         .arg(kApiVersion, kKind));
    for (const QString &member : root.keys())
        if (member != QLatin1StringView("apiVersion") && member != QLatin1StringView("kind")
            && member != QLatin1StringView("plugins") && member != QLatin1StringView("initialSync")
            && member != QLatin1StringView("execPrograms") && member != QLatin1StringView("limits")
            && member != QLatin1StringView("contentType"))
            return fault(
                QStringLiteral("has an unknown member \"%1\"; known are apiVersion, kind, "
                               "contentType, initialSync, limits, execPrograms and plugins")
                    .arg(member));
    const QJsonValue plugins = root.value(QLatin1StringView("plugins"));
    if (!plugins.isUndefined() && !plugins.isObject())
        return fault(
            QStringLiteral("has \"plugins\" that is no mapping from plugin Id to settings"));
    Configuration configuration;
    const QString faults[] = {
        readInitialSync(root.value(QLatin1StringView("initialSync")), &configuration.initialSync),
        readContentType(
            root.value(QLatin1StringView("contentType")), &configuration.prefersProtobuf),
        readExecPolicy(root.value(QLatin1StringView("execPrograms")), &configuration.execPolicy),
        readLimits(root.value(QLatin1StringView("limits")), &configuration)};
    for (const QString &what : faults)
        if (!what.isEmpty())
            return fault(what);
    configuration.plugins = plugins.toObject();
    for (auto i = configuration.plugins.constBegin(); i != configuration.plugins.constEnd(); ++i)
        if (!i.value().isObject())
            return fault(QStringLiteral("has \"plugins.%1\" that is no mapping").arg(i.key()));
    return configuration;
}

} // namespace davit::host
