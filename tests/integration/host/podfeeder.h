// An API server that replaces Pods: each second so many of the oldest are deleted and as many new
// ones added. It writes 2,000 events a second of 11.7 KB with little of a core, which the embedded
// server cannot: that takes some 2 ms for each replacement. It serves Pods, by watch or list, and
// no ConfigMaps, to whoever asks for some. On a thread and a loopback port of its own.
#pragma once

#include "../../bench/podgenerator.h"

#include <QAtomicInteger>
#include <QElapsedTimer>
#include <QSet>
#include <QThread>
#include <deque>
#include <vector>

class QTcpSocket;

class PodFeeder final : public QThread
{
public:
    PodFeeder(int pods, int replacedEachSecond);
    ~PodFeeder() override;
    quint16 port() const { return quint16(m_port.loadAcquire()); }

    // Replaces that many, at its pace. [thread-safe]
    void replace(qint64 pods) { m_wanted.storeRelease(pods); }
    qint64 replaced() const { return m_replaced.loadAcquire(); } // [thread-safe]
    qint64 lastVersion() const { return m_version.loadAcquire(); } // [thread-safe]
    // Watches of Pods that fell behind what is remembered, and were told so. [thread-safe]
    int expiredWatches() const { return m_expired.loadAcquire(); }

private:
    struct Watch
    {
        QTcpSocket *socket;
        qint64 seen; // the version up to which it was written
        qint64 endsAtMs;
        bool isOfPods;
    };

    void run() override;
    void accept(QTcpSocket *socket);
    void serve(QTcpSocket &socket, const QByteArray &target);
    void list(QTcpSocket &socket, const QByteArray &target) const;
    void watch(QTcpSocket &socket, const QByteArray &target);
    void onTick();
    void feed(Watch &watch);
    void add();
    void removeOldest();
    void remember(const char *type, const QByteArray &pod);

    const int m_pods;
    const int m_replacedEachSecond;
    QAtomicInteger<qint64> m_port;
    QAtomicInteger<qint64> m_wanted;
    QAtomicInteger<qint64> m_replaced;
    QAtomicInteger<qint64> m_version;
    QAtomicInteger<int> m_expired;
    // Confined to its thread, as what follows.
    bench::PodGenerator m_generator{31};
    std::deque<QByteArray> m_present; // the oldest first
    QSet<QByteArray> m_names;
    std::deque<QByteArray> m_events; // lines of a watch; the last one has m_version
    std::vector<Watch> m_watches;
    QElapsedTimer m_clock;
    qint64 m_begunMs = -1; // to replace
    qint64 m_nextBookmarkMs = 0;
};
