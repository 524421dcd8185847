// The client of one plugin on a scripted server.
#pragma once

#include "client/pluginclient.h"
#include "scriptedtransport.h"
#include "testing/manualclock.h"

#include <davit/client.h>

namespace clientrig {

using namespace davit;
using namespace davit::client;

inline const Gvk kConfigMap{QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")};
inline const Gvk kWidget{
    QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};
inline const ObjectKey kX{QStringLiteral("team-a"), QStringLiteral("x")};
inline const QByteArray kJson
    = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"team-a"}})";
inline const QByteArray kCoreResources
    = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
    {"version":"v1","freshness":"Current","resources":[
    {"resource":"configmaps","scope":"Namespaced","responseKind":{"group":"","version":"v1","kind":"ConfigMap"},"verbs":["get"]},
    {"resource":"namespaces","scope":"Cluster","responseKind":{"group":"","version":"v1","kind":"Namespace"},"verbs":["get"],
     "subresources":[{"subresource":"status","verbs":["get"]}]}]}]}]})";
inline const QByteArray kNoGroups = R"({"kind":"APIGroupDiscoveryList","items":[]})";
inline const QByteArray kCoreList = R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
    {"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["get"]}]})";

class Calls final : public CallObserver
{
public:
    void called(const QString &pluginId, const QString &verb, int code) override
    {
        lines += QStringLiteral("%1 %2 %3").arg(pluginId, verb).arg(code);
    }
    void eventsDropped(const QString &pluginId, quint64 events) override
    {
        lines += QStringLiteral("%1 dropped %2").arg(pluginId).arg(events);
    }
    QStringList lines;
};

// Says what of the plugin runs.
class Entries final : public priv::FaultSink
{
public:
    void fault(const char *, const QString &, const QString &what) noexcept override
    {
        lines += QStringLiteral("fault ") + what;
    }
    void entered(const char *entry, const QString &subject) noexcept override
    {
        lines += QString::fromLatin1(entry) + u' ' + subject;
    }
    void left() noexcept override { lines += QStringLiteral("left"); }
    QStringList lines;
};

struct Fixture
{
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    ScriptedTransport server;
    RestClient rest{server, executor, clock};
    RestMapper mapper{rest, clock};
    Calls calls;
    std::shared_ptr<Entries> entries = std::make_shared<Entries>();
    PluginClient *backend = nullptr;
    Client client;

    explicit Fixture(std::vector<PolicyRule> rules
        = {{{QStringLiteral("*")}, {QStringLiteral("*")}, {}, {QStringLiteral("*")}}})
    {
        backend = new PluginClient(
            {QStringLiteral("p"), QStringLiteral("1.2.0"), Rbac(std::move(rules)), &calls, entries},
            rest, mapper);
        client = Client(*backend);
    }
    ~Fixture()
    {
        rest.close();
        executor.runAll();
    }
    // Answers the discovery of the core group, which comes first.
    void discover()
    {
        executor.runAll();
        server.answer(0, 200, kCoreResources);
        executor.runAll();
    }
};

} // namespace clientrig
