// What the rows of the client contract share: the clients of two plugins, and short ways to make
// objects.
#pragma once

#include "../../unit/loglines.h"
#include "clientcontract.h"

#include <davit/objectbuilder.h>

#include <cache/ownwrites.h>
#include <client/pluginevents.h>
#include <client/restmapper.h>
#include <support/strand.h>
#include <transport/kubeconfig.h>
#include <transport/qnamtransport.h>
#include <transport/retryingtransport.h>
#include <transport/serverwarnings.h>

// Fails the row with the error's sentence; `result` is a Result or, with _STATUS, a Status.
#define DAVIT_VERIFY_STATUS(outcome)                                                               \
    do {                                                                                           \
        const davit::Status verified = (outcome);                                                  \
        QVERIFY2(verified.isOk(), qPrintable(verified.error().message()));                         \
    } while (false)
#define DAVIT_VERIFY_OK(result) DAVIT_VERIFY_STATUS((result).status())

inline const davit::Gvk kConfigMap{QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")};
inline const davit::Gvk kDeployment{
    QStringLiteral("apps"), QStringLiteral("v1"), QStringLiteral("Deployment")};

inline davit::ObjectKey key(const QByteArray &name)
{
    return {QStringLiteral("default"), QString::fromLatin1(name)};
}

inline davit::Object configMap(const QByteArray &name, const QByteArray &value = "1")
{
    return davit::ObjectBuilder(kConfigMap, key(name))
        .set({QStringLiteral("data"), QStringLiteral("a")}, QString::fromLatin1(value))
        .build();
}

inline QString dataOf(const davit::Object &object, const char *name)
{
    return object[QLatin1StringView("data")][QLatin1StringView(name)].toString();
}

inline davit::Object parsed(const QByteArray &json)
{
    davit::Object object;
    const davit::Status status = davit::Object::fromJson(json, &object);
    return status.isOk() ? object : davit::Object();
}

inline davit::Object deployment(const QByteArray &name)
{
    return parsed(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name
        + R"(","namespace":"default"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},
        "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
}

inline qint64 replicasIn(const davit::Object &object, const char *part)
{
    return object[QLatin1StringView(part)][QLatin1StringView("replicas")].toInt();
}

struct ClientFixture
{
    explicit ClientFixture(const davit::transport::ClusterConfig &config)
        : cluster(config)
        , connections(
              davit::transport::makeQnamTransport(config), davit::support::systemTimeSource())
    {
        using namespace davit::client;
        const QString any = QStringLiteral("*");
        const std::vector<PolicyRule> all{{{any}, {any}, {}, {any}}, {{}, {}, {}, {any}, {any}}};
        const std::vector<PolicyRule> few{
            {{QString()}, {QStringLiteral("configmaps")}, {}, {QStringLiteral("get")}}};
        const auto identity = [](const char *id, const std::vector<PolicyRule> &rules) {
            return ClientIdentity{
                QString::fromLatin1(id), QStringLiteral("1.0.0"), Rbac(rules), nullptr};
        };
        ClientIdentity telling = identity("contract", all);
        telling.onWritten = [own = own](const davit::priv::OwnWrite &write) { own->note(write); };
        contract = davit::Client(*new PluginClient(std::move(telling), rest, mapper));
        limited = davit::Client(*new PluginClient(identity("limited", few), rest, mapper));
        recorder = davit::EventRecorder(*new PluginEvents(
            identity("contract", all), rest, davit::support::systemTimeSource(), davit::Logger()));
    }
    ~ClientFixture()
    {
        rest.close();
        strand.stop();
    }

    const davit::transport::ClusterConfig cluster;
    // What `contract` wrote.
    const std::shared_ptr<davit::cache::OwnWrites> own
        = std::make_shared<davit::cache::OwnWrites>();
    QThreadPool pool;
    davit::support::Strand strand{pool};
    davit::transport::RetryingTransport connections;
    davit::fake::Lines lines; // what the server warned of
    davit::client::RestClient rest{connections, strand, davit::support::systemTimeSource(),
        std::make_shared<davit::transport::ServerWarnings>(
            davit::Logger(lines, QStringLiteral("client")))};
    davit::client::RestMapper mapper{rest, davit::support::systemTimeSource()};
    davit::Client contract;
    davit::Client limited;
    davit::EventRecorder recorder;
};
