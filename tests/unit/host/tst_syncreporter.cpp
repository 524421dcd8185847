#include "host/syncreporter.h"

#include "../loglines.h"

#include <QTest>

using namespace davit;
using namespace davit::host;
using namespace std::chrono_literals;
using observability::SyncProgress;

class tst_SyncReporter : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void slowSync();
    void fastSync();
};

void tst_SyncReporter::slowSync()
{
    fake::Lines lines;
    observability::StateBoard board;
    SyncProgress sync{QStringLiteral("v1 Pod"), false, 0, 0, -1, 10ms, {}};
    board.setSyncSource([&sync] { return QList<SyncProgress>{sync}; });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    QVERIFY(reporter.tick()); // too early for a line
    sync = {sync.resource, false, 100, 5000, 900, 1010ms, {}};
    reporter.tick();
    sync = {sync.resource, false, 400, 20000, 600, 2010ms, {}};
    reporter.tick();
    sync = {sync.resource, false, 400, 20000, 600, 121s, QStringLiteral("cut off")};
    for (int i = 0; i < 10; ++i)
        reporter.tick(); // after the first minute one of ten has a line
    sync = {sync.resource, true, 1000, 50000, -1, 122s, {}};
    QVERIFY(!reporter.tick());
    reporter.tick();
    QCOMPARE(lines.seen,
        QStringList({QStringLiteral("3|sync|first sync|resource=v1 "
                                    "Pod|objects=100|bytes=5000|seconds=1.01|remaining=900"),
            QStringLiteral("3|sync|first sync|resource=v1 "
                           "Pod|objects=400|bytes=20000|seconds=2.01|remaining=600"),
            QStringLiteral("2|sync|first sync is slow|resource=v1 "
                           "Pod|objects=400|bytes=20000|seconds=121|remaining=600|error=cut off"),
            QStringLiteral(
                "3|sync|first sync done|resource=v1 Pod|objects=1000|bytes=50000|seconds=122")}));
}

void tst_SyncReporter::fastSync()
{
    fake::Lines lines;
    observability::StateBoard board;
    board.setSyncSource([] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), true, 3, 900, -1, 30ms, {}}};
    });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    QVERIFY(!reporter.tick());
    QCOMPARE(lines.seen,
        QStringList(QStringLiteral(
            "3|sync|first sync done|resource=v1 Pod|objects=3|bytes=900|seconds=0.03")));
    // The watch ended; a new one is told again.
    board.setSyncSource({});
    reporter.tick();
    board.setSyncSource([] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), true, 5, 950, -1, 20ms, {}}};
    });
    reporter.tick();
    QCOMPARE(lines.seen.last(),
        QStringLiteral("3|sync|first sync done|resource=v1 Pod|objects=5|bytes=950|seconds=0.02"));
}

QTEST_GUILESS_MAIN(tst_SyncReporter)
#include "tst_syncreporter.moc"
