#include "checkrights.h"

#include "checkkinds.h"
#include "checklease.h"
#include "definitionwatch.h"
#include "servercalls.h"

#include <pluginhost/pluginchecks.h>
#include <pluginhost/pluginscanner.h>

#include <QtCore/qfileinfo.h>
#include <QtCore/qhash.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace davit::host {

namespace {

using Grade = Finding::Grade;
using pluginhost::DeclaredResource;
using pluginhost::PluginMetadata;

// Where, and which verbs; the key is a Right without them.
using Key = std::tuple<QString, QString, QString, QString, QString, QString>;
using Needs = std::map<Key, std::set<QString>>;

// Those for which the plugin declares a resource; one empty name for all of them.
QStringList namespacesOf(
    const PluginMetadata &metadata, const QString &group, const QString &resource)
{
    QStringList names;
    for (const DeclaredResource &declared : metadata.resources) {
        if (declared.gvk.group != group || declared.plural != resource)
            continue;
        if (declared.namespaces.isEmpty())
            return {QString()};
        names += declared.namespaces;
    }
    return names.isEmpty() ? QStringList(QString()) : names;
}

void addRule(const client::PolicyRule &rule, const PluginMetadata &metadata, Needs &needs)
{
    const std::set<QString> verbs(rule.verbs.begin(), rule.verbs.end());
    for (const QString &url : rule.nonResourceUrls)
        needs[{{}, {}, {}, {}, {}, url}].insert(verbs.begin(), verbs.end());
    const QStringList names
        = rule.resourceNames.isEmpty() ? QStringList(QString()) : rule.resourceNames;
    for (const QString &group : rule.apiGroups)
        for (const QString &resource : rule.resources)
            for (const QString &space : namespacesOf(metadata, group, resource.section(u'/', 0, 0)))
                for (const QString &name : names)
                    needs[{group, resource.section(u'/', 0, 0), resource.section(u'/', 1), name,
                              space, {}}]
                        .insert(verbs.begin(), verbs.end());
}

QByteArray reviewOf(const Right &right, const QString &verb)
{
    QJsonObject spec;
    if (right.resource.isEmpty()) {
        spec[QLatin1StringView("nonResourceAttributes")]
            = QJsonObject{{QStringLiteral("path"), right.url}, {QStringLiteral("verb"), verb}};
    } else {
        QJsonObject attributes{{QStringLiteral("group"), right.group},
            {QStringLiteral("resource"), right.resource}, {QStringLiteral("verb"), verb}};
        for (const auto &[member, value] : {std::pair("subresource", right.subresource),
                 std::pair("name", right.name), std::pair("namespace", right.namespaceName)})
            if (!value.isEmpty())
                attributes[QLatin1StringView(member)] = value;
        spec[QLatin1StringView("resourceAttributes")] = attributes;
    }
    return QJsonDocument(
        QJsonObject{{QStringLiteral("apiVersion"), QStringLiteral("authorization.k8s.io/v1")},
            {QStringLiteral("kind"), QStringLiteral("SelfSubjectAccessReview")},
            {QStringLiteral("spec"), spec}})
        .toJson(QJsonDocument::Compact);
}

// "kubectl create clusterrole …" for one missing right, and whom to bind it to.
QString remedy(const Right &right, const QStringList &verbs, const QString &user)
{
    const bool isLocal = !right.namespaceName.isEmpty();
    QString text = QStringLiteral("kubectl create %1 NAME --verb=%2 ")
                       .arg(isLocal ? QStringLiteral("role -n ") + right.namespaceName
                                    : QStringLiteral("clusterrole"),
                           verbs.join(u','));
    if (right.resource.isEmpty()) {
        text += QStringLiteral("--non-resource-url=") + right.url;
    } else {
        text += QStringLiteral("--resource=") + right.resource;
        if (!right.group.isEmpty())
            text += u'.' + right.group;
        if (!right.subresource.isEmpty())
            text += u'/' + right.subresource;
        if (!right.name.isEmpty())
            text += QStringLiteral(" --resource-name=") + right.name;
    }
    return QStringLiteral("grant it (%1, then bind that to %2)").arg(text, user);
}

// Asks each question once for all.
class RightsCheck
{
public:
    RightsCheck(ServerCalls &calls, const QString &user, const TellFinding &tell)
        : m_calls(calls), m_user(user), m_tell(tell)
    { }

    void check(const QString &topic, const std::vector<Right> &rights)
    {
        qsizetype wanted = 0;
        bool areMissing = false;
        for (const Right &right : rights) {
            const QStringList lacking = lackingOf(right);
            if (!m_fault.isEmpty())
                return;
            wanted += qsizetype(right.verbs.size());
            areMissing = areMissing || !lacking.isEmpty();
            if (!lacking.isEmpty())
                m_tell({Grade::Bad, topic,
                    QStringLiteral("may not %1 %2; %3")
                        .arg(lacking.join(QStringLiteral(", ")), right.text(),
                            remedy(right, lacking, m_user))});
        }
        m_areMissing = m_areMissing || areMissing;
        if (!areMissing)
            m_tell({Grade::Good, topic, QStringLiteral("has all of its %1 rights").arg(wanted)});
    }

    // What davit works without; `loss` says how.
    void look(const QString &topic, const Right &right, const QString &loss)
    {
        const QStringList lacking = lackingOf(right);
        if (m_fault.isEmpty() && !lacking.isEmpty())
            m_tell({Grade::Odd, topic,
                QStringLiteral("may not %1 %2, so %3; %4")
                    .arg(lacking.join(QStringLiteral(", ")), right.text(), loss,
                        remedy(right, lacking, m_user))});
    }

    // True when the server could not be asked, which this tells.
    bool hasFailed(const QString &topic) const
    {
        if (m_fault.isEmpty())
            return false;
        m_tell({Grade::Bad, topic,
            QStringLiteral("the server does not say what this user may do: ") + m_fault});
        return true;
    }
    QueryExit exit() const
    {
        return !m_fault.isEmpty() ? m_faultExit
            : m_areMissing        ? QueryExit::MissingRights
                                  : QueryExit::Done;
    }

private:
    // Those of its verbs that are not allowed.
    QStringList lackingOf(const Right &right)
    {
        QStringList lacking;
        for (const QString &verb : right.verbs) {
            if (!isAllowed(right, verb))
                lacking << verb;
            if (!m_fault.isEmpty())
                break;
        }
        return lacking;
    }

    bool isAllowed(const Right &right, const QString &verb)
    {
        const QByteArray review = reviewOf(right, verb);
        if (const auto known = m_known.constFind(review); known != m_known.constEnd())
            return *known;
        const ServerAnswer answer
            = m_calls.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);
        if (!answer.isGood()) {
            m_faultExit = answer.isOfSickServer() ? QueryExit::NoConnection : exitOf(answer);
            m_fault = answer.fault
                + (m_faultExit == QueryExit::NoConnection
                        ? QStringLiteral("; look at its log, or at what stands before it")
                        : QStringLiteral("; every user may ask where the ClusterRole "
                                         "system:basic-user is bound as at first"));
            return false;
        }
        const QJsonValue allowed = QJsonDocument::fromJson(
            answer.body)[QLatin1StringView("status")][QLatin1StringView("allowed")];
        if (!allowed.isBool()) {
            m_faultExit = QueryExit::Configuration;
            m_fault = m_calls.strangeAnswer(
                answer, QStringLiteral("SelfSubjectAccessReview that allows or denies"));
            return false;
        }
        m_known.insert(review, allowed.toBool());
        return allowed.toBool();
    }

    ServerCalls &m_calls;
    const QString m_user;
    const TellFinding &m_tell;
    QHash<QByteArray, bool> m_known; // by the review
    QString m_fault; // with what to do
    QueryExit m_faultExit = QueryExit::Done;
    bool m_areMissing = false;
};

Right definitionsRight()
{
    const transport::Resource &definitions = DefinitionWatch::resource();
    return {definitions.gvk.group, definitions.plural, {}, {}, {}, {},
        {QStringLiteral("list"), QStringLiteral("watch")}};
}

Status readMetadata(const pluginhost::PluginFile &file, PluginMetadata *metadata)
{
    if (!file.fault.isEmpty())
        return Status(ErrorCode::InvalidConfiguration, file.fault);
    pluginhost::RawMetadata raw;
    const Status status = pluginhost::readRawMetadata(file.path, &raw);
    return status.isOk() ? pluginhost::checkPlugin(file.path, raw, metadata) : status;
}

} // namespace

QString Right::text() const
{
    if (resource.isEmpty())
        return url;
    QString text = resource;
    if (!subresource.isEmpty())
        text += u'/' + subresource;
    if (!group.isEmpty())
        text += QStringLiteral(" of ") + group;
    if (!name.isEmpty())
        text += QStringLiteral(" named ") + name;
    return text
        + (namespaceName.isEmpty() ? QStringLiteral(" in all namespaces")
                                   : QStringLiteral(" in namespace ") + namespaceName);
}

std::vector<Right> rightsOf(const PluginMetadata &metadata)
{
    Needs needs;
    for (const DeclaredResource &declared : metadata.resources) {
        const QStringList spaces
            = declared.namespaces.isEmpty() ? QStringList(QString()) : declared.namespaces;
        for (const QString &space : spaces)
            needs[{declared.gvk.group, declared.plural, {}, {}, space, {}}].insert(
                {QStringLiteral("get"), QStringLiteral("list"), QStringLiteral("watch")});
    }
    for (const client::PolicyRule &rule : metadata.rbac)
        addRule(rule, metadata, needs);
    std::vector<Right> rights;
    for (const auto &[key, verbs] : needs) {
        const auto &[group, resource, subresource, name, space, url] = key;
        rights.push_back({group, resource, subresource, name, space, url,
            std::vector<QString>(verbs.begin(), verbs.end())});
    }
    return rights;
}

std::vector<Right> electionRights(const ObjectKey &lease)
{
    const QString group = QStringLiteral("coordination.k8s.io");
    const QString leases = QStringLiteral("leases");
    const QString create = QStringLiteral("create");
    return {
        {group, leases, {}, lease.name, lease.namespaceName, {},
            {QStringLiteral("get"), QStringLiteral("update")}},
        {group, leases, {}, {}, lease.namespaceName, {}, {create}}, // no name is known by then
        {{}, QStringLiteral("events"), {}, {}, lease.namespaceName, {},
            {create, QStringLiteral("patch")}},
    };
}

QueryExit checkRights(ServerCalls &calls, const std::optional<ObjectKey> &lease,
    const QStringList &pluginDirs, const QString &user, const TellFinding &tell)
{
    RightsCheck rights(calls, user, tell);
    QueryExit exit = QueryExit::Done;
    if (lease) {
        const QString topic = QStringLiteral("election");
        rights.check(topic, electionRights(*lease));
        if (rights.hasFailed(topic))
            return rights.exit();
        exit = checkLeaseNamespace(calls, *lease, tell);
    }
    if (pluginDirs.isEmpty())
        return worse(exit, rights.exit());
    const QString topic = QStringLiteral("plugins");
    QList<pluginhost::PluginFile> files;
    for (const QString &dir : pluginDirs) {
        const Status status = pluginhost::scanPlugins(dir, &files);
        if (!status.isOk()) {
            tell({Grade::Bad, topic, status.error().message()});
            return QueryExit::Configuration;
        }
    }
    if (files.isEmpty())
        tell({Grade::Odd, topic,
            QStringLiteral("there are none in %1; --plugin-dir names where they are")
                .arg(pluginDirs.join(QStringLiteral(", ")))});
    KindsCheck kinds(calls, tell);
    for (const pluginhost::PluginFile &file : files) {
        PluginMetadata metadata;
        const Status status = readMetadata(file, &metadata);
        if (!status.isOk()) {
            tell({Grade::Bad, QFileInfo(file.path).fileName(),
                QStringLiteral("would not be loaded, and what it needs is not known: ")
                    + status.error().message()});
            exit = QueryExit::Configuration;
            continue;
        }
        kinds.checkPlugin(metadata.id, metadata);
        rights.check(metadata.id, rightsOf(metadata));
        if (namesInstallable(metadata))
            rights.look(metadata.id, definitionsRight(),
                QStringLiteral("kinds that are installed or changed later are noticed 10 s late"));
        if (rights.hasFailed(topic))
            break;
    }
    return worse(exit, worse(kinds.exit(), rights.exit()));
}

} // namespace davit::host
