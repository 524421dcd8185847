// One HTTP exchange with an API server, as the rest of the runtime sees it. Behind it stands
// QNetworkAccessManager, or a script in tests. Contract:
//   - Everything a sink hears runs on the executor named with the request, in order: onHead,
//   onBytes…, then onFinished once.
//   - Bytes come as they arrive and are bounded: while more than 1 MiB waits for the executor, the
//   socket is not read.
//   - Destroying the Exchange ends it: nothing is heard afterwards when that is done on the
//   executor.
//   - A write (POST, PUT, PATCH, DELETE) is sent at most once; a broken connection after that is
//   OutcomeUnknown.
// Source: RFC 9112; BEHAVIOURS.md. Tests: tst_qnamtransport, tst_writeonce.
#pragma once

#include <davit/error.h>
#include <support/executor.h>
#include <support/permit.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qhash.h>
#include <chrono>
#include <memory>

namespace davit::transport {

// Which connections serve it: watches are sharded, lists and calls have managers of their own.
enum class Channel : quint8 { Call, List, Watch, Lease };

struct Request
{
    QByteArray method = "GET"; // GET, POST, PUT, PATCH, DELETE
    QByteArray target; // path and query, percent-encoded: "/api/v1/pods?limit=500"
    QByteArray body; // for POST, PUT, PATCH, and DELETE options
    QByteArray contentType; // of the body
    QByteArray accept = "application/json";
    QByteArray userAgent; // empty: the host's own
    Channel channel = Channel::Call;
    std::chrono::milliseconds headDeadline{15000}; // until the status line
    std::chrono::milliseconds silenceLimit{
        90000}; // between two pieces of the body; a watch is kept alive by bookmarks
    std::chrono::milliseconds bodyDeadline{0}; // from the status line to the end; 0: none
    std::chrono::milliseconds totalDeadline{0}; // with the wait for a credential; 0: none
    // Of a write: asked at the last moments before its bytes go out. Null: it may always go.
    std::shared_ptr<const support::Permit> permit;
};

struct ResponseHead
{
    int httpStatus = 0;
    QByteArray contentType;
    // Retry-After, as seconds or as a date; negative when absent.
    std::chrono::milliseconds retryAfter{-1};
    // Texts of Warning headers with code 299.
    QList<QByteArray> warnings;
};

class ResponseSink
{
public:
    virtual ~ResponseSink() = default;
    virtual void onHead(const ResponseHead &head) = 0;
    virtual void onBytes(const QByteArray &bytes) = 0;
    // The transport is going to try the request once more after `wait`: it got an answer of this
    // status or, with 0, none. For who counts, and who tells people.
    virtual void onRetry(int /*httpStatus*/, std::chrono::milliseconds /*wait*/) { }
    // `error` is unset when the body came to its end as HTTP frames it, whatever the status was. A
    // status that is no success is not an error here: the sink has head and body. On the channels
    // List and Watch Qt 6.4 may take a chunked body that was cut for a whole one: who reads it
    // checks that its JSON is complete.
    // Codes: Timeout (a deadline of a read), ConnectionRefused (nothing was sent), ConnectionLost
    // (a read), MalformedReply (a head beyond Qt's limits, a coding nobody asked for),
    // OutcomeUnknown (a write), TlsFailure, InvalidConfiguration, Canceled (also when the request's
    // permit is gone; nothing was executed).
    virtual void onFinished(const Error &error) = 0;
};

class Exchange
{
public:
    virtual ~Exchange() = default;
};

class Transport
{
public:
    virtual ~Transport() = default;
    // `executor` and `sink` outlive the exchange. Never calls the sink from inside. [thread-safe]
    virtual std::unique_ptr<Exchange> start(
        const Request &request, support::Executor &executor, ResponseSink &sink)
        = 0;
    // "https://host:port", for messages and metric labels. [thread-safe]
    virtual QString serverName() const = 0;
};

} // namespace davit::transport
