// A plain HTTP/1.1 front of an API server that answers some requests as no good server would. It
// passes the rest on unchanged, each on a connection of its own, over TLS when the server wants it.
// For GET alone. Lives in a thread of its own. Used by tst_faultsembedded, tst_faultsreal.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <QtCore/qobject.h>
#include <QtCore/qthread.h>
#include <QtNetwork/qsslconfiguration.h>
#include <atomic>
#include <mutex>
#include <optional>

// What becomes of one request.
struct BadAnswer
{
    enum class Request : quint8 { Any, List, Watch };
    enum class End : quint8 {
        Close, // FIN
        Reset, // RST
        Silence // nothing more comes; the client has to give up
    };
    Request request = Request::Any;
    qint64 passedBytes = 0; // of the server's answer, before the rest
    QByteArray bytes; // sent behind them, as they are
    End end = End::Close;
};

class FaultGateway : public QObject
{
    Q_OBJECT
public:
    // `tls` is absent for a server without TLS. The server is on 127.0.0.1.
    FaultGateway(quint16 serverPort, std::optional<QSslConfiguration> tls);
    ~FaultGateway() override;

    // Listens on a free port of 127.0.0.1; 0 when it cannot.
    quint16 start();
    // The next request that fits meets it, and no other answer. [thread-safe]
    void arm(const BadAnswer &answer);
    // Whether one waits; disarm() forgets them. [thread-safe]
    bool isArmed() const;
    void disarm();

private:
    class Pair;
    friend class Pair;
    std::optional<BadAnswer> take(bool isWatch);

    const quint16 m_serverPort;
    const std::optional<QSslConfiguration> m_tls;
    QThread m_thread;
    QObject *m_listener = nullptr; // lives in m_thread
    mutable std::mutex m_mutex;
    QList<BadAnswer> m_armed; // GUARDED_BY(m_mutex)
};
