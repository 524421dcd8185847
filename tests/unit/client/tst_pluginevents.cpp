#include "client/eventcorrelator.h"
#include "eventsrig.h"

#include <QTest>

using namespace eventsrig;
using namespace std::chrono_literals;

class tst_PluginEvents : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void correlation_data();
    void correlation();
    void groupEndsAfterAGap();
    void droppedOnesCount();
    void memoryIsBounded();
    void writesAnEvent();
    void longNoteIsCut_data();
    void longNoteIsCut();
    void countsUp();
    void expiredEventIsMadeAnew();
    void clusterScopeAndOddNames();
    void types_data();
    void types();
    void onlyBrokenConnectionsAreTriedAgain();
    void gaveUpAfterTwelveTries();
    void fullQueueDrops();
    void needsRbac();
    void closed();
    void closedBetweenTries();
    void finishSendsWhatWaits();
    void finishWithNothingToSend();
    void finishEndsAtItsLimit_data();
    void finishEndsAtItsLimit();
};

// Events are n1, n2 … by the name of what would be written, and that says m1, m2 … or always m.
void tst_PluginEvents::correlation_data()
{
    QTest::addColumn<bool>("messagesDiffer");
    QTest::addColumn<int>("gapSeconds");
    QTest::addColumn<QStringList>("written"); // of each event
    const QString combined = QStringLiteral("(combined from similar events): ");
    QStringList similar;
    for (int i = 1; i <= 9; ++i)
        similar += QStringLiteral("new n%1 count 1: m%1").arg(i);
    similar += QStringLiteral("new n10 count 1: ") + combined + QStringLiteral("m10");
    similar += QStringLiteral("patch n10 count 2: ") + combined + QStringLiteral("m11");
    QTest::newRow("T95 E-8 eleven whose messages differ") << true << 1 << similar;
    QStringList same{QStringLiteral("new n1 count 1: m")};
    for (int i = 2; i <= 25; ++i)
        same += QStringLiteral("patch n1 count %1: m").arg(i);
    QTest::newRow("T96 E-9 the same eleven times, 30 s apart") << false << 30 << same.mid(0, 11);
    same += {QStringLiteral("dropped"), QStringLiteral("dropped")};
    QTest::newRow("T97 E-10 the same 27 times, 1 s apart") << false << 1 << same;
}

void tst_PluginEvents::correlation()
{
    QFETCH(const bool, messagesDiffer);
    QFETCH(const int, gapSeconds);
    QFETCH(const QStringList, written);
    EventCorrelator correlator;
    const EventIdentity identity{
        QStringLiteral("o"), QStringLiteral("Warning"), QStringLiteral("R")};
    QStringList lines;
    for (int i = 1; i <= written.size(); ++i) {
        const QString number = QString::number(i);
        const auto event
            = correlator.correlate(identity, messagesDiffer ? u'm' + number : QStringLiteral("m"),
                u'n' + number, 1s * gapSeconds * i);
        if (!event) {
            lines += QStringLiteral("dropped");
            continue;
        }
        lines += QStringLiteral("%1 %2 count %3: %4")
                     .arg(event->isPatch ? QStringLiteral("patch") : QStringLiteral("new"),
                         event->name, QString::number(event->count), event->message);
        const int first = event->name.mid(1).toInt(); // of those that are one event now
        QVERIFY(event->firstTime == 1s * gapSeconds * first);
    }
    QCOMPARE(lines, written);
}

void tst_PluginEvents::groupEndsAfterAGap() // E-8
{
    EventCorrelator correlator;
    const EventIdentity identity{
        QStringLiteral("o"), QStringLiteral("Warning"), QStringLiteral("R")};
    for (int i = 1; i <= 9; ++i)
        correlator.correlate(identity, QString::number(i), QStringLiteral("n"), 1s * i);
    const auto after
        = correlator.correlate(identity, QStringLiteral("other"), QStringLiteral("n"), 9s + 601s);
    QVERIFY(after);
    QCOMPARE(after->message, QStringLiteral("other"));
}

void tst_PluginEvents::droppedOnesCount() // E-10
{
    EventCorrelator correlator;
    const EventIdentity identity{
        QStringLiteral("o"), QStringLiteral("Normal"), QStringLiteral("R")};
    for (int i = 1; i <= 27; ++i)
        correlator.correlate(identity, QStringLiteral("m"), QStringLiteral("n"), 1s * i);
    const auto later
        = correlator.correlate(identity, QStringLiteral("m"), QStringLiteral("n"), 27s + 300s);
    QVERIFY(later);
    QCOMPARE(later->count, 28);
    const EventIdentity other{QStringLiteral("p"), QStringLiteral("Normal"), QStringLiteral("R")};
    QVERIFY(correlator.correlate(other, QStringLiteral("m"), QStringLiteral("n"), 28s));
}

void tst_PluginEvents::memoryIsBounded() // E-7
{
    RecentMap<int> map(3);
    for (const char *key : {"a", "b", "c"})
        map.touch(QString::fromLatin1(key)) = 1;
    map.touch(QStringLiteral("a"));
    map.touch(QStringLiteral("d"));
    QCOMPARE(map.size(), size_t(3));
    QCOMPARE(map.touch(QStringLiteral("a")), 1);
    QCOMPARE(map.touch(QStringLiteral("b")), 0); // went, being the one used longest ago
}

void tst_PluginEvents::writesAnEvent() // E-3, E-4
{
    Fixture f;
    f.record(QStringLiteral("team-b/key is not ours"));
    QCOMPARE(f.last().method, QByteArray("POST"));
    QCOMPARE(f.last().target, QByteArray("/api/v1/namespaces/team-a/events"));
    const QString name
        = QStringLiteral("key.") + QString::number(quint64(f.clock.utc().count()), 16);
    QJsonObject body = f.lastBody();
    const QString host = body[QStringLiteral("reportingInstance")].toString();
    QVERIFY(!host.isEmpty());
    const QByteArray want
        = R"({"apiVersion":"v1","count":1,"firstTimestamp":"2026-01-01T00:00:00Z",)"
          R"("involvedObject":{"apiVersion":"v1","kind":"Secret","name":"key",)"
          R"("namespace":"team-a","resourceVersion":"7","uid":"u1"},)"
          R"("kind":"Event","lastTimestamp":"2026-01-01T00:00:00Z",)"
          R"("message":"team-b/key is not ours","metadata":{"name":"NAME",)"
          R"("namespace":"team-a"},"reason":"TargetNotOurs",)"
          R"("reportingComponent":"replicator","reportingInstance":"HOST",)"
          R"("source":{"component":"replicator","host":"HOST"},"type":"Warning"})";
    QCOMPARE(f.last().body,
        QByteArray(want).replace("NAME", name.toLatin1()).replace("HOST", host.toUtf8()));
}

void tst_PluginEvents::longNoteIsCut_data() // E-15
{
    QTest::addColumn<QString>("note");
    QTest::addColumn<QString>("message");
    const QString end(QChar(0x2026));
    const QString umlaut(QChar(0xfc)); // two bytes
    QTest::newRow("1024 bytes") << QString(1024, u'x') << QString(1024, u'x');
    QTest::newRow("1025 bytes") << QString(1025, u'x') << QString(1021, u'x') + end;
    QTest::newRow("at a character") << umlaut.repeated(513) << umlaut.repeated(510) + end;
    QTest::newRow("behind a character")
        << u'x' + umlaut.repeated(512) << u'x' + umlaut.repeated(510) + end;
}

void tst_PluginEvents::longNoteIsCut()
{
    QFETCH(const QString, note);
    QFETCH(const QString, message);
    Fixture f;
    f.record(note);
    QCOMPARE(f.lastBody()[QStringLiteral("message")].toString(), message);
    QVERIFY(message.toUtf8().size() <= 1024);
}

void tst_PluginEvents::countsUp() // E-6, E-9
{
    Fixture f;
    f.record(QStringLiteral("m"));
    const QString name
        = f.lastBody()[QStringLiteral("metadata")][QStringLiteral("name")].toString();
    f.answer(201);
    f.clock.advance(90s);
    f.record(QStringLiteral("m"));
    QCOMPARE(f.last().method, QByteArray("PATCH"));
    QCOMPARE(f.last().contentType, QByteArray("application/strategic-merge-patch+json"));
    QCOMPARE(f.last().target, "/api/v1/namespaces/team-a/events/" + name.toLatin1());
    QCOMPARE(f.last().body,
        QByteArray(R"({"count":2,"lastTimestamp":"2026-01-01T00:01:30Z","message":"m"})"));
    // The log has it once.
    QCOMPARE(f.lines.seen,
        QStringList(QStringLiteral("2|events|warning event|plugin=replicator|kind=Secret"
                                   "|object=team-a/key|reason=TargetNotOurs|note=m")));
    f.answer(200);
    f.recorder.record(
        secret(), EventSeverity::Normal, QStringLiteral("Copied"), QStringLiteral("good news"));
    f.executor.runAll();
    QCOMPARE(f.lines.seen.size(), 1);
}

void tst_PluginEvents::expiredEventIsMadeAnew() // E-6
{
    Fixture f;
    f.record(QStringLiteral("m"));
    f.answer(201);
    f.clock.advance(1h);
    f.record(QStringLiteral("m"));
    f.answer(404);
    QCOMPARE(f.last().method, QByteArray("POST"));
    QCOMPARE(f.lastBody()[QStringLiteral("count")].toInt(), 2);
    f.answer(201);
    QCOMPARE(f.server.exchanges.size(), size_t(3));
}

void tst_PluginEvents::clusterScopeAndOddNames() // E-3
{
    Fixture f;
    Object role;
    QVERIFY(Object::fromJson(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
                             R"("metadata":{"name":"system:node"}})",
        &role)
                .isOk());
    f.recorder.record(role, EventSeverity::Normal, QStringLiteral("R"), QStringLiteral("m"));
    f.executor.runAll();
    QCOMPARE(f.last().target, QByteArray("/api/v1/namespaces/default/events"));
    const QString name
        = f.lastBody()[QStringLiteral("metadata")][QStringLiteral("name")].toString();
    QCOMPARE(name.size(), 36);
    QVERIFY(!name.contains(u':'));
}

void tst_PluginEvents::types_data()
{
    QTest::addColumn<EventSeverity>("severity");
    QTest::addColumn<QStringList>("types"); // of what is written
    QTest::addColumn<QStringList>("lines"); // of the log
    QTest::newRow("E-2 normal") << EventSeverity::Normal << QStringList{QStringLiteral("Normal")}
                                << QStringList();
    QTest::newRow("E-2 warning") << EventSeverity::Warning << QStringList{QStringLiteral("Warning")}
                                 << QStringList{QStringLiteral(
                                        "2|events|warning event|plugin=replicator|kind=Secret"
                                        "|object=team-a/key|reason=R|note=m")};
    QTest::newRow("E-2 unset: logged, not sent")
        << EventSeverity::Unset << QStringList()
        << QStringList{
               QStringLiteral("1|events|an event has no severity|plugin=replicator|reason=R")};
}

void tst_PluginEvents::types()
{
    QFETCH(const EventSeverity, severity);
    Fixture f;
    f.recorder.record(secret(), severity, QStringLiteral("R"), QStringLiteral("m"));
    f.executor.runAll();
    QStringList types;
    for (const auto &exchange : f.server.exchanges)
        types += QJsonDocument::fromJson(exchange->request.body)[QStringLiteral("type")].toString();
    QTEST(types, "types");
    QTEST(f.lines.seen, "lines");
}

void tst_PluginEvents::onlyBrokenConnectionsAreTriedAgain() // E-5
{
    Fixture f;
    f.record(QStringLiteral("a"));
    f.server.fail(0, Error(ErrorCode::ConnectionRefused, QStringLiteral("nothing listens")));
    f.executor.runAll();
    f.clock.advance(10s, &f.executor);
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    QCOMPARE(f.server.exchanges[1]->request.body, f.server.exchanges[0]->request.body);
    f.answer(403);
    f.clock.advance(1min, &f.executor);
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    f.record(QStringLiteral("b"));
    QCOMPARE(f.server.exchanges.size(), size_t(3)); // and it goes on
}

void tst_PluginEvents::gaveUpAfterTwelveTries() // E-5
{
    Fixture f;
    f.record(QStringLiteral("a"));
    for (size_t i = 0; i < 12; ++i) {
        QCOMPARE(f.server.exchanges.size(), i + 1);
        f.server.fail(i, Error(ErrorCode::ConnectionLost, QStringLiteral("cut")));
        f.executor.runAll();
        f.clock.advance(10s, &f.executor);
    }
    QCOMPARE(f.server.exchanges.size(), size_t(12));
    QCOMPARE(f.clock.pendingTimers(), 0);
}

void tst_PluginEvents::fullQueueDrops() // E-1
{
    Fixture f;
    f.record(QStringLiteral("first")); // in flight
    for (int i = 0; i < 1002; ++i)
        f.recorder.record(
            secret(), EventSeverity::Normal, QStringLiteral("R"), QStringLiteral("m"));
    QCOMPARE(f.backend->droppedEvents(), quint64(2));
    QCOMPARE(f.losses.seen, QStringList(2, QStringLiteral("replicator 1")));
    QCOMPARE(f.lines.seen.mid(1), // the first is the event itself
        QStringList{QStringLiteral("2|events|events are dropped: more come than can be written, or "
                                   "the end came first; this is told once"
                                   "|plugin=replicator|waitingEvents=1000")});
}

void tst_PluginEvents::needsRbac()
{
    Fixture f({{{QString()}, {QStringLiteral("secrets")}, {}, {QStringLiteral("*")}}});
    f.record(QStringLiteral("a"));
    f.record(QStringLiteral("b"));
    QVERIFY(f.server.exchanges.empty());
}

void tst_PluginEvents::closed()
{
    Fixture f;
    f.record(QStringLiteral("a"));
    f.record(QStringLiteral("b"));
    f.backend->close();
    f.record(QStringLiteral("c"));
    f.answer(201);
    QCOMPARE(f.server.exchanges.size(), size_t(1));
}

// No timer is left: its executor may go.
void tst_PluginEvents::closedBetweenTries()
{
    Fixture f;
    f.record(QStringLiteral("a"));
    f.server.fail(0, Error(ErrorCode::ConnectionRefused, QStringLiteral("nothing listens")));
    f.executor.runAll();
    QCOMPARE(f.clock.pendingTimers(), 1);
    f.backend->close();
    QCOMPARE(f.clock.pendingTimers(), 0);
    f.executor.runAll();
    QCOMPARE(f.backend->droppedEvents(), quint64(1));
    QCOMPARE(f.server.exchanges.size(), size_t(1));
}

void tst_PluginEvents::finishSendsWhatWaits()
{
    Fixture f;
    f.record(QStringLiteral("a"));
    f.record(QStringLiteral("b"));
    int told = 0;
    f.backend->finish(2s, [&] { ++told; });
    f.record(QStringLiteral("too late"));
    f.answer(201);
    QCOMPARE(told, 0);
    QCOMPARE(f.lastBody()[QStringLiteral("message")].toString(), QStringLiteral("b"));
    f.answer(201);
    QCOMPARE(told, 1);
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    QCOMPARE(f.clock.pendingTimers(), 0);
    QCOMPARE(f.backend->droppedEvents(), quint64(0));
}

void tst_PluginEvents::finishWithNothingToSend()
{
    Fixture f;
    f.record(QStringLiteral("a"));
    f.answer(201);
    int told = 0;
    f.backend->finish(2s, [&] { ++told; });
    f.executor.runAll();
    QCOMPARE(told, 1);
    f.record(QStringLiteral("too late"));
    QCOMPARE(f.server.exchanges.size(), size_t(1));
}

void tst_PluginEvents::finishEndsAtItsLimit_data()
{
    QTest::addColumn<bool>("isRetried"); // else no answer comes
    QTest::newRow("the server does not answer") << false;
    QTest::newRow("the server is away") << true;
}

void tst_PluginEvents::finishEndsAtItsLimit()
{
    QFETCH(const bool, isRetried);
    Fixture f;
    f.record(QStringLiteral("a"));
    f.answer(201);
    f.record(QStringLiteral("b"));
    f.record(QStringLiteral("c"));
    const auto cut = [&] {
        f.server.fail(1, Error(ErrorCode::ConnectionLost, QStringLiteral("cut")));
        f.executor.runAll();
        f.clock.advance(1ns, &f.executor); // the first new try comes at a random moment
    };
    int told = 0;
    f.backend->finish(isRetried ? 0s : 2s, [&] { ++told; });
    if (isRetried)
        cut();
    f.clock.advance(2s, &f.executor);
    QCOMPARE(told, 1);
    f.clock.advance(1min, &f.executor);
    QCOMPARE(told, 1);
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    QVERIFY(f.backend->droppedEvents() >= 1);
}

QTEST_GUILESS_MAIN(tst_PluginEvents)
#include "tst_pluginevents.moc"
