// A small HTTP/1.1 server for GET: probes, metrics, pages. Contract:
//   - Handlers run on the server's own threads, 64 at once, and must return at once. A thread is
//   made when a connection finds none idle.
//   - An idle connection is closed after 5 s (M-23 says 90): each holds one of the 64 threads. A
//   request may take 20 s with its answer. Of more than 64 connections the oldest are closed, so
//   that slow clients, however many, keep nobody from an answer.
//   - Two servers never share a port: the second is told that it is taken.
// Test: tst_probes.
#pragma once

#include "listenaddress.h"

#include <QtCore/qbytearray.h>
#include <QtCore/qstringlist.h>
#include <functional>
#include <memory>

namespace davit::web {

struct WebRequest
{
    QString path; // decoded, without the query
    // Values of a query parameter in their order; empty when it is absent.
    std::function<QStringList(const char *name)> parameter;
    // Whether it is there, with or without a value.
    std::function<bool(const char *name)> hasParameter;
};

struct WebReply
{
    int httpStatus = 200;
    QByteArray contentType = "text/plain; charset=utf-8";
    QByteArray body;
};

class WebServer
{
public:
    using Handler = std::function<WebReply(const WebRequest &)>;

    WebServer();
    ~WebServer(); // stop()
    Q_DISABLE_COPY_MOVE(WebServer)

    // `path` itself ("/metrics"), or all below it when it ends in '/'. Before start().
    // [host-thread]
    void route(const QByteArray &path, Handler handler);
    // Binds and serves. InvalidConfiguration with a sentence that names address, fault and flag
    // when the address cannot be had. `flag` is what the user wrote it with. [host-thread]
    Status start(const ListenAddress &address, const QString &flag);
    // The port it listens on; 0 before start(). [host-thread]
    quint16 port() const noexcept;
    // Ends the listening, and waits for the handlers that run and for their answers. [host-thread]
    void stop();

private:
    class Private;
    const std::unique_ptr<Private> d;
};

} // namespace davit::web
