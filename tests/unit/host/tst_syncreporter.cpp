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
    void pace();
    void slowSync();
    void failingSync();
    void b32_whoWaits();
    void silentSync();
    void fastSync();
};

void tst_SyncReporter::pace()
{
    fake::Lines lines;
    observability::StateBoard board;
    SyncProgress sync{QStringLiteral("v1 Pod"), false, 0, 0, 0, -1, 0s, {}};
    board.setSyncSource([&sync] { return QList<SyncProgress>{sync}; });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    lines.leftOut << "objects"
                  << "receivedBytes";
    for (; sync.elapsed < 60s; sync.elapsed += 1s, sync.objects += 5, sync.bytes += 500)
        reporter.tick();
    QStringList told;
    for (const int second : {1, 2, 4, 8, 16, 26, 36, 46, 56})
        told << QStringLiteral("3|sync|first sync|resource=v1 Pod|seconds=%1").arg(second);
    QCOMPARE(lines.seen, told);
}

// A list that is refused to the end: the cache tells that, and this one how long it lasts, once.
void tst_SyncReporter::failingSync()
{
    fake::Lines lines;
    observability::StateBoard board;
    SyncProgress sync{
        QStringLiteral("v1 Secret"), false, 0, 0, 0, -1, 0s, QStringLiteral("forbidden")};
    board.setSyncSource([&sync] { return QList<SyncProgress>{sync}; });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 3s);
    for (; sync.elapsed < 300s; sync.elapsed += 1s)
        reporter.tick();
    QCOMPARE(lines.seen,
        QStringList(QStringLiteral("2|sync|first sync is slow|resource=v1 Secret|objects=0"
                                   "|receivedBytes=0|seconds=3|error=forbidden")));
}

// The plugins are named when it begins to fail, when it fails otherwise, and when they are late.
void tst_SyncReporter::b32_whoWaits()
{
    fake::Lines lines;
    observability::StateBoard board;
    SyncProgress sync{QStringLiteral("v1 Secret"), false, 0, 0, 0, -1, 0s,
        QStringLiteral("list v1 Secret: forbidden (HTTP 403)"), {QStringLiteral("Y")}};
    board.setSyncSource([&sync] { return QList<SyncProgress>{sync}; });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 3s);
    lines.leftOut << "objects"
                  << "receivedBytes";
    for (; sync.elapsed < 2s; sync.elapsed += 1s)
        reporter.tick();
    sync.lastError = QStringLiteral("list v1 Secret: gone");
    for (; sync.elapsed < 300s; sync.elapsed += 1s)
        reporter.tick();
    QCOMPARE(lines.seen,
        QStringList(
            {QStringLiteral("2|sync|plugins wait for the first list of a resource|plugins=Y"
                            "|resource=v1 Secret|error=list v1 Secret: forbidden (HTTP 403)"),
                QStringLiteral("2|sync|plugins wait for the first list of a resource|plugins=Y"
                               "|resource=v1 Secret|error=list v1 Secret: gone"),
                QStringLiteral("2|sync|first sync is slow|resource=v1 Secret|seconds=3|plugins=Y"
                               "|error=list v1 Secret: gone")}));
}

void tst_SyncReporter::slowSync()
{
    fake::Lines lines;
    observability::StateBoard board;
    SyncProgress sync{QStringLiteral("v1 Pod"), false, 0, 0, 0, -1, 10ms, {}};
    board.setSyncSource([&sync] { return QList<SyncProgress>{sync}; });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    QVERIFY(reporter.tick()); // too early for a line
    sync = {sync.resource, false, 100, 5000, 0, 900, 1010ms, {}};
    reporter.tick();
    sync = {sync.resource, false, 400, 20000, 0, 600, 2010ms, {}};
    reporter.tick();
    sync = {sync.resource, false, 400, 20000, 0, 600, 121s, QStringLiteral("cut off")};
    for (int i = 0; i < 100; ++i)
        reporter.tick(); // it fails, which others tell: that it is slow has one line
    for (int i = 0; i < 20; ++i) { // the pauses grow to ten seconds
        sync = {sync.resource, false, 500 + quint64(i), 25000, 0, 500, 121s, {}};
        reporter.tick();
    }
    sync = {sync.resource, true, 1000, 50000, 1002, -1, 122s, {}};
    QVERIFY(!reporter.tick());
    reporter.tick();
    QCOMPARE(lines.seen,
        QStringList(
            {QStringLiteral("3|sync|first sync|resource=v1 "
                            "Pod|objects=100|receivedBytes=5000|seconds=1.01|remaining=900"),
                QStringLiteral("3|sync|first sync|resource=v1 "
                               "Pod|objects=400|receivedBytes=20000|seconds=2.01|remaining=600"),
                QStringLiteral(
                    "2|sync|first sync is slow|resource=v1 "
                    "Pod|objects=400|receivedBytes=20000|seconds=121|remaining=600|error=cut off"),
                QStringLiteral("2|sync|first sync is slow|resource=v1 "
                               "Pod|objects=500|receivedBytes=25000|seconds=121|remaining=500"),
                QStringLiteral("2|sync|first sync is slow|resource=v1 "
                               "Pod|objects=508|receivedBytes=25000|seconds=121|remaining=500"),
                QStringLiteral("2|sync|first sync is slow|resource=v1 "
                               "Pod|objects=518|receivedBytes=25000|seconds=121|remaining=500"),
                QStringLiteral("3|sync|first sync done|resource=v1 "
                               "Pod|objects=1000|receivedBytes=50000|seconds=122")}));
}

// Nothing comes: one line at the beginning, then one a minute, and none where the cache tells why.
void tst_SyncReporter::silentSync()
{
    fake::Lines lines;
    observability::StateBoard board;
    SyncProgress sync{QStringLiteral("v1 Pod"), false, 0, 0, 0, -1, 1s, {}};
    board.setSyncSource([&sync] { return QList<SyncProgress>{sync}; });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    for (int i = 0; i < 61; ++i)
        reporter.tick();
    QCOMPARE(lines.seen.size(), 2);
    sync.lastError = QStringLiteral("connection refused");
    for (int i = 0; i < 200; ++i)
        reporter.tick();
    QCOMPARE(lines.seen.size(), 2);
}

void tst_SyncReporter::fastSync()
{
    fake::Lines lines;
    observability::StateBoard board;
    board.setSyncSource([] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), true, 3, 900, 3, -1, 30ms, {}}};
    });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    QVERIFY(!reporter.tick());
    QCOMPARE(lines.seen,
        QStringList(QStringLiteral(
            "3|sync|first sync done|resource=v1 Pod|objects=3|receivedBytes=900|seconds=0.03")));
    // The watch ended; a new one is told again.
    board.setSyncSource({});
    reporter.tick();
    board.setSyncSource([] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), true, 5, 950, 5, -1, 20ms, {}}};
    });
    reporter.tick();
    QCOMPARE(lines.seen.last(),
        QStringLiteral(
            "3|sync|first sync done|resource=v1 Pod|objects=5|receivedBytes=950|seconds=0.02"));
}

QTEST_GUILESS_MAIN(tst_SyncReporter)
#include "tst_syncreporter.moc"
