// What kube-apiserver's audit log says about one Lease and the writes of those who held it: whether
// anything was begun by a process later than its lease allowed. Independent of Davit's code. Times
// are microseconds since 1970, by the one clock of the machine that all of them run on.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>

class LeaseAudit
{
public:
    // A good write of the Lease. A holder's time counts from the moment that it wrote into it.
    struct Renewal
    {
        QString pod; // empty: the lease was given back
        qint64 renewedAt = 0;
        qint64 durationMicros = 0;
        qint64 receivedAt = 0; // by the server
    };
    // A write of a page (tests/integration/host/scribe) that the server received.
    struct Write
    {
        QString pod;
        qint64 reconcileBegan = 0;
        qint64 writeBegan = 0;
        qint64 receivedAt = 0;
        bool isAnswered = true; // with success
    };
    struct Verdict
    {
        int writes = 0; // answered with success
        int begunTooLate = 0; // the write began after the lease had run out: must not be
        int beyondDeadline = 0; // the same for the renew deadline, where the holder stops by itself
        int arrivedLate = 0; // begun in time, received after the lease had run out: on the wire
        int begunWithoutLease = 0; // by one that had never held it by then: must not be
        qint64 lastRenewal = 0;
        qint64 firstRenewal = 0;
    };

    explicit LeaseAudit(qint64 renewDeadlineMicros) : m_renewDeadlineMicros(renewDeadlineMicros) { }

    // The lines of an audit log; others than those of the Lease and of pages are passed over.
    // False for a line that is no JSON.
    bool read(const QByteArray &log);
    void add(const Renewal &renewal) { m_renewals.append(renewal); }
    void add(const Write &write) { m_writes.append(write); }

    Verdict verdict(const QString &pod) const;
    // Of the one who wrote the Lease next after this moment, by when the server received it; null
    // when there was none.
    const Renewal *nextHolder(const QString &pod) const;
    // When the first reconcile of the pod that wrote began; 0 when none did.
    qint64 firstReconcile(const QString &pod) const;
    QList<Renewal> renewals() const { return m_renewals; }

private:
    // The last renewal by the pod that was made before the moment; null when there was none.
    const Renewal *renewalBefore(const QString &pod, qint64 moment) const;

    const qint64 m_renewDeadlineMicros;
    QList<Renewal> m_renewals; // in the order of the server
    QList<Write> m_writes;
};
