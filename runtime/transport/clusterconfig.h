// Where an API server is and how to prove who we are: what kubeconfig and in-cluster loading yield,
// and what a transport is made from. Plain data. Members that hold secrets are never printed.
// Source: BEHAVIOURS.md.
#pragma once

#include <davit/result.h>

#include <QtCore/qlist.h>
#include <QtCore/qstringlist.h>
#include <QtCore/qurl.h>
#include <chrono>
#include <optional>
#include <utility>

namespace davit::transport {

// A program that prints a credential (kubeconfig `users[].user.exec`).
struct ExecConfig
{
    enum class InteractiveMode : quint8 { Unset, Never, IfAvailable, Always };

    QString apiVersion; // "client.authentication.k8s.io/v1" or ".../v1beta1"
    QString command; // absolute when the kubeconfig named it with a slash
    QStringList arguments;
    QList<std::pair<QString, QString>> environment; // added to that of the process
    InteractiveMode interactiveMode = InteractiveMode::Unset;
    bool isClusterInfoProvided = false;
    QString installHint;
    QByteArray clusterExtensionJson; // config of cluster extension
                                     // "client.authentication.k8s.io/exec", or empty
};

// One run of it that ended, in client-go's words: for who counts (C-75).
struct ExecRun
{
    int exitCode = 0; // 1 when it could not be started
    const char *callStatus = "no_error"; // or plugin_execution_error, plugin_not_found_error
    std::optional<std::chrono::nanoseconds> expires{}; // UTC, of the credential that it printed
};

// As whom the server is to treat our requests (kubeconfig `as`, `as-groups` …); its RBAC decides
// whether we may. Nothing is impersonated while `user` is empty, and the others are empty then.
struct Impersonation
{
    QString user;
    QString uid;
    QStringList groups;
    QList<std::pair<QString, QStringList>> extra; // keys as the kubeconfig wrote them
};

// Back-off of a server that refuses or breaks requests (C-13); see BackoffTransport.
struct HostBackoff
{
    std::chrono::seconds base{0}; // 1 at least
    std::chrono::seconds longest{0}; // 1 at least
};

struct ClusterConfig
{
    // For messages: "context \"dev\" of /home/a/.kube/config", "in-cluster configuration".
    QString source;
    // The entries that TLS settings came from, for messages: "kubeconfig /f: user \"alice\"". Empty
    // where `source` says it all.
    QString clusterSource;
    QString userSource;
    // Why it is this one, to follow "it was taken because ".
    QString choice;
    QString contextName;
    QString userName;
    QString namespaceName = QStringLiteral("default");
    QString podNamespace; // of the pod that this process runs in; empty: outside, or not known

    // "https://10.0.0.1:6443", maybe with a path in front of all targets; no query.
    QUrl server;
    QUrl proxyUrl; // http or socks5; empty: none. Loading has looked at HTTPS_PROXY and its kin.

    // PEM. An empty caPem with an unset caFile means the system's roots. Where a file is named, the
    // bytes were read from it and are read again when it changes.
    QByteArray caPem;
    QString caFile;
    QByteArray clientCertificatePem;
    QString clientCertificateFile;
    QByteArray clientKeyPem;
    QString clientKeyFile;
    QString tlsServerName; // for SNI and verification; empty: the host
    bool isInsecure = false; // no verification of the server's certificate

    QByteArray token; // bearer; with a tokenFile it is the fall-back
    QString tokenFile;
    QString basicUser; // empty: no basic authentication; never beside a token
    QByteArray basicPassword;
    std::optional<ExecConfig> exec; // not beside a token or basic authentication
    Impersonation impersonation;

    // The client's own limit of what it sends, set by who runs it and never by loading; without a
    // positive rate there is none. See RateLimitedTransport.
    double requestsPerSecond = 0;
    int burst = 1;

    std::optional<HostBackoff> backoff; // of the environment; unset: none

    // Sentences for the log: what was wrong but does not stand in the way.
    QStringList warnings;
};

} // namespace davit::transport
