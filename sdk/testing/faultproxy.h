// A TCP proxy that breaks connections on purpose: stands in front of the embedded or a real API
// server. It knows nothing of HTTP or TLS. Contract:
//   - What is not told otherwise passes through unchanged and at once.
//   - A rule for a byte counts what the server sent on one connection; a rule for a moment takes
//     hold of every connection that is open, and with setMode() of every later one.
// Test: tst_faultproxy.
#pragma once

#include <davit/status.h>

#include <QtCore/qstring.h>
#include <chrono>
#include <memory>

namespace davit::testing {

class FaultProxy
{
public:
    // How a connection is broken.
    enum class Break : quint8 {
        Unset,
        Cut, // FIN to both sides: the stream ends
        Reset, // RST to the client
        Stall // neither side is read or written any more; the sockets stay open
    };
    // What happens to bytes, on open and new connections.
    enum class Mode : quint8 {
        Pass,
        HoldFromServer, // what the server sends waits; the other way passes
        Stall, // nothing passes in either direction
        Refuse // new connections are reset at once; open ones pass
    };

    // The target is an IPv4 address ("127.0.0.1").
    FaultProxy(const QString &targetHost, quint16 targetPort);
    // Stops: connections are cut.
    ~FaultProxy();
    Q_DISABLE_COPY_MOVE(FaultProxy)

    // Listens on a free port of 127.0.0.1, the same one after a stop. These three belong to the
    // thread of the owner.
    Status start();
    void stop();
    quint16 port() const;

    // [thread-safe]
    void setMode(Mode mode);
    // Each piece from the server is passed on this much later. [thread-safe]
    void setDelay(std::chrono::milliseconds delay);
    // Breaks what is open now. [thread-safe]
    void breakConnections(Break how);
    // Breaks the next `connections` that get so far, right after this many bytes from the server
    // were passed on: byte `bytes` + 1 is never seen. [thread-safe]
    void breakAfter(qint64 bytes, Break how, int connections = 1);

    // [thread-safe]
    int openConnections() const;
    int acceptedConnections() const;
    qint64 bytesFromServer() const;
    qint64 bytesFromClient() const;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace davit::testing
