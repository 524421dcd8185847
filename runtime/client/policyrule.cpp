#include "policyrule.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsonobject.h>
#include <algorithm>

namespace davit::client {
namespace {

const QString kAny = QStringLiteral("*");

bool names(const QStringList &list, const QString &value)
{
    return list.contains(kAny) || list.contains(value);
}

bool namesResource(const QStringList &resources, const AccessRequest &request)
{
    const QString whole = request.subresource.isEmpty()
        ? request.resource
        : request.resource + QLatin1Char('/') + request.subresource;
    return names(resources, whole)
        || (!request.subresource.isEmpty()
            && resources.contains(QStringLiteral("*/") + request.subresource));
}

bool covers(const PolicyRule &rule, const AccessRequest &request)
{
    return names(rule.verbs, request.verb) && names(rule.apiGroups, request.group)
        && namesResource(rule.resources, request)
        && (rule.resourceNames.isEmpty() || rule.resourceNames.contains(request.name));
}

Status readList(const QJsonObject &entry, qsizetype index, QLatin1StringView name, bool isNeeded,
    QStringList *list)
{
    const auto wrong = [&](const QString &fault) {
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("Rbac[%1].%2: %3").arg(index).arg(name, fault));
    };
    const QJsonValue value = entry.value(name);
    if (value.isUndefined() && !isNeeded)
        return Status::ok();
    if (!value.isArray())
        return wrong(QStringLiteral("a list of texts is needed"));
    const QJsonArray texts = value.toArray();
    for (const auto &text : texts) {
        if (!text.isString())
            return wrong(QStringLiteral("a list of texts is needed"));
        list->append(text.toString());
    }
    if (isNeeded && list->isEmpty())
        return wrong(QStringLiteral("it is empty"));
    return Status::ok();
}

} // namespace

Status policyRulesFromJson(const QJsonArray &json, std::vector<PolicyRule> *rules)
{
    for (qsizetype i = 0; i < json.size(); ++i) {
        if (!json.at(i).isObject())
            return Status(ErrorCode::InvalidArgument,
                QStringLiteral("Rbac[%1]: a PolicyRule is needed").arg(i));
        const QJsonObject entry = json.at(i).toObject();
        PolicyRule rule;
        for (const Status &status :
            {readList(entry, i, QLatin1StringView("apiGroups"), true, &rule.apiGroups),
                readList(entry, i, QLatin1StringView("resources"), true, &rule.resources),
                readList(entry, i, QLatin1StringView("verbs"), true, &rule.verbs),
                readList(
                    entry, i, QLatin1StringView("resourceNames"), false, &rule.resourceNames)}) {
            if (!status.isOk())
                return status;
        }
        rules->push_back(std::move(rule));
    }
    return Status::ok();
}

Rbac::Rbac(std::vector<PolicyRule> rules) : m_rules(std::move(rules)) { }

bool Rbac::allows(const AccessRequest &request) const
{
    return std::any_of(m_rules.begin(), m_rules.end(),
        [&](const PolicyRule &rule) { return covers(rule, request); });
}

Status Rbac::check(const QString &operation, const AccessRequest &request) const
{
    if (allows(request))
        return Status::ok();
    QString resource = request.resource;
    if (!request.subresource.isEmpty())
        resource += QLatin1Char('/') + request.subresource;
    return Status(ErrorCode::MissingRbac,
        QStringLiteral("%1: the plugin's metadata lacks the Rbac rule {\"apiGroups\": [\"%2\"], "
                       "\"resources\": [\"%3\"], \"verbs\": [\"%4\"]}; nothing was sent")
            .arg(operation, request.group, resource, request.verb));
}

} // namespace davit::client
