#include <davit/reconciler.h>

#include <QTest>

using namespace davit;
using namespace std::chrono_literals;
using Kind = ReconcileResult::Kind;

class tst_ReconcileResult : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void kinds_data();
    void kinds();
    void priority();
    void request();
};

Q_DECLARE_METATYPE(ReconcileResult)

void tst_ReconcileResult::kinds_data()
{
    QTest::addColumn<ReconcileResult>("result");
    QTest::addColumn<int>("kind");
    QTest::addColumn<qint64>("delayMs");
    QTest::addColumn<QString>("message");
    const Error error(ErrorCode::Conflict, QStringLiteral("update v1 Pod a/b: changed"));
    const QString none;
    const auto row = [](const char *name, const ReconcileResult &result, Kind kind, qint64 delay,
                         const QString &message) {
        QTest::newRow(name) << result << int(kind) << delay << message;
    };
    row("default", ReconcileResult(), Kind::Done, 0, none);
    row("done", ReconcileResult::done(), Kind::Done, 0, none);
    row("later", ReconcileResult::requeueAfter(2s), Kind::RequeueAfter, 2000, none);
    row("10.2 a delay of zero is done", ReconcileResult::requeueAfter(0ms), Kind::Done, 0, none);
    row("10.2 a negative delay is done", ReconcileResult::requeueAfter(-5ms), Kind::Done, 0, none);
    row("failed", ReconcileResult::failed(error), Kind::Failed, 0, error.message());
    row("terminal", ReconcileResult::terminal(error), Kind::Terminal, 0, error.message());
    row("M-5 terminal without error", ReconcileResult::terminal(Error()), Kind::Terminal, 0,
        QStringLiteral("reconcile failed without a reason; give failed() an error that tells it"));
    row("failed without error", ReconcileResult::failed(Error()), Kind::Failed, 0,
        QStringLiteral("reconcile failed without a reason; give failed() an error that tells it"));
    row("from good status", Status::ok(), Kind::Done, 0, none);
    row("from bad status", Status(error), Kind::Failed, 0, error.message());
}

void tst_ReconcileResult::kinds()
{
    QFETCH(const ReconcileResult, result);
    QTEST(int(result.kind()), "kind");
    QTEST(qint64(result.delay().count()), "delayMs");
    QTEST(result.error().message(), "message");
    QVERIFY(!result.hasPriority());
}

void tst_ReconcileResult::priority()
{
    const ReconcileResult plain = ReconcileResult::requeueAfter(1s);
    const ReconcileResult urgent = plain.withPriority(-100);
    QVERIFY(urgent.hasPriority());
    QCOMPARE(urgent.priority(), -100);
    QCOMPARE(urgent.kind(), Kind::RequeueAfter);
    QCOMPARE(urgent.delay(), 1000ms);
    QVERIFY(!plain.hasPriority());
    QCOMPARE(plain.priority(), 0);
    QVERIFY(plain.withPriority(0).hasPriority()); // M-4: zero, when said, is a priority
}

void tst_ReconcileResult::request()
{
    const ObjectKey key{QStringLiteral("a"), QStringLiteral("b")};
    const ReconcileRequest request(key, QStringLiteral("edge-1"), 7);
    const ReconcileRequest copy = request;
    QVERIFY(copy.key() == key);
    QCOMPARE(copy.clusterName(), QStringLiteral("edge-1"));
    QCOMPARE(copy.priority(), 7);
}

QTEST_GUILESS_MAIN(tst_ReconcileResult)
#include "tst_reconcileresult.moc"
