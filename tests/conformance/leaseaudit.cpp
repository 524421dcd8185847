#include "leaseaudit.h"

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

using namespace Qt::StringLiterals;

// "2026-01-02T03:04:05.123456Z", all that the server and Davit write.
static qint64 micros(const QJsonValue &time)
{
    const QString text = time.toString();
    const QDateTime seconds = QDateTime::fromString(text.left(19) + u'Z', Qt::ISODate);
    return seconds.toSecsSinceEpoch() * 1000000 + text.mid(20, 6).toLongLong();
}

static QString podOf(const QString &identity)
{
    return identity.section(u'_', 0, 0);
}

bool LeaseAudit::read(const QByteArray &log)
{
    for (const QByteArray &line : log.split('\n')) {
        if (line.isEmpty())
            continue;
        const QJsonObject event = QJsonDocument::fromJson(line).object();
        if (event.isEmpty())
            return false;
        if (event["stage"_L1] != "ResponseComplete"_L1 && event["stage"_L1] != "Panic"_L1)
            continue;
        const QString resource = event["objectRef"_L1]["resource"_L1].toString();
        const int code = event["responseStatus"_L1]["code"_L1].toInt();
        const bool isGood = code >= 200 && code < 300;
        const QJsonValue body = event["requestObject"_L1];
        const qint64 received = micros(event["requestReceivedTimestamp"_L1]);
        if (resource == "leases"_L1 && isGood) {
            const QJsonValue spec = body["spec"_L1];
            add(Renewal{podOf(spec["holderIdentity"_L1].toString()), micros(spec["renewTime"_L1]),
                spec["leaseDurationSeconds"_L1].toInteger() * 1000000, received});
        } else if (resource == "configmaps"_L1 && event["verb"_L1] == "patch"_L1) {
            const QJsonValue data = body["data"_L1];
            add(Write{data["by"_L1].toString(), data["reconcileBegan"_L1].toString().toLongLong(),
                data["writeBegan"_L1].toString().toLongLong(), received, isGood});
        }
    }
    std::stable_sort(m_renewals.begin(), m_renewals.end(),
        [](const Renewal &a, const Renewal &b) { return a.receivedAt < b.receivedAt; });
    return true;
}

const LeaseAudit::Renewal *LeaseAudit::renewalBefore(const QString &pod, qint64 moment) const
{
    const Renewal *last = nullptr;
    for (const Renewal &renewal : m_renewals)
        if (renewal.pod == pod && renewal.renewedAt <= moment
            && (!last || renewal.renewedAt > last->renewedAt))
            last = &renewal;
    return last;
}

LeaseAudit::Verdict LeaseAudit::verdict(const QString &pod) const
{
    Verdict verdict;
    for (const Renewal &renewal : m_renewals) {
        if (renewal.pod != pod)
            continue;
        if (verdict.firstRenewal == 0)
            verdict.firstRenewal = renewal.renewedAt;
        verdict.lastRenewal = std::max(verdict.lastRenewal, renewal.renewedAt);
    }
    for (const Write &write : m_writes) {
        if (write.pod != pod)
            continue;
        verdict.writes += write.isAnswered ? 1 : 0;
        const Renewal *const renewal = renewalBefore(pod, write.writeBegan);
        if (!renewal) {
            ++verdict.begunWithoutLease;
            continue;
        }
        const qint64 expiry = renewal->renewedAt + renewal->durationMicros;
        if (write.writeBegan > expiry)
            ++verdict.begunTooLate;
        else if (write.receivedAt > expiry)
            ++verdict.arrivedLate;
        if (write.writeBegan > renewal->renewedAt + m_renewDeadlineMicros)
            ++verdict.beyondDeadline;
    }
    return verdict;
}

const LeaseAudit::Renewal *LeaseAudit::nextHolder(const QString &pod) const
{
    bool isPast = false;
    for (const Renewal &renewal : m_renewals) {
        if (renewal.pod == pod)
            isPast = true;
        else if (isPast && !renewal.pod.isEmpty())
            return &renewal;
    }
    return nullptr;
}

qint64 LeaseAudit::firstReconcile(const QString &pod) const
{
    qint64 first = 0;
    for (const Write &write : m_writes)
        if (write.pod == pod && (first == 0 || write.reconcileBegan < first))
            first = write.reconcileBegan;
    return first;
}
