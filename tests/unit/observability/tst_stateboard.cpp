#include "observability/stateboard.h"

#include <support/timesource.h>

#include <QTest>

using namespace davit;
using namespace davit::observability;
using namespace std::chrono_literals;

namespace {

class HandTime final : public support::TimeSource
{
public:
    Nanoseconds monotonic() const override { return now; }
    Nanoseconds utc() const override { return now; }
    TimerId callAfter(Nanoseconds, support::Executor &, support::Executor::Work) override
    {
        return 0;
    }
    void cancel(TimerId) override { }
    Nanoseconds now{1h};
};

} // namespace

class tst_StateBoard : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void firstSync();
    void describes_data();
    void describes();
    void plugins();
};

void tst_StateBoard::firstSync()
{
    HandTime time;
    StateBoard board(time);
    QVERIFY(board.areAllSynced()); // nothing is watched
    const QString resource = QStringLiteral("v1 ConfigMap");
    board.setSync(resource, 0, 0, -1);
    QVERIFY(!board.areAllSynced());
    time.now += 2s;
    board.setSyncError(resource, QStringLiteral("connection refused"));
    QCOMPARE(board.notes(),
        QByteArray(
            "    sync v1 ConfigMap: 0 objects, 0 B in 2.0 s, waiting: connection refused\n"));
    time.now += 1s;
    board.setSync(resource, 500, 1'200'000, 4500);
    QCOMPARE(board.notes(),
        QByteArray("    sync v1 ConfigMap: 500 objects, 1.2 MB in 3.0 s, 4500 remain\n"));
    board.setSynced(resource, 5000);
    time.now += 1h; // the clock of the first sync stands still
    QVERIFY(board.areAllSynced());
    QCOMPARE(board.notes(),
        QByteArray("    sync v1 ConfigMap: synced, 5000 objects, 1.2 MB in 3.0 s\n"));
    board.removeSync(resource);
    QCOMPARE(board.notes(), QByteArray());
}

void tst_StateBoard::describes_data()
{
    QTest::addColumn<quint64>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("bytes") << quint64(999) << QStringLiteral("1 objects, 999 B in 0.0 s");
    QTest::newRow("kilobytes") << quint64(1000) << QStringLiteral("1 objects, 1.0 kB in 0.0 s");
    QTest::newRow("megabytes") << quint64(222'000'000)
                               << QStringLiteral("1 objects, 222.0 MB in 0.0 s");
}

void tst_StateBoard::describes()
{
    QFETCH(const quint64, bytes);
    SyncProgress progress;
    progress.objects = 1;
    progress.bytes = bytes;
    QTEST(describe(progress), "text");
}

void tst_StateBoard::plugins()
{
    HandTime time;
    StateBoard board(time);
    board.setPlugin({QStringLiteral("b"), QStringLiteral("1.0.0"), QStringLiteral("Running"), {}});
    board.setPlugin({QStringLiteral("a"), QStringLiteral("2.0.0"), QStringLiteral("Refused"),
        QStringLiteral("it needs SDK 2")});
    QCOMPARE(board.notes(),
        QByteArray("    plugin a 2.0.0: Refused, it needs SDK 2\n    plugin b 1.0.0: Running\n"));
    board.removePlugin(QStringLiteral("a"));
    QCOMPARE(board.plugins().size(), 1);
}

QTEST_GUILESS_MAIN(tst_StateBoard)
#include "tst_stateboard.moc"
