// A server that knows one answer.
#pragma once

#include <QTcpServer>
#include <QTcpSocket>
#include <QThread>

// Answers every request on a connection with the same bytes, on a thread of its own.
class FixedServer final : public QThread
{
public:
    explicit FixedServer(const QByteArray &answer) : m_answer(answer)
    {
        start();
        while (!m_isReady.loadAcquire())
            QThread::yieldCurrentThread();
    }
    ~FixedServer() override
    {
        requestInterruption();
        wait();
    }
    quint16 port() const { return m_port; }

private:
    void run() override
    {
        QTcpServer server;
        server.listen(QHostAddress::LocalHost);
        m_port = server.serverPort();
        m_isReady.storeRelease(1);
        while (!isInterruptionRequested()) {
            if (!server.waitForNewConnection(20))
                continue;
            QTcpSocket *socket = server.nextPendingConnection();
            socket->waitForReadyRead(2000);
            socket->write(m_answer);
            socket->waitForBytesWritten(2000);
            socket->disconnectFromHost();
            delete socket;
        }
    }

    const QByteArray m_answer;
    quint16 m_port = 0;
    QAtomicInt m_isReady;
};

inline QByteArray answer(const char *status, const QByteArray &body = "{}")
{
    return "HTTP/1.1 " + QByteArray(status)
        + "\r\nContent-Type: application/json\r\nContent-Length: " + QByteArray::number(body.size())
        + "\r\nConnection: close\r\n\r\n" + body;
}
