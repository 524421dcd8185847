#include "slowserver.h"

#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>
#include <memory>

namespace {

QByteArray configMap(int number, bool isTyped)
{
    return (isTyped ? QByteArray(R"({"apiVersion":"v1","kind":"ConfigMap",)") : QByteArray("{"))
        + R"("metadata":{"name":"c)" + QByteArray::number(number) + R"(","namespace":"a","uid":"u)"
        + QByteArray::number(number) + R"(","resourceVersion":")" + QByteArray::number(number + 1)
        + R"(","labels":{"example.davit.dev/counted":"true"},"annotations":{"example.davit.dev/entries":"1"}},)"
        + R"("data":{"text":")" + QByteArray(200, 'x') + "\"}}";
}

void writeChunk(QTcpSocket &socket, const QByteArray &text)
{
    socket.write(QByteArray::number(text.size(), 16) + "\r\n" + text + "\r\n");
}

void writeWhole(QTcpSocket &socket, const QByteArray &body)
{
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        + QByteArray::number(body.size()) + "\r\n\r\n" + body);
}

} // namespace

SlowServer::SlowServer(int objects, const QByteArray &discovery)
    : m_objects(objects), m_discovery(discovery)
{
    start();
    while (port() == 0)
        QThread::yieldCurrentThread();
}

SlowServer::~SlowServer()
{
    quit();
    wait();
}

QByteArray SlowServer::configMapsOnly()
{
    return R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[)"
           R"({"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap",)"
           R"("verbs":["get","list","watch","patch"]}]})";
}

void SlowServer::run()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    connect(&server, &QTcpServer::newConnection, &server, [this, &server] {
        QTcpSocket *socket = server.nextPendingConnection();
        connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QTcpSocket::readyRead, socket, [this, socket] {
            const QByteArray request = socket->readAll();
            if (request.startsWith("GET "))
                serve(*socket, request.split(' ').value(1));
        });
    });
    m_port.storeRelease(server.serverPort());
    exec();
}

void SlowServer::serve(QTcpSocket &socket, const QByteArray &target)
{
    if (target == "/api/v1")
        return writeWhole(socket, m_discovery);
    if (!target.startsWith("/api/v1/configmaps"))
        return void(socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"));
    socket.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    const bool isWatch = target.contains("watch=true") || target.contains("watch=1");
    const bool hasInitialEvents = target.contains("sendInitialEvents=true");
    if (isWatch && !hasInitialEvents)
        return; // nothing ever happens
    if (!isWatch)
        writeChunk(socket,
            R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9000"},"items":[)");
    auto *timer = new QTimer(&socket);
    const auto next = std::make_shared<int>(0);
    QObject::connect(timer, &QTimer::timeout, &socket, [this, &socket, timer, next, isWatch] {
        if (*next < m_objects) {
            const QByteArray object = configMap(*next, isWatch);
            writeChunk(socket,
                isWatch ? R"({"type":"ADDED","object":)" + object + "}\n"
                        : (*next > 0 ? "," : "") + object);
            ++*next;
            return;
        }
        timer->stop();
        if (isWatch)
            writeChunk(socket,
                R"({"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{)"
                R"("resourceVersion":"9000","annotations":{"k8s.io/initial-events-end":"true"}}}})"
                "\n");
        else
            socket.write("2\r\n]}\r\n0\r\n\r\n");
    });
    timer->start(10);
}
