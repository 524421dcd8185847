#include "observability/stateboard.h"

#include "observability/knownsecrets.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace davit;
using namespace davit::observability;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

class tst_StateBoard : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void describes_data();
    void describes();
    void board();
    void b32_waits_data();
    void b32_waits();
    void oneLineEach_data();
    void oneLineEach();
    void halfASecret();
};

void tst_StateBoard::describes_data()
{
    QTest::addColumn<SyncProgress>("progress");
    QTest::addColumn<QString>("text");
    const QString none;
    const QString name = QStringLiteral("v1 Pod");
    const auto row = [](const char *title, const SyncProgress &progress, const char *text) {
        QTest::newRow(title) << progress << QString::fromUtf8(text);
    };
    row("nothing came yet", {name, false, 0, 0, 0, -1, 1500ms, none},
        "0 objects, 0 B of JSON in 1.5 s");
    row("the server is away", {name, false, 0, 0, 0, -1, 2s, QStringLiteral("connection refused")},
        "0 objects, 0 B of JSON in 2.0 s, waiting: connection refused");
    row("kilobytes", {name, false, 1, 1000, 0, -1, 0s, none}, "1 objects, 1.0 kB of JSON in 0.0 s");
    row("half way", {name, false, 500, 1'200'000, 0, 4500, 3s, none},
        "500 objects, 1.2 MB of JSON in 3.0 s, 4500 remain");
    row("done", {name, true, 5000, 222'000'000, 5003, -1, 61s, none},
        "synced, 5003 objects now; the last fill: 5000 objects, 222.0 MB of JSON in 61.0 s");
}

void tst_StateBoard::describes()
{
    QFETCH(const SyncProgress, progress);
    QTEST(describe(progress), "text");
}

void tst_StateBoard::board()
{
    StateBoard board;
    QVERIFY(!board.areAllSynced()); // nothing is known yet
    QVERIFY(!board.isServerReached());
    QCOMPARE(board.notes(), QByteArray("    server: no answer yet\n"));
    board.setServerFault(QStringLiteral("waiting for the API server s: Connection refused"));
    QCOMPARE(board.notes(),
        QByteArray("    server: waiting for the API server s: Connection refused\n"));
    board.setServerReached();
    QCOMPARE(board.notes(), QByteArray());
    board.setLeadership(QStringLiteral("this process, a_1, by Lease ops/davit"));
    QCOMPARE(board.notes(), QByteArray("    leader: this process, a_1, by Lease ops/davit\n"));
    board.setLeadership({});
    QVERIFY(board.areAllSynced()); // nothing is watched
    QList<SyncProgress> syncs{{QStringLiteral("v1 Pod"), false, 3, 10, 0, -1, 1s, {}}};
    board.setSyncSource([&syncs] { return syncs; });
    board.setPluginSource([] {
        return QList<PluginState>{
            {QStringLiteral("a"), QStringLiteral("2.0.0"), QStringLiteral("Refused"),
                QStringLiteral("it needs SDK 2"), false},
            {QStringLiteral("b"), QStringLiteral("1.0.0"), QStringLiteral("Initialized"), {},
                true}};
    });
    QVERIFY(!board.areAllSynced());
    QCOMPARE(board.notes(),
        QByteArray(
            "    sync v1 Pod: 3 objects, 10 B of JSON in 1.0 s\n"
            "    plugin a 2.0.0: Refused, it needs SDK 2\n    plugin b 1.0.0: Initialized\n"));
    QVERIFY(!board.arePluginsStarted());
    board.setPluginSource({});
    QVERIFY(board.arePluginsStarted());
    syncs.first().isSynced = true;
    QVERIFY(board.areAllSynced());
    board.setSyncSource({});
    QVERIFY(board.syncs().isEmpty());
}

void tst_StateBoard::b32_waits_data()
{
    QTest::addColumn<SyncProgress>("secrets");
    QTest::addColumn<QByteArray>("lineOfY");
    const QString name = QStringLiteral("v1 Secret");
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B32-scenario.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonValue reply
        = QJsonDocument::fromJson(file.readAll())["steps"_L1][0]["reply"_L1]["json"_L1];
    const QString refused
        = QStringLiteral("list v1 Secret: %1 (HTTP 403)").arg(reply["message"_L1].toString());
    QVERIFY(refused.contains(QLatin1StringView("cannot list resource \"secrets\"")));
    const QStringList y(QStringLiteral("Y"));
    QTest::newRow("B32 nothing came yet") << SyncProgress{name, false, 0, 0, 0, -1, 1s, {}, y}
                                          << QByteArray(", waits for the first list of v1 Secret");
    QTest::newRow("B32 refused") << SyncProgress{name, false, 0, 0, 0, -1, 119s, refused, y}
                                 << ", waits for the first list of v1 Secret: " + refused.toUtf8();
    QTest::newRow("B32 for too long")
        << SyncProgress{name, false, 0, 0, 0, -1, 120s, refused, y}
        << ", is late: it waits longer than --cache-sync-timeout (120 s) for the first list of v1 "
           "Secret: "
            + refused.toUtf8();
    QTest::newRow("B32 granted") << SyncProgress{name, true, 0, 0, 0, -1, 1s, {}, y}
                                 << QByteArray();
}

void tst_StateBoard::b32_waits()
{
    QFETCH(const SyncProgress, secrets);
    QFETCH(const QByteArray, lineOfY);
    StateBoard board;
    board.setServerReached();
    board.setSyncLimit(120s);
    board.setSyncSource([&secrets] { return QList<SyncProgress>{secrets}; });
    board.setPluginSource([] {
        const QString running = QStringLiteral("Running");
        return QList<PluginState>{{QStringLiteral("X"), {}, running, {}, false},
            {QStringLiteral("Y"), {}, running, {}, false}};
    });
    const QByteArray notes = board.notes();
    QVERIFY2(notes.endsWith("    plugin X: Running\n    plugin Y: Running" + lineOfY + '\n'),
        notes.constData());
}

void tst_StateBoard::oneLineEach_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QByteArray>("shown");
    QTest::newRow("a line that is not ours")
        << QStringLiteral("no\n[+]caches ok\r") << QByteArray("no\\u000a[+]caches ok\\u000d");
    QTest::newRow("NUL and ESC") << QString(QChar(0)) + QStringLiteral("\x1b[2J")
                                 << QByteArray("\\u0000\\u001b[2J");
    QTest::newRow("other ends of a line, and right to left")
        << QStringLiteral("\u0085\u2028\u202e") << QByteArray("\\u0085\\u2028\\u202e");
    QTest::newRow("other tongues")
        << QStringLiteral("Zürich 東京 😀") << QByteArray("Zürich 東京 😀");
}

// Its first half is as good as all of it, and no longer known as one.
void tst_StateBoard::halfASecret()
{
    KnownSecrets holder;
    holder.set({"opaque-token-4711"});
    StateBoard board;
    board.setServerFault(QString(2034, u'x') + u" opaque-token-4711"_s);
    QVERIFY2(!board.notes().contains("opaq"), board.notes().constData());
}

// What a server, a file or a plugin says stays in its line.
void tst_StateBoard::oneLineEach()
{
    QFETCH(const QString, text);
    QFETCH(const QByteArray, shown);
    StateBoard board;
    board.setServerFault(text);
    QCOMPARE(board.notes(), "    server: " + shown + '\n');
    board.setServerReached();
    board.setSyncSource([&text] {
        return QList<SyncProgress>{{QStringLiteral("v1 Pod"), false, 0, 0, 0, -1, 1s, text}};
    });
    QCOMPARE(board.notes(),
        "    sync v1 Pod: 0 objects, 0 B of JSON in 1.0 s, waiting: " + shown + '\n');
    board.setSyncSource({});
    board.setPluginSource([&text] {
        return QList<PluginState>{{text, {}, QStringLiteral("Refused"), text, false}};
    });
    QCOMPARE(board.notes(), "    plugin " + shown + ": Refused, " + shown + '\n');
    board.setPluginSource([] {
        return QList<PluginState>{{QStringLiteral("a"), {}, QString(100'000, u'x'), {}, false}};
    });
    QVERIFY(board.notes().size() < 3000);
}

QTEST_GUILESS_MAIN(tst_StateBoard)
#include "tst_stateboard.moc"
