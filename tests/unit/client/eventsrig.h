// A plugin's event recorder on a scripted server, time by hand.
#pragma once

#include "../loglines.h"
#include "client/pluginevents.h"
#include "scriptedtransport.h"
#include "testing/manualclock.h"

#include <davit/eventrecorder.h>

#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

namespace eventsrig {

using namespace davit;
using namespace davit::client;

inline Object parsed(const QByteArray &json)
{
    Object object;
    const Status status = Object::fromJson(json, &object);
    return status.isOk() ? object : Object();
}

inline Object secret()
{
    return parsed(R"({"apiVersion":"v1","kind":"Secret","metadata":)"
                  R"({"name":"key","namespace":"team-a","uid":"u1","resourceVersion":"7"}})");
}

class Losses final : public CallObserver
{
public:
    void called(const QString &, const QString &, int) override { }
    void eventsDropped(const QString &pluginId, quint64 events) override
    {
        seen << QStringLiteral("%1 %2").arg(pluginId).arg(events);
    }
    QStringList seen;
};

// The right to write the Events of one group.
inline std::vector<PolicyRule> eventRules(const QString &group)
{
    return {{{group}, {QStringLiteral("events")}, {},
        {QStringLiteral("create"), QStringLiteral("patch")}}};
}

struct Fixture
{
    fake::Lines lines;
    Losses losses;
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    ScriptedTransport server;
    RestClient rest{server, executor, clock};
    std::shared_ptr<support::Permit> permit
        = std::make_shared<support::Permit>(clock, QStringLiteral("another process leads"));
    PluginEvents *backend;
    EventRecorder recorder;

    explicit Fixture(std::vector<PolicyRule> rules = eventRules(QString()))
    {
        permit->extend(std::chrono::hours(10000));
        backend = new PluginEvents({QStringLiteral("replicator"), QStringLiteral("1.0.0"),
                                       Rbac(std::move(rules)), &losses, {}, permit},
            rest, clock, Logger(lines, QStringLiteral("events")));
        recorder = EventRecorder(*backend);
    }
    ~Fixture()
    {
        rest.close();
        executor.runAll();
    }
    void record(const QString &note)
    {
        recorder.record(secret(), EventSeverity::Warning, QStringLiteral("TargetNotOurs"), note);
        executor.runAll();
    }
    // Answers the newest request.
    void answer(int status, const QByteArray &body = "{}")
    {
        server.answer(server.exchanges.size() - 1, status, body);
        executor.runAll();
    }
    const transport::Request &last() const { return server.exchanges.back()->request; }
    QJsonObject lastBody() const { return QJsonDocument::fromJson(last().body).object(); }
};

} // namespace eventsrig
