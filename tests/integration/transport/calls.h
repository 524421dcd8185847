// How the tests of the transport call a server that they script.
#pragma once

#include "rawserver.h"
#include "recorder.h"

inline davit::transport::ClusterConfig configFor(quint16 port)
{
    davit::transport::ClusterConfig config;
    config.source = QStringLiteral("test");
    config.server = QUrl(QStringLiteral("http://127.0.0.1:%1").arg(port));
    return config;
}

inline davit::transport::Request get(
    const QByteArray &target, davit::transport::Channel channel = davit::transport::Channel::Call)
{
    davit::transport::Request request;
    request.target = target;
    request.channel = channel;
    return request;
}

// Answers each request by its target, on as many connections as come.
inline RawServer::Script answering(std::function<bool(RawConnection &, const RawRequest &)> answer)
{
    return [answer = std::move(answer)](RawConnection &connection) {
        RawRequest request;
        while (connection.read(request) && answer(connection, request)) { }
    };
}
