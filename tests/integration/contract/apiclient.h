// The contract suite's own HTTP client: over cpp-httplib (in apiclient.cpp alone), independent of
// Davit's transport.
#pragma once

#include <QByteArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QList>
#include <functional>
#include <memory>

struct ApiAnswer
{
    int code = 0; // 0: no answer
    QByteArray body;

    QJsonObject json() const { return QJsonDocument::fromJson(body).object(); }
    QString reason() const { return json()[QLatin1String("reason")].toString(); }
    QString message() const { return json()[QLatin1String("message")].toString(); }
};

// What a kubeconfig says of its one cluster and user. Files only, no inline data.
struct ApiAddress
{
    QByteArray server; // "https://127.0.0.1:6443"
    QByteArray caFile;
    QByteArray certificateFile;
    QByteArray keyFile;

    static ApiAddress fromKubeconfig(const QByteArray &yaml);
};

// One request on a connection of its own. `target` is percent-encoded. [thread-safe]
ApiAnswer apiCall(const ApiAddress &address, const QByteArray &method, const QByteArray &target,
    const QByteArray &body = {}, const QByteArray &contentType = "application/json",
    const QByteArray &accept = "application/json");

// An open watch, read by a thread of its own.
class ApiWatch
{
public:
    ApiWatch(const ApiAddress &address, const QByteArray &target,
        const QByteArray &accept = "application/json");
    ~ApiWatch();
    ApiWatch(const ApiWatch &) = delete;
    ApiWatch &operator=(const ApiWatch &) = delete;

    QList<QJsonObject> events() const;
    // Bookmarks left out.
    QStringList summary() const; // "ADDED a", "DELETED b"
    bool hasEnded() const;
    int code() const; // 0 until the answer's head is there, and when none came
    // Waits until `isEnough` holds for the events, or the time is over.
    bool waitFor(const std::function<bool(const QList<QJsonObject> &)> &isEnough,
        int milliseconds = 60000) const;
    bool waitForCount(int events, int milliseconds = 60000) const;
    bool waitForEnd(int milliseconds = 60000) const;

private:
    struct Private;
    std::unique_ptr<Private> d;
};
