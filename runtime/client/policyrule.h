// What a plugin may ask of the API server: the "Rbac" of its metadata, PolicyRules as Kubernetes
// writes them, and the check that comes before each request and before a plugin is loaded.
// Source: Kubernetes "Using RBAC Authorization". Test: tst_policyrule.
#pragma once

#include <davit/status.h>

#include <QtCore/qstringlist.h>
#include <vector>

namespace davit::client {

struct PolicyRule
{
    QStringList apiGroups; // "" is the core group, "*" all
    QStringList resources; // "pods", "pods/status", "*", "*/scale"
    QStringList resourceNames; // empty: any
    QStringList verbs; // "get", "*"
    QStringList nonResourceUrls{}; // "/metrics", "/healthz/*"; for Client::getRaw()
};

// One request as RBAC sees it.
struct AccessRequest
{
    QString verb; // "get"
    QString group; // "" for the core group
    QString resource; // plural
    QString subresource; // empty, "status", "scale"
    QString name; // empty for create; of a list or watch what exactName() says
    QString path{}; // "/metrics": no resource, and then the members above but verb are empty
};

// The one name that a field selector lets through ("metadata.name=x"), else empty: a rule with that
// name covers such a list or watch. [thread-safe]
QString exactName(const QString &fieldSelector);

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
