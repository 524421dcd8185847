// A server that plays prepared answers byte for byte: broken frames, half bodies, wrong lengths,
// silence - what a well-behaved server never does. For the rest there is EmbeddedApiServer.
// Contract:
//   - Each request takes the first unplayed step whose `expects` its first line contains.
//   - A request that no step expects gets a 404 and is counted by unexpectedRequests().
//   - Steps of different connections play side by side.
// Test: tst_watchscript.
#pragma once

#include <davit/status.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <QtCore/qstring.h>
#include <chrono>
#include <memory>

namespace davit::testing {

struct WatchStep
{
    // What follows the reply.
    enum class Then : quint8 {
        Unset, // the connection is kept for the next request
        Close, // FIN
        Reset, // RST
        Hold // open and silent until the script stops
    };

    QByteArray
        expects; // part of the request's first line ("GET /api/v1/pods?"); empty: any request
    QList<QByteArray> pieces; // sent as they are, one write each
    std::chrono::milliseconds pause{0}; // before each piece but the first, and before `then`
    Then then = Then::Unset;
};

class WatchScript
{
public:
    WatchScript();
    // Stops.
    ~WatchScript();
    Q_DISABLE_COPY_MOVE(WatchScript)

    // Listens on a free port of 127.0.0.1. start, stop, port and url belong to the thread of the
    // owner.
    Status start();
    // Ends every connection; steps and requests stay.
    void stop();
    quint16 port() const;
    QString url() const;

    // Appends a step; also while it runs. [thread-safe]
    void add(const WatchStep &step);
    // Steps that no request has taken. [thread-safe]
    int unplayedSteps() const;
    int unexpectedRequests() const;
    // First lines of all requests, in the order in which they came. [thread-safe]
    QList<QByteArray> requests() const;

    // A whole answer with its length: "HTTP/1.1 200 OK\r\nContent-Type: …". [thread-safe]
    static QByteArray answer(
        int httpStatus, const QByteArray &body, const QByteArray &contentType = "application/json");
    // The head of a chunked answer, one chunk, and the last chunk. [thread-safe]
    static QByteArray streamHead(int httpStatus = 200);
    static QByteArray chunk(const QByteArray &bytes);
    static QByteArray lastChunk();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace davit::testing
