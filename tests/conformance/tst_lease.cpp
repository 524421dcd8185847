// Three davit processes compete for one Lease on the real kube-apiserver; twenty times the one that
// leads is killed or stopped (SIGSTOP, later SIGCONT). What each of them wrote, and when, comes
// from the server's audit log; when they began it, from what they wrote. Prints a table. Then a few
// rounds with the guards taken out: it must see what they keep away.
#include "../integration/host/hostprocess.h"
#include "apiconnection.h"
#include "controlplane.h"
#include "leaseaudit.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QNetworkAccessManager>
#include <QTest>
#include <algorithm>
#include <csignal>

using namespace Qt::StringLiterals;

static constexpr qint64 kSecond = 1000000; // in microseconds, as all times here
static constexpr qint64 kLease = 3 * kSecond;
static constexpr qint64 kRenewDeadline = 2 * kSecond;
static constexpr qint64 kRetryPeriod = kSecond * 2 / 5;
static constexpr qint64 kRequestLimit = kSecond; // L-17 for this deadline
// What a busy machine may add to the time between winning and the first reconcile, to a quarter of
// them at most.
static constexpr qint64 kLoadAllowance = 5 * kSecond;
static constexpr int kPages = 4;
static constexpr char kTarget[] = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/davit";

class tst_Lease : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void auditKnowsBadFromGood_data();
    void auditKnowsBadFromGood();
    void rounds_data();
    void rounds();
    void cleanupTestCase() { m_contenders.clear(); }

private:
    enum class Guards { InPlace, TakenOut };
    enum class How { Killed, StoppedUntilTaken, StoppedBeyondTheDeadline };
    struct Round
    {
        How how = How::Killed;
        QString pod; // who led
        int exitCode = 0;
        qint64 haltedMicros = 0;
        // Reconciles let by it after its lease, and after the renew deadline, by its steady clock.
        int startedTooLate = 0;
        int startedBeyondDeadline = 0;
        bool wasNextWarm = false; // the next holder was ready before it won
    };
    struct Contender
    {
        QString pod;
        std::unique_ptr<HostProcess> process;
    };

    bool prepare();
    void begin(Contender *contender);
    // Plays `count` rounds and ends all contenders; false with a failed check.
    bool playRounds(int count, QList<Round> *rounds, std::vector<Contender> *ended);
    // Fills in what the logs of those who ended tell.
    void readLogs(
        QList<Round> *rounds, const std::vector<Contender> &ended, const LeaseAudit &audit);
    QString holder();
    // Another one than `than` holds the Lease; empty when that took a minute.
    QString waitForOther(const QString &than);
    Round play(int number, const QString &leading);
    void judge(const QList<Round> &rounds, const LeaseAudit &audit);
    // From winning to the first reconcile, of those who were warm; sorted.
    static QList<qint64> warmBegins(const QList<Round> &rounds, const LeaseAudit &audit);
    void print(const QList<Round> &rounds, const LeaseAudit &audit);
    static qint64 nowMicros();
    // What the steady clock lacks to the other; the same all the time unless someone sets a clock.
    static qint64 steadyOffset();

    ControlPlane m_plane;
    Guards m_guards = Guards::InPlace;
    std::unique_ptr<ApiConnection> m_api;
    QNetworkAccessManager m_manager;
    std::vector<Contender> m_contenders;
    int m_incarnations = 0;
};

qint64 tst_Lease::nowMicros()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

qint64 tst_Lease::steadyOffset()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return nowMicros() - std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// The judge before it is believed.
void tst_Lease::auditKnowsBadFromGood_data()
{
    QTest::addColumn<qint64>(
        "writeBegan"); // all in seconds / 10; the lease is 0 to 30, renewed at 10
    QTest::addColumn<qint64>("receivedAt");
    QTest::addColumn<QString>("pod");
    QTest::addColumn<QList<int>>("verdict"); // too late, beyond the deadline, on the wire, without
    using L = QList<int>;
    QTest::newRow("in time") << qint64(15) << qint64(16) << u"a"_s << L{0, 0, 0, 0};
    QTest::newRow("beyond the deadline") << qint64(31) << qint64(32) << u"a"_s << L{0, 1, 0, 0};
    QTest::newRow("on the wire when it ran out")
        << qint64(29) << qint64(90) << u"a"_s << L{0, 0, 1, 0};
    QTest::newRow("begun when it had run out")
        << qint64(41) << qint64(42) << u"a"_s << L{1, 1, 0, 0};
    QTest::newRow("before it led") << qint64(-1) << qint64(1) << u"a"_s << L{0, 0, 0, 1};
    QTest::newRow("never led") << qint64(15) << qint64(16) << u"b"_s << L{0, 0, 0, 1};
}

void tst_Lease::auditKnowsBadFromGood()
{
    QFETCH(const qint64, writeBegan);
    QFETCH(const qint64, receivedAt);
    QFETCH(const QString, pod);
    constexpr qint64 kTenth = kSecond / 10;
    constexpr qint64 kStart = 1700000000 * kSecond;
    const auto text = [](qint64 at) {
        return QDateTime::fromMSecsSinceEpoch((kStart + at * kTenth) / 1000)
                   .toUTC()
                   .toString(u"yyyy-MM-ddTHH:mm:ss.zzz"_s)
                   .toUtf8()
            + "000Z";
    };
    const auto lease = [&](qint64 at) {
        return R"({"stage":"ResponseComplete","verb":"update","objectRef":{"resource":"leases"},)"
               R"("responseStatus":{"code":200},"requestReceivedTimestamp":")"
            + text(at) + R"(","requestObject":{"spec":{"holderIdentity":"a_1","renewTime":")"
            + text(at) + R"(","leaseDurationSeconds":3}}})" + '\n';
    };
    const QByteArray write
        = R"({"stage":"ResponseComplete","verb":"patch","objectRef":{"resource":"configmaps"},)"
          R"("responseStatus":{"code":200},"requestReceivedTimestamp":")"
        + text(receivedAt) + R"(","requestObject":{"data":{"by":")" + pod.toUtf8()
        + R"(","reconcileBegan":"0","writeBegan":")"
        + QByteArray::number(kStart + writeBegan * kTenth) + R"("}}})" + '\n';
    LeaseAudit audit(kRenewDeadline);
    QVERIFY(audit.read(lease(0) + lease(10) + write));
    const LeaseAudit::Verdict seen = audit.verdict(pod);
    const QList<int> verdict{
        seen.begunTooLate, seen.beyondDeadline, seen.arrivedLate, seen.begunWithoutLease};
    QTEST(verdict, "verdict");
    QVERIFY(!audit.read("{\n"));
}

bool tst_Lease::prepare()
{
    QFile policy(m_plane.folder() + u"/policy.yaml"_s);
    if (!policy.open(QIODevice::WriteOnly))
        return false;
    policy.write("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n"
                 "- level: Request\n  namespaces: [ops]\n  verbs: [create, update, patch, delete]\n"
                 "  resources: [{group: \"\", resources: [configmaps]},\n"
                 "    {group: coordination.k8s.io, resources: [leases]}]\n- level: None\n");
    policy.close();
    if (!m_plane.start(ControlPlane::ControllerManager::No,
            {u"--audit-policy-file="_s + policy.fileName(),
                u"--audit-log-path="_s + m_plane.folder() + u"/audit.log"_s}))
        return false;
    m_api = std::make_unique<ApiConnection>(m_plane.folder(), m_plane.apiServerPort());
    QByteArray objects = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ops}\n";
    for (int i = 0; i < kPages; ++i)
        objects += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: page"
            + QByteArray::number(i)
            + ", namespace: ops, labels: {scribe: \"yes\"}}\ndata: {everyMs: \"5\"}\n";
    QByteArray output;
    return m_plane.kubectl({u"apply"_s, u"-f"_s, u"-"_s}, &output, objects) == 0;
}

void tst_Lease::begin(Contender *contender)
{
    contender->pod = u"p%1"_s.arg(m_incarnations++);
    contender->process = std::make_unique<HostProcess>();
    contender->process->setEnvironment(u"POD_NAME"_s, contender->pod);
    if (m_guards == Guards::TakenOut)
        contender->process->setEnvironment(
            u"LD_PRELOAD"_s, QStringLiteral(DAVIT_BUILD_DIR "/tests/haltblind/haltblind.so"));
    contender->process->run({u"--plugin-dir"_s, QStringLiteral(DAVIT_BUILD_DIR "/tests/scribe"),
        u"--kubeconfig"_s, m_plane.kubeconfigPath(), u"--leader-elect"_s,
        u"--leader-elect-resource-namespace=ops"_s, u"--leader-elect-lease-duration=3s"_s,
        u"--leader-elect-renew-deadline=2s"_s, u"--leader-elect-retry-period=400ms"_s,
        u"--zap-time-encoding=nano"_s});
}

QString tst_Lease::holder()
{
    int httpStatus = 0;
    const QByteArray body = m_api->get(m_manager, kTarget, &httpStatus);
    return QJsonDocument::fromJson(body)["spec"_L1]["holderIdentity"_L1].toString().section(
        u'_', 0, 0);
}

QString tst_Lease::waitForOther(const QString &than)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < 60000) {
        const QString now = holder();
        if (!now.isEmpty() && now != than)
            return now;
        QTest::qWait(20);
    }
    return {};
}

// Each round hits the leader at another moment between two of its renewals.
tst_Lease::Round tst_Lease::play(int number, const QString &leading)
{
    Round round;
    round.how = m_guards == Guards::TakenOut || number % 3 == 1 ? How::StoppedUntilTaken
        : number % 3 == 0                                       ? How::Killed
                                                                : How::StoppedBeyondTheDeadline;
    round.pod = leading;
    const auto found = std::find_if(m_contenders.begin(), m_contenders.end(),
        [&](const Contender &contender) { return contender.pod == leading; });
    if (found == m_contenders.end())
        return round;
    HostProcess &process = *found->process;
    if (!process.waitForLine("wrote"))
        return round;
    QTest::qWait(500 + number * 37);
    if (round.how == How::Killed) {
        process.signalOnce(SIGKILL);
    } else {
        const qint64 haltedAt = nowMicros();
        process.signalOnce(SIGSTOP);
        if (round.how == How::StoppedUntilTaken) {
            waitForOther(leading);
            QTest::qWait(number * 20);
        } else {
            QTest::qWait(int(kRenewDeadline / 1000) + number * 40); // before it runs out, and after
        }
        round.haltedMicros = nowMicros() - haltedAt;
        process.signalOnce(SIGCONT);
    }
    round.exitCode = process.waitForExit();
    return round;
}

void tst_Lease::rounds_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<bool>("isGuarded");
    QTest::newRow("as it is") << 20 << true;
    if (!kIsSanitized) // nothing can be loaded before a sanitizer
        QTest::newRow("the guards taken out: it is seen") << 3 << false;
}

void tst_Lease::rounds()
{
    QFETCH(const int, count);
    QFETCH(const bool, isGuarded);
    if (!m_api)
        QVERIFY2(prepare(), qPrintable(m_plane.errorText()));
    m_guards = isGuarded ? Guards::InPlace : Guards::TakenOut;
    const qint64 offset = steadyOffset();
    QList<Round> rounds;
    std::vector<Contender> ended;
    QVERIFY(playRounds(count, &rounds, &ended));
    // Else nothing can be said: the audit's times are of the clock that was set.
    QVERIFY(std::abs(steadyOffset() - offset) < kSecond / 100);

    QFile log(m_plane.folder() + u"/audit.log"_s);
    QVERIFY(log.open(QIODevice::ReadOnly));
    LeaseAudit audit(kRenewDeadline);
    QVERIFY(audit.read(log.readAll()));
    readLogs(&rounds, ended, audit);
    print(rounds, audit);
    if (isGuarded)
        return judge(rounds, audit);
    int writesTooLate = 0;
    int startedTooLate = 0;
    for (const Round &round : std::as_const(rounds)) {
        writesTooLate += audit.verdict(round.pod).begunTooLate;
        startedTooLate += round.startedTooLate;
    }
    QVERIFY(writesTooLate > 0);
    QVERIFY(startedTooLate > 0);
}

bool tst_Lease::playRounds(int count, QList<Round> *rounds, std::vector<Contender> *ended)
{
    m_contenders.clear();
    m_contenders.resize(3);
    for (Contender &contender : m_contenders)
        begin(&contender);
    QString leading = waitForOther(QString());
    for (int number = 0; number < count && !leading.isEmpty(); ++number) {
        if (std::none_of(m_contenders.begin(), m_contenders.end(),
                [&](const Contender &contender) { return contender.pod == leading; }))
            return false; // one of rounds that failed still holds it
        rounds->append(play(number, leading));
        for (Contender &contender : m_contenders) {
            if (contender.pod != leading)
                continue;
            ended->push_back(std::move(contender));
            begin(&contender);
        }
        leading = waitForOther(leading);
    }
    for (Contender &contender : m_contenders) {
        const char *const heard = contender.pod == leading ? "wrote" : "davit begins";
        if (!contender.process->waitForLine(heard) || contender.process->stop() != 0)
            return false;
        ended->push_back(std::move(contender));
    }
    return !leading.isEmpty();
}

void tst_Lease::readLogs(
    QList<Round> *rounds, const std::vector<Contender> &ended, const LeaseAudit &audit)
{
    const auto processOf = [&](const QString &pod) {
        return std::find_if(ended.begin(), ended.end(), [&](const Contender &contender) {
            return contender.pod == pod;
        })->process.get();
    };
    const qint64 offset = steadyOffset();
    for (Round &round : *rounds) {
        const qint64 renewal = audit.verdict(round.pod).lastRenewal - offset;
        const QList<QJsonObject> begins = processOf(round.pod)->linesWith("begins");
        for (const QJsonObject &line : begins) {
            const qint64 taken = line["takenMicros"_L1].toInteger();
            round.startedTooLate += taken > renewal + kLease ? 1 : 0;
            round.startedBeyondDeadline += taken > renewal + kRenewDeadline ? 1 : 0;
        }
        const LeaseAudit::Renewal *const next = audit.nextHolder(round.pod);
        const QList<QJsonObject> ready
            = next ? processOf(next->pod)->linesWith("ready") : QList<QJsonObject>();
        round.wasNextWarm
            = !ready.isEmpty() && ready.first()["ts"_L1].toInteger() / 1000 < next->receivedAt;
    }
}

QList<qint64> tst_Lease::warmBegins(const QList<Round> &rounds, const LeaseAudit &audit)
{
    QList<qint64> all;
    for (const Round &round : rounds)
        if (const LeaseAudit::Renewal *const next = audit.nextHolder(round.pod);
            next && round.wasNextWarm)
            all += audit.firstReconcile(next->pod) - next->receivedAt;
    std::sort(all.begin(), all.end());
    return all;
}

void tst_Lease::judge(const QList<Round> &rounds, const LeaseAudit &audit)
{
    for (const Round &round : rounds) {
        const LeaseAudit::Verdict verdict = audit.verdict(round.pod);
        const QByteArray who = round.pod.toUtf8();
        QVERIFY2(verdict.writes > 0, who);
        QVERIFY2(verdict.begunTooLate == 0, who);
        QVERIFY2(verdict.beyondDeadline == 0, who);
        QVERIFY2(verdict.begunWithoutLease == 0, who);
        QVERIFY2(round.startedTooLate == 0, who);
        QVERIFY2(round.startedBeyondDeadline == 0, who);
        QCOMPARE(round.exitCode, round.how == How::Killed ? -2 : 4);
        const LeaseAudit::Renewal *const next = audit.nextHolder(round.pod);
        QVERIFY2(next, who);
        const qint64 tookOver = next->receivedAt - verdict.lastRenewal;
        QVERIFY2(tookOver >= kLease, who);
        // L-1: a wait of up to 2.2 periods before the last renewal was seen, and after it ran out.
        QVERIFY2(tookOver <= kLease + 2 * kRetryPeriod * 22 / 10 + 2 * kRequestLimit, who);
        const qint64 began = audit.firstReconcile(next->pod);
        QVERIFY2(began >= next->receivedAt - kRequestLimit, who);
    }
    const QList<qint64> begins = warmBegins(rounds, audit);
    QVERIFY(begins.size() > rounds.size() / 2); // else the bound is asked of too few
    QVERIFY(begins.at(begins.size() * 3 / 4) <= kRetryPeriod);
    QVERIFY(begins.last() <= kRetryPeriod + kLoadAllowance);
}

void tst_Lease::print(const QList<Round> &rounds, const LeaseAudit &audit)
{
    qInfo(
        "lease 3 s, renew deadline 2 s, retry period 0.4 s; %d pages written all the time", kPages);
    qInfo("%5s %5s %-26s %7s %5s %7s %9s %9s %8s %9s %9s %5s", "round", "pod", "what happened",
        "halt s", "exit", "writes", "too late", "deadline", "on wire", "taken s", "begins s",
        "warm");
    int writes = 0;
    int onTheWire = 0;
    qint64 longest = 0;
    for (qsizetype i = 0; i < rounds.size(); ++i) {
        const Round &round = rounds.at(i);
        const LeaseAudit::Verdict verdict = audit.verdict(round.pod);
        const LeaseAudit::Renewal *const next = audit.nextHolder(round.pod);
        const qint64 taken = next ? next->receivedAt - verdict.lastRenewal : -1;
        const qint64 begins = next ? audit.firstReconcile(next->pod) - next->receivedAt : -1;
        const char *const how = round.how == How::Killed ? "SIGKILL"
            : round.how == How::StoppedUntilTaken        ? "SIGSTOP until taken over"
                                                         : "SIGSTOP beyond deadline";
        qInfo("%5d %5s %-26s %7.2f %5d %7d %9d %9d %8d %9.2f %9.3f %5s", int(i),
            qPrintable(round.pod), how, double(round.haltedMicros) / kSecond, round.exitCode,
            verdict.writes, verdict.begunTooLate + round.startedTooLate,
            verdict.beyondDeadline + round.startedBeyondDeadline, verdict.arrivedLate,
            double(taken) / kSecond, double(begins) / kSecond, round.wasNextWarm ? "yes" : "no");
        writes += verdict.writes;
        onTheWire += verdict.arrivedLate;
        longest = std::max(longest, taken);
    }
    qInfo("%d writes in all; %d arrived after the lease had run out, begun before it; taken over "
          "after %.2f s at most (bound %.2f s without time of requests)",
        writes, onTheWire, double(longest) / kSecond,
        double(kLease + 2 * kRetryPeriod * 22 / 10) / kSecond);
    const QList<qint64> begins = warmBegins(rounds, audit);
    const auto late = std::upper_bound(begins.begin(), begins.end(), kRetryPeriod);
    qInfo(
        "%d of %d warm standbys began to reconcile within one retry period, the last after %.3f s",
        int(late - begins.begin()), int(begins.size()),
        begins.isEmpty() ? 0.0 : double(begins.last()) / kSecond);
}

QTEST_GUILESS_MAIN(tst_Lease)
#include "tst_lease.moc"
