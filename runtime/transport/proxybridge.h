// The way to an http proxy. Qt cannot speak TLS to one, and asks one that offers NTLM thousands of
// times a second; so what comes to a port of ours on loopback is carried to the proxy, inside TLS
// where that is wanted, and Qt takes that port for the proxy. Contract:
//   - Bytes are carried as they are, but for a refusal (407): of its offers Qt sees Basic and
//   Digest alone, a proxy that offers neither is a fault; and Qt answers it on a new connection.
//   - The proxy's certificate is for its host and signed by the cluster's CA or one of the system;
//   of an insecure cluster neither is looked at. It sees no client certificate.
//   - The bridge knows no credentials: those of the proxy are in the requests that it carries, so
//   that nobody else on this machine gets through it with them.
//   - At most kWindowBytes wait in each direction; a slow side slows the other.
//   - What cannot be carried is answered with 503 and kFaultHeader, and fault() says why until a
//   connection succeeds.
// All of it is [io-thread]. Source: BEHAVIOURS.md (C-36). Test: tst_proxies.
#pragma once

#include <davit/error.h>

#include <QtCore/qobject.h>
#include <QtCore/qurl.h>
#include <QtNetwork/qnetworkproxy.h>
#include <QtNetwork/qsslconfiguration.h>
#include <QtNetwork/qtcpserver.h>

namespace davit::transport {

class ProxyBridge final : public QObject
{
    Q_OBJECT
public:
    static constexpr qint64 kWindowBytes = 256 * 1024;
    static constexpr char kFaultHeader[] = "Davit-Proxy-Fault";

    // `proxy`: https://user:password@host:port, or http. `ssl` is what the cluster's server is
    // asked with.
    ProxyBridge(const QUrl &proxy, const QSslConfiguration &ssl);
    ~ProxyBridge() override;

    // What Qt is told. On port 0, where nothing answers, when there was no port to listen on.
    QNetworkProxy proxy() const;
    // For connections from now on.
    void setConfiguration(const QSslConfiguration &ssl);
    // Why the last connection failed: TlsFailure, ConnectionRefused or Unauthorized, naming the
    // proxy; no error after a good one.
    const Error &fault() const { return m_fault; }

private:
    class Passage;
    void accept();
    void failed(ErrorCode code, const QString &why);
    void succeeded() { m_fault = Error(); }

    const QUrl m_proxy;
    QSslConfiguration m_ssl;
    QTcpServer m_listener;
    Error m_fault;
};

} // namespace davit::transport
