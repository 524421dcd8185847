// What the rows of the contract suite share: a server, a namespace of their own, short calls.
#pragma once

#include "apiclient.h"

#include <testing/embeddedapiserver.h>

// A server under test. The embedded one lives here; a real one is only named.
class ContractServer
{
public:
    explicit ContractServer(const QString &name); // "embedded" or "real"

    bool isEmbedded() const { return m_embedded != nullptr; }
    const ApiAddress &address() const { return m_address; }
    // Makes version 1 too old to list or watch at.
    void forgetHistory();

    ApiAnswer get(const QByteArray &target, const QByteArray &accept = "application/json") const;
    ApiAnswer post(const QByteArray &target, const QByteArray &body) const;
    ApiAnswer put(const QByteArray &target, const QByteArray &body) const;
    ApiAnswer patch(const QByteArray &target, const QByteArray &type, const QByteArray &body) const;
    ApiAnswer remove(const QByteArray &target, const QByteArray &options = {}) const;
    // Asks until the answer has that code; false after half a minute.
    bool waitForCode(const QByteArray &target, int code) const;
    // A new namespace, and the path of a collection in it: "/api/v1/namespaces/x/configmaps".
    QByteArray newNamespace(const QByteArray &prefix) const;
    // The Widget kind (demo.example/v1: status, scale, any fields) is served.
    bool serveWidgets() const;

private:
    std::unique_ptr<davit::testing::EmbeddedApiServer> m_embedded;
    ApiAddress m_address;
};

// Members by a dotted path; lists by index: text(object, "metadata.finalizers.0").
QJsonValue at(const QJsonObject &object, const char *dotted);
QString text(const ApiAnswer &answer, const char *dotted);
QByteArray configMap(const QByteArray &name, const QByteArray &rest = R"("data":{"k":"1"})");
QByteArray asJson(const QJsonObject &object);
QByteArray spaced(
    const QByteArray &space, const QByteArray &plural); // core collection in a namespace
QByteArray percent(const QByteArray &text); // percent-encoded
QByteArray widget(const QByteArray &name, const QByteArray &rest);
QByteArray deployment(const QByteArray &name);
QString version(const ApiAnswer &answer); // metadata.resourceVersion
QStringList names(const ApiAnswer &list);

// Media types, without "application/".
inline const QByteArray kMerge = "merge-patch+json";
inline const QByteArray kJsonPatch = "json-patch+json";
inline const QByteArray kStrategic = "strategic-merge-patch+json";
inline const QByteArray kApply = "apply-patch+yaml";
inline const QByteArray kWidgets = "/apis/contract.davit.dev/v1/namespaces/";
