// What a plugin may ask of the API server: the "Rbac" of its metadata, PolicyRules as Kubernetes
// writes them, and the check that comes before each request.
// Source: Kubernetes "Using RBAC Authorization". Test: tst_policyrule.
#pragma once

#include <davit/status.h>

#include <QtCore/qstringlist.h>
#include <vector>

class QJsonArray;

namespace davit::client {

struct PolicyRule
{
    QStringList apiGroups; // "" is the core group, "*" all
    QStringList resources; // "pods", "pods/status", "*", "*/scale"
    QStringList resourceNames; // empty: any
    QStringList verbs; // "get", "*"
};

// One request as RBAC sees it.
struct AccessRequest
{
    QString verb; // "get"
    QString group; // "" for the core group
    QString resource; // plural
    QString subresource; // empty, "status", "scale"
    QString name; // empty for list and create
};

// From the metadata's list. InvalidArgument names the entry and what is wrong. [thread-safe]
Status policyRulesFromJson(const QJsonArray &json, std::vector<PolicyRule> *rules);

class Rbac
{
public:
    // Allows nothing.
    Rbac() = default;
    explicit Rbac(std::vector<PolicyRule> rules);

    // True when a rule covers the request. O(rules). [thread-safe]
    bool allows(const AccessRequest &request) const;
    // Ok, or MissingRbac with the rule that would allow it. `operation` opens the sentence.
    // [thread-safe]
    Status check(const QString &operation, const AccessRequest &request) const;

private:
    std::vector<PolicyRule> m_rules;
};

} // namespace davit::client
