// One exchange on a QNetworkReply: request template, deadlines, hand-over with backpressure, and
// what Qt's outcome means. Rules: README.md here. All of it is [io-thread].
// Test: tst_qnamtransport, tst_slowreader, tst_writeonce, tst_tls.
#pragma once

#include "connectionpool.h"
#include "credential.h"
#include "handover.h"
#include "jsonend.h"
#include "proxybridge.h"
#include "qnamtransport.h"

#include <observability/knownsecrets.h>

#include <QtCore/qelapsedtimer.h>
#include <QtCore/qtimer.h>
#include <QtNetwork/qnetworkreply.h>
#include <QtNetwork/qnetworkrequest.h>
#include <QtNetwork/qsslconfiguration.h>

namespace davit::transport {

class BodyDevice;

// What all exchanges of one transport share. Lives as long as the transport's core.
struct ExchangeContext
{
    ClusterConfig config;
    QString serverName;
    QByteArray baseUrl; // without a slash at the end
    QByteArray userAgent;
    QSslConfiguration ssl;
    Error configurationFault; // set: every exchange ends with it
    support::TimeSource &time;
    std::unique_ptr<Credential> credential;
    std::unique_ptr<ConnectionPool> pool;
    PeerListener onPeer; // may be empty
    std::unique_ptr<ProxyBridge> proxyBridge{}; // to a proxy over TLS
    observability::KnownSecrets passwords{}; // of the server and of the proxy
    observability::KnownSecrets token{}; // the one that was sent last
};

class QnamExchange final : public QObject, private ConnectionPool::Waiter
{
    Q_OBJECT
public:
    QnamExchange(
        ExchangeContext &context, const Request &request, std::shared_ptr<HandOver> handOver);
    // Ends the reply without a word.
    ~QnamExchange() override;

    void begin();
    // The executor has room again.
    void resume();
    // Ends the exchange with `error`.
    void fail(const Error &error);
    // A watch that a connection serves.
    bool isOpenWatch() const
    {
        return m_manager && !m_isReplyFinished && m_request.channel == Channel::Watch;
    }

Q_SIGNALS:
    // The last thing was handed over; delete it later.
    void done();

private:
    void onManager(ConnectionPool::Manager &manager) override;
    void queueUp();
    void send();
    QNetworkRequest buildRequest(const QByteArray &token) const;
    void connectReply();
    void onHeaders();
    void limitBody();
    void tellPeer(const QString &alert = {}) const;
    void onEncrypted();
    void onReplyFinished();
    void onLimit();
    void onTotalLimit();
    void drain();
    void dropReply();
    void releaseManager();
    Error outcome() const;
    bool isWhole() const;
    Error failure(ErrorCode code, const QString &what) const;
    bool isByServer() const;
    Error proxyFailure(QNetworkReply::NetworkError error) const;
    Error refusal() const; // by the request's permit
    Error unreadableHead() const;
    bool isWrite() const { return m_request.method != "GET"; }
    bool mayHaveBeenExecuted() const;

    ExchangeContext &m_context;
    const Request m_request;
    const std::shared_ptr<HandOver> m_handOver;
    ConnectionPool::Manager *m_manager = nullptr; // null: waiting, or ended
    QNetworkReply *m_reply = nullptr;
    BodyDevice *m_body = nullptr; // a child of m_reply
    QByteArray m_token; // the one that was sent
    QString m_tlsErrors;
    QTimer m_limitTimer; // headers, then silence
    QTimer m_totalTimer; // for the whole answer
    QElapsedTimer m_sinceBytes;
    qint64 m_expectedBytes = -1; // Content-Length
    qint64 m_receivedBytes = 0;
    JsonEnd m_jsonEnd;
    int m_httpStatus = 0; // 0: no head yet
    bool m_isJsonChecked = false; // no length is known: the brackets tell
    bool m_isNewConnection = false;
    bool m_isPreparing = false; // waits for the credential
    bool m_isPaused = false;
    bool m_isReplyFinished = false;
    bool m_isRefused = false; // by a 401; another token was found, the request is repeated
    bool m_isProxyFault = false; // the answer is the bridge's
    bool m_isRenewed = false; // that was done
    bool m_isHeadless = false; // Qt knows none of its headers
    bool m_isDone = false;
};

} // namespace davit::transport
