// A Kubernetes API server in memory, on a loopback port: for tests of plugins, for examples, and
// for `davit run --embedded`. Contract:
//   - It speaks what informers, clients and kubectl need of the protocol of 1.37; README.md beside
//     this file says what it does not do. One suite (tst_contract) asks the same of it and of a
//     real kube-apiserver.
//   - What follows from a write (garbage collection, a namespace's end, a CRD that is served) is
//     done when the write is answered.
//   - Plain HTTP, no authentication: anyone on this machine can read what is in it.
// Tests: tst_embeddedapiserver, tst_contract.
#pragma once

#include <davit/status.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <QtCore/qstring.h>
#include <chrono>
#include <memory>

namespace davit::testing {

struct EmbeddedApiServerOptions
{
    quint16 port = 0; // 0: a free one
    // What watches and old lists can go back, by both; older changes are Expired (410).
    int historyLimitItems = 10000;
    qint64 historyLimitBytes = 32 << 20;
    // How many requests requests() remembers, the newest ones. 0: none.
    int requestLimitItems = 100'000;
    // Between two bookmarks of a watch that asked for them; the real server takes about a minute.
    std::chrono::milliseconds bookmarkInterval{60000};
    // Owners' dependents are deleted, as by the real controller manager.
    bool collectsGarbage = true;
};

// A trouble to come: the next `times` requests that match meet it.
struct ApiServerFault
{
    QByteArray method; // empty: any
    QByteArray pathContains; // of the path without query; empty: any
    QByteArray queryContains; // of the query as it was sent, decoded ("watch=true"); empty: any
    int times = 1; // negative: until clearFaults()
    int httpStatus = 0; // answered instead of executing; 0: executed
    int retryAfterSeconds = 0; // with httpStatus
    std::chrono::milliseconds delay{0}; // before anything else
    bool isUnanswered = false; // executed, then the connection is reset
};

struct ApiServerRequest
{
    QByteArray method;
    QByteArray path; // decoded, without query
    QByteArray query; // decoded, "a=b&c=d" in the order of names
    QByteArray userAgent;
    QByteArray body;
    int httpStatus = 0; // of the answer; 0 when there was none
};

class EmbeddedApiServer
{
public:
    explicit EmbeddedApiServer(const EmbeddedApiServerOptions &options = {});
    // Stops.
    ~EmbeddedApiServer();
    Q_DISABLE_COPY_MOVE(EmbeddedApiServer)

    // Listens; the namespaces of a new cluster are there. InvalidConfiguration when the port is
    // taken. [thread-safe]
    Status start();
    // Ends watches and connections; objects stay, and start() goes on with them. [thread-safe]
    void stop();
    // 0 before start(). [thread-safe]
    quint16 port() const;
    // "http://127.0.0.1:PORT". [thread-safe]
    QString url() const;
    // A kubeconfig for it, as YAML; and as a file. [thread-safe]
    QByteArray kubeconfig() const;
    Status writeKubeconfig(const QString &path) const;

    // Creates or replaces an object (one JSON text with apiVersion and kind), as kubectl apply
    // would; its status is stored too. InvalidArgument or the server's refusal. [thread-safe]
    Status put(const QByteArray &objectJson);
    // Every object of the .yaml, .yml and .json files of a folder, in the order of names; CRDs and
    // namespaces first. Names the file that cannot be loaded. `count`: how many. [thread-safe]
    Status loadObjects(const QString &folder, qsizetype *count = nullptr);
    // A request without a socket, e.g. request("GET", "/api/v1/pods?limit=1"). Watches are refused.
    // Not logged, and faults do not apply. [thread-safe]
    struct Answer
    {
        int httpStatus = 0;
        QByteArray body;
    };
    Answer request(const QByteArray &method, const QByteArray &target, const QByteArray &body = {},
        const QByteArray &contentType = "application/json");

    // What came over the socket since the start or the last clearRequests(), as far as it is
    // remembered; writes in the order in which they were done. [thread-safe]
    QList<ApiServerRequest> requests() const;
    // How many of them had this method and a path that ends like this. [thread-safe]
    int countRequests(const QByteArray &method, const QByteArray &pathSuffix) const;
    void clearRequests();
    // Watches that are open. [thread-safe]
    int openWatches() const;
    // The version of the last change. [thread-safe]
    quint64 lastVersion() const;
    // What the history takes of memory. [thread-safe]
    qint64 historyBytes() const;

    // [thread-safe]
    void addFault(const ApiServerFault &fault);
    void clearFaults();
    // Forgets the history: watches and lists at any older version are Expired. [thread-safe]
    void expireHistory();
    // As an etcd that is restored from a backup: the objects of backup(), with the uids and
    // versions of then, and no history. Between stop() and start(); without a backup() it does
    // nothing. Definitions made in between stay served. [thread-safe]
    void backup();
    void restore();
    // How endWatches() ends them.
    enum class WatchEnd : quint8 {
        Clean, // as after timeoutSeconds
        Expired // with an ERROR event, code 410
    };
    void endWatches(WatchEnd end = WatchEnd::Clean);
    // One bookmark now to every open watch that asked for bookmarks. [thread-safe]
    void sendBookmarks();
    // Resets every connection, watches included. [thread-safe]
    void dropConnections();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace davit::testing
