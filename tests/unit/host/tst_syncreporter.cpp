#include "host/syncreporter.h"

#include <davit/priv/backends.h>

#include <QTest>

using namespace davit;
using namespace davit::host;
using namespace std::chrono_literals;
using observability::SyncProgress;

namespace {

class Lines final : public priv::LogBackend
{
public:
    bool isEnabled(LogLevel) const noexcept override { return true; }
    void write(LogLevel level, const QString &, const char *message, const LogField *fields,
        qsizetype count) noexcept override
    {
        QString line = level == LogLevel::Warning ? QStringLiteral("! ") : QString();
        line += QString::fromUtf8(message);
        for (qsizetype i = 0; i < count; ++i)
            line += QLatin1Char(' ') + fields[i].value.toString();
        all << line;
    }
    QStringList all;
};

} // namespace

class tst_SyncReporter : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void slowSync();
    void fastSync();
};

void tst_SyncReporter::slowSync()
{
    Lines lines;
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
    QCOMPARE(lines.all,
        QStringList({QStringLiteral("first sync v1 Pod 100 5000 1.01 900"),
            QStringLiteral("first sync v1 Pod 400 20000 2.01 600"),
            QStringLiteral("! first sync is slow v1 Pod 400 20000 121 600 cut off"),
            QStringLiteral("first sync done v1 Pod 1000 50000 122")}));
}

void tst_SyncReporter::fastSync()
{
    Lines lines;
    observability::StateBoard board;
    board.setSyncSource([] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), true, 3, 900, -1, 30ms, {}}};
    });
    SyncReporter reporter(board, Logger(lines, QStringLiteral("sync")), 120s);
    QVERIFY(!reporter.tick());
    QCOMPARE(lines.all, QStringList(QStringLiteral("first sync done v1 Pod 3 900 0.03")));
    // The watch ended; a new one is told again.
    board.setSyncSource({});
    reporter.tick();
    board.setSyncSource([] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), true, 5, 950, -1, 20ms, {}}};
    });
    reporter.tick();
    QCOMPARE(lines.all.last(), QStringLiteral("first sync done v1 Pod 5 950 0.02"));
}

QTEST_GUILESS_MAIN(tst_SyncReporter)
#include "tst_syncreporter.moc"
