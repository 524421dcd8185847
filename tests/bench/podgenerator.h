// Pods as a cluster of today holds them, for tests of memory and speed: about 11.5 KB of JSON each,
// half of it managedFields. Six to fourteen Pods share a ReplicaSet and so their template; names,
// node, addresses, times, container ids and uids differ by Pod. The same seed gives the same bytes.
#pragma once

#include <QtCore/qbytearray.h>
#include <functional>
#include <random>

namespace bench {

class PodGenerator
{
public:
    explicit PodGenerator(unsigned seed = 1);
    // One Pod's JSON.
    QByteArray next();
    // The Pod that next() gave last, with a new resourceVersion and a moved condition: what a
    // kubelet's status update changes.
    QByteArray update();
    // Hands a PodList of `count` Pods over in pieces of about `pieceBytes`.
    void list(int count, qsizetype pieceBytes, const std::function<void(const QByteArray &)> &feed);

private:
    void newReplicaSet();
    unsigned below(unsigned limit) { return m_engine() % limit; }
    QByteArray hex(int digits);
    QByteArray uid();
    QByteArray suffix();
    QByteArray time(unsigned seconds) const;

    std::mt19937 m_engine;
    QByteArray m_template; // with what all Pods of the ReplicaSet share filled in
    QByteArray m_last;
    QByteArray m_lastReadyTime;
    QByteArray m_lastVersion;
    int m_left = 0; // Pods still to come of this ReplicaSet
    int m_replicaSets = 0;
    int m_pods = 0;
};

} // namespace bench
