// A server that is restored from a backup while its version is in doubt: what was known by then
// counts, not what was known when the doubt began.
#include "reflectorbench.h"

#include <QTest>

using namespace davit;
using namespace fakes;
using namespace std::chrono_literals;
using Bench = ReflectorBench;

class tst_RestoredServer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void b14_doubtGrows_data();
    void b14_doubtGrows();
    void b14_bookmarkGoesBack_data();
    void b14_bookmarkGoesBack();
};

void tst_RestoredServer::b14_doubtGrows_data()
{
    QTest::addColumn<bool>("isAnswered"); // the first question, by a fault
    QTest::addColumn<QString>("newest");
    QTest::addColumn<QString>("last"); // request
    const QString list = QStringLiteral("LIST rv= limit=500");
    const QString question = QStringLiteral("VERSION");
    QTest::newRow("B14: the question failed, the server is behind") << true << "5500" << list;
    QTest::newRow("B14: the question is under way, the server is behind")
        << false << "5500" << list;
    QTest::newRow("B14: the question failed, the server is not behind")
        << true << "6000" << question;
}

void tst_RestoredServer::b14_doubtGrows()
{
    QFETCH(const bool, isAnswered);
    QFETCH(const QString, newest);
    Bench bench;
    bench.source.tellsVersion = true;
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    bench.advance(1500ms);
    bench.source.end();
    bench.run();
    bench.source.open();
    QCOMPARE(bench.source.lastRequest(), QStringLiteral("VERSION"));
    const auto watch = bench.source.calls.at(bench.source.calls.size() - 2)->watch;
    if (isAnswered)
        bench.source.failList(error(ErrorCode::ConnectionLost));
    watch->onWatchEvents({happened(Type::Modified, widget(u"apps/a@6000"))}, 100);
    bench.advance(1500ms);
    watch->onWatchFinished({}); // the server goes, and comes back with an older state
    bench.run();
    bench.source.open();
    QCOMPARE(bench.source.count(QStringLiteral("VERSION")), 2); // at once
    bench.source.answerList({}, newest);
    bench.advance(800ms);
    QTEST(bench.source.lastRequest(), "last");
}

void tst_RestoredServer::b14_bookmarkGoesBack_data()
{
    QTest::addColumn<QString>("newest");
    QTest::addColumn<QString>("last"); // request
    QTest::newRow("B14: a bookmark goes back, the server is behind") << "1200"
                                                                     << "LIST rv= limit=500";
    QTest::newRow("B14: a bookmark goes back, the server is not behind") << "5001"
                                                                         << "VERSION";
}

// It is no version to go on from, and asked about once; a fault in between changes nothing.
void tst_RestoredServer::b14_bookmarkGoesBack()
{
    QFETCH(const QString, newest);
    Bench bench;
    bench.source.tellsVersion = true;
    bench.startWatching({"apps/a@4990"}, QStringLiteral("5000"));
    const auto watch = bench.source.last().watch;
    for (const char *const version : {"1100", "1150"})
        watch->onWatchEvents({bookmark(QLatin1StringView(version))}, 100);
    QCOMPARE(bench.source.count(QStringLiteral("VERSION")), 1);
    QCOMPARE(bench.version(), QStringLiteral("5000"));
    bench.source.answerList({}, newest);
    bench.advance(800ms);
    QTEST(bench.source.lastRequest(), "last");
}

QTEST_GUILESS_MAIN(tst_RestoredServer)
#include "tst_restoredserver.moc"
