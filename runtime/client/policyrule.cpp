#include "policyrule.h"

#include <davit/selector.h>

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

bool namesPath(const QStringList &urls, const QString &path)
{
    return std::any_of(urls.begin(), urls.end(), [&](const QString &url) {
        return url == path || (url.endsWith(QLatin1Char('*')) && path.startsWith(url.chopped(1)));
    });
}

bool covers(const PolicyRule &rule, const AccessRequest &request)
{
    if (!request.path.isEmpty())
        return names(rule.verbs, request.verb) && namesPath(rule.nonResourceUrls, request.path);
    return names(rule.verbs, request.verb) && names(rule.apiGroups, request.group)
        && namesResource(rule.resources, request)
        && (rule.resourceNames.isEmpty() || rule.resourceNames.contains(request.name));
}

} // namespace

// A name holds none of the letters that toString() escapes.
QString exactName(const QString &fieldSelector)
{
    FieldSelector selector;
    if (!FieldSelector::parse(fieldSelector, &selector).isOk())
        return {};
    const QLatin1StringView wanted("metadata.name=");
    const QStringList terms = selector.toString().split(QLatin1Char(','));
    for (const QString &term : terms)
        if (term.startsWith(wanted))
            return term.mid(wanted.size());
    return {};
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
    if (!request.path.isEmpty())
        return Status(ErrorCode::MissingRbac,
            QStringLiteral("%1: the plugin's metadata lacks the Rbac rule {\"nonResourceURLs\": "
                           "[\"%2\"], \"verbs\": [\"%3\"]}; nothing was sent")
                .arg(operation, request.path, request.verb));
    QString resource = request.resource;
    if (!request.subresource.isEmpty())
        resource += QLatin1Char('/') + request.subresource;
    return Status(ErrorCode::MissingRbac,
        QStringLiteral("%1: the plugin's metadata lacks the Rbac rule {\"apiGroups\": [\"%2\"], "
                       "\"resources\": [\"%3\"], \"verbs\": [\"%4\"]}; nothing was sent")
            .arg(operation, request.group, resource, request.verb));
}

} // namespace davit::client
