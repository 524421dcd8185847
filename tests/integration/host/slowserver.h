// An API server that serves ConfigMaps only, slowly: an object every 10 ms, in whichever way it is
// asked (a list, or a watch with initial events). On a thread and a loopback port of its own.
#pragma once

#include <QAtomicInt>
#include <QThread>

class QTcpSocket;

class SlowServer final : public QThread
{
public:
    // How many objects it has; the server says how many remain when it is asked page by page.
    // `discovery` is what it answers for the core group.
    explicit SlowServer(int objects, const QByteArray &discovery = configMapsOnly());
    ~SlowServer() override;
    quint16 port() const { return quint16(m_port.loadAcquire()); }

private:
    static QByteArray configMapsOnly();
    void run() override;
    void serve(QTcpSocket &socket, const QByteArray &target);

    const int m_objects;
    const QByteArray m_discovery;
    QAtomicInt m_port;
};
