// A plugin's Events of events.k8s.io/v1, from record() to the wire: requests, timers, the end.
#include "eventsrig.h"

#include <QTest>

using namespace eventsrig;
using namespace std::chrono_literals;

namespace {

const QByteArray kEvents = "/apis/events.k8s.io/v1/namespaces/team-a/events";

struct SeriesFixture : Fixture
{
    SeriesFixture() : Fixture(eventRules(QStringLiteral("events.k8s.io"))) { }

    void record(const QString &reason = QStringLiteral("Copied"),
        EventSeverity severity = EventSeverity::Normal)
    {
        recorder.record(secret(), related, severity, reason, QStringLiteral("Copying"), note);
        executor.runAll();
    }
    // A series of two, written.
    void recordSeries()
    {
        for (const int status : {201, 200}) {
            record();
            answer(status);
        }
    }
    void advance(std::chrono::nanoseconds span) { clock.advance(span, &executor); }
    // Each request as "POST name" or "PATCH name count".
    QStringList sent() const
    {
        QStringList lines;
        for (const auto &exchange : server.exchanges) {
            const QJsonObject body = QJsonDocument::fromJson(exchange->request.body).object();
            const bool isPatch = exchange->request.method == "PATCH";
            QString line = QString::fromLatin1(exchange->request.method) + QLatin1Char(' ');
            line += isPatch ? QString::fromLatin1(exchange->request.target.mid(kEvents.size() + 1))
                            : body[QStringLiteral("metadata")][QStringLiteral("name")].toString();
            const int count = body[QStringLiteral("series")][QStringLiteral("count")].toInt();
            lines += count > 0 ? line + QStringLiteral(" %1").arg(count) : line;
        }
        return lines;
    }

    Object related;
    QString note = QStringLiteral("team-b/key is a copy");
};

} // namespace

class tst_SeriesEventForm : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void writesAnEvent();
    void writesASeries();
    void relatedObject();
    void heartbeatsAndEnd();
    void goneEventIsMadeAnew();
    void triesAgain();
    void refused_data();
    void refused();
    void warningIsLoggedOnce();
    void needsAPermit();
    void longNoteIsCut();
    void needsActionAndReason_data();
    void needsActionAndReason();
    void needsAnObject();
    void finishWritesWhatGrew();
    void finishWithNothingToWrite();
    void finishEndsAtItsLimit();
    void closed();
    void besideClassicOnes();
};

void tst_SeriesEventForm::writesAnEvent() // E-12, E-14
{
    SeriesFixture f;
    f.record();
    QCOMPARE(f.last().method, QByteArray("POST"));
    QCOMPARE(f.last().target, kEvents);
    const QString name
        = QStringLiteral("key.") + QString::number(quint64(f.clock.utc().count()), 16);
    const QString instance = f.lastBody()[QStringLiteral("reportingInstance")].toString();
    QVERIFY(instance.startsWith(QStringLiteral("replicator-")) && instance.size() <= 128);
    const QByteArray want
        = R"({"action":"Copying","apiVersion":"events.k8s.io/v1",)"
          R"("eventTime":"2026-01-01T00:00:00.000000Z","kind":"Event",)"
          R"("metadata":{"name":"NAME","namespace":"team-a"},"note":"team-b/key is a copy",)"
          R"("reason":"Copied","regarding":{"apiVersion":"v1","kind":"Secret","name":"key",)"
          R"("namespace":"team-a","resourceVersion":"7","uid":"u1"},)"
          R"("reportingController":"replicator","reportingInstance":"INSTANCE","type":"Normal"})";
    QCOMPARE(f.last().body,
        QByteArray(want).replace("NAME", name.toLatin1()).replace("INSTANCE", instance.toUtf8()));
}

void tst_SeriesEventForm::writesASeries() // E-12
{
    SeriesFixture f;
    f.record();
    const QString name = f.sent()[0].section(QLatin1Char(' '), 1);
    f.answer(201);
    f.advance(90s);
    f.note = QStringLiteral("another note"); // that of the first stays
    f.record();
    QCOMPARE(f.last().method, QByteArray("PATCH"));
    QCOMPARE(f.last().contentType, QByteArray("application/strategic-merge-patch+json"));
    QCOMPARE(f.last().target, kEvents + '/' + name.toLatin1());
    QCOMPARE(f.last().body,
        QByteArray(R"({"series":{"count":2,"lastObservedTime":"2026-01-01T00:01:30.000000Z"}})"));
    f.answer(200);
    for (int i = 0; i < 40; ++i)
        f.record();
    QCOMPARE(f.server.exchanges.size(), size_t(2));
}

void tst_SeriesEventForm::relatedObject() // E-11
{
    SeriesFixture f;
    f.related = parsed(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-b"}})");
    f.record();
    QCOMPARE(f.lastBody()[QStringLiteral("related")].toObject(),
        QJsonDocument::fromJson(R"({"apiVersion":"v1","kind":"Namespace","name":"team-b"})")
            .object());
    f.answer(201);
    f.related = Object();
    f.record();
    QCOMPARE(f.last().method, QByteArray("POST")); // not the same event
    QVERIFY(!f.lastBody().contains(QStringLiteral("related")));
}

void tst_SeriesEventForm::heartbeatsAndEnd() // E-13
{
    SeriesFixture f;
    QCOMPARE(f.clock.pendingTimers(), 0); // nothing is remembered
    f.recordSeries();
    QCOMPARE(f.clock.pendingTimers(), 1);
    const QString name = f.sent()[0].section(QLatin1Char(' '), 1);
    for (int minute = 1; minute < 30; ++minute) {
        f.advance(1min);
        f.record();
    }
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    f.advance(1min);
    QCOMPARE(f.sent().mid(2), QStringList(QStringLiteral("PATCH %1 31").arg(name)));
    f.answer(200);
    f.record();
    f.advance(6min);
    QCOMPARE(f.sent().mid(3), QStringList(QStringLiteral("PATCH %1 32").arg(name)));
    f.answer(200);
    QCOMPARE(f.clock.pendingTimers(), 0);
    f.record();
    QCOMPARE(f.last().method, QByteArray("POST"));
}

void tst_SeriesEventForm::goneEventIsMadeAnew() // E-14
{
    SeriesFixture f;
    f.recordSeries();
    const QString name = f.sent()[0].section(QLatin1Char(' '), 1);
    f.record();
    f.advance(6min);
    f.answer(404);
    QCOMPARE(f.sent().mid(2),
        (QStringList{
            QStringLiteral("PATCH %1 3").arg(name), QStringLiteral("POST %1 3").arg(name)}));
    QCOMPARE(f.lastBody()[QStringLiteral("eventTime")].toString(),
        QStringLiteral("2026-01-01T00:00:00.000000Z"));
    f.answer(201);
    QCOMPARE(f.server.exchanges.size(), size_t(4));
}

void tst_SeriesEventForm::triesAgain() // E-14
{
    SeriesFixture f;
    f.record();
    for (size_t i = 0; i < 12; ++i) {
        QCOMPARE(f.server.exchanges.size(), i + 1);
        f.server.fail(i, Error(ErrorCode::ConnectionLost, QStringLiteral("cut")));
        f.executor.runAll();
        f.advance(10s - 1ns);
        QCOMPARE(f.server.exchanges.size(), i + 1); // never sooner
        f.advance(2500ms + 1ns);
    }
    QCOMPARE(f.server.exchanges.size(), size_t(12));
    f.record(); // and it goes on
    f.answer(404);
    QCOMPARE(f.lastBody()[QStringLiteral("series")][QStringLiteral("count")].toInt(), 2);
}

void tst_SeriesEventForm::refused_data()
{
    QTest::addColumn<QByteArray>("status");
    QTest::addColumn<int>("code");
    QTest::addColumn<int>("logged"); // lines
    QTest::newRow("by the server") << QByteArray("Invalid") << 422 << 1;
    QTest::newRow("it is there already") << QByteArray("AlreadyExists") << 409 << 0;
}

void tst_SeriesEventForm::refused()
{
    QFETCH(const QByteArray, status);
    QFETCH(const int, code);
    SeriesFixture f;
    for (const char *reason : {"Copied", "Moved"}) {
        f.record(QLatin1StringView(reason));
        f.answer(code,
            R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + status
                + R"(","message":"no"})");
    }
    QCOMPARE(f.server.exchanges.size(), size_t(2)); // not tried again
    QTEST(int(f.lines.seen.size()), "logged");
}

void tst_SeriesEventForm::warningIsLoggedOnce()
{
    SeriesFixture f;
    for (const int status : {201, 200}) {
        f.record(QStringLiteral("Lost"), EventSeverity::Warning);
        f.answer(status);
    }
    f.record(QStringLiteral("Copied"));
    QCOMPARE(f.lines.seen,
        QStringList(QStringLiteral("2|events|warning event|plugin=replicator|kind=Secret"
                                   "|object=team-a/key|reason=Lost|note=team-b/key is a copy")));
}

void tst_SeriesEventForm::needsAPermit() // only who leads tells
{
    SeriesFixture f;
    f.permit->revoke();
    f.record();
    QVERIFY(f.server.exchanges.empty());
    QCOMPARE(f.clock.pendingTimers(), 0);
}

void tst_SeriesEventForm::longNoteIsCut() // E-15
{
    SeriesFixture f;
    f.note = QString(1025, u'x');
    f.record();
    const QString note = f.lastBody()[QStringLiteral("note")].toString();
    QCOMPARE(note, QString(1021, u'x') + QChar(0x2026));
    QCOMPARE(note.toUtf8().size(), 1024);
}

void tst_SeriesEventForm::needsActionAndReason_data() // E-15
{
    QTest::addColumn<QString>("reason");
    QTest::addColumn<QString>("action");
    QTest::newRow("E-15 no action") << QStringLiteral("Copied") << QString();
    QTest::newRow("E-15 no reason") << QString() << QStringLiteral("Copying");
}

void tst_SeriesEventForm::needsActionAndReason()
{
    QFETCH(const QString, reason);
    QFETCH(const QString, action);
    SeriesFixture f;
    f.recorder.record(secret(), Object(), EventSeverity::Normal, reason, action, f.note);
    f.executor.runAll();
    QVERIFY(f.server.exchanges.empty());
    QCOMPARE(f.lines.seen,
        QStringList(QStringLiteral("1|events|an event lacks its reason or its action"
                                   "|plugin=replicator|reason=%1|action=%2")
                        .arg(reason, action)));
}

void tst_SeriesEventForm::needsAnObject() // of either form
{
    SeriesFixture f;
    f.recorder.record(Object(), EventSeverity::Normal, QStringLiteral("Copied"), f.note);
    f.recorder.record(Object(), secret(), EventSeverity::Normal, QStringLiteral("Copied"),
        QStringLiteral("Copying"), f.note);
    f.executor.runAll();
    QVERIFY(f.server.exchanges.empty());
    const QString line
        = QStringLiteral("1|events|an event is about no object|plugin=replicator|reason=Copied");
    QCOMPARE(f.lines.seen, QStringList({line, line}));
}

void tst_SeriesEventForm::finishWritesWhatGrew()
{
    SeriesFixture f;
    f.recordSeries();
    f.record();
    f.record(QStringLiteral("Single"));
    f.answer(201);
    int told = 0;
    f.backend->finish(2s, [&] { ++told; });
    f.executor.runAll();
    QCOMPARE(told, 0);
    QVERIFY2(f.sent().last().endsWith(QStringLiteral(" 3")), qPrintable(f.sent().last()));
    f.record(QStringLiteral("TooLate"));
    f.answer(200);
    QCOMPARE(told, 1);
    QCOMPARE(f.server.exchanges.size(), size_t(4));
    QCOMPARE(f.clock.pendingTimers(), 0);
    QCOMPARE(f.backend->droppedEvents(), quint64(0));
}

void tst_SeriesEventForm::finishWithNothingToWrite()
{
    SeriesFixture f;
    f.recordSeries();
    int told = 0;
    f.backend->finish(2s, [&] { ++told; });
    f.executor.runAll();
    QCOMPARE(told, 1);
    QCOMPARE(f.server.exchanges.size(), size_t(2)); // its count is written already
    QCOMPARE(f.clock.pendingTimers(), 0);
}

void tst_SeriesEventForm::finishEndsAtItsLimit()
{
    SeriesFixture f;
    for (const char *reason : {"One", "Two"})
        for (int i = 0; i < 3; ++i) {
            f.record(QLatin1StringView(reason));
            if (i < 2)
                f.answer(i == 0 ? 201 : 200);
        }
    QCOMPARE(f.server.exchanges.size(), size_t(4));
    int told = 0;
    f.backend->finish(2s, [&] { ++told; });
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(5)); // the last patch of One has no answer
    f.advance(2s);
    QCOMPARE(told, 1);
    f.answer(200);
    f.advance(1h);
    QCOMPARE(told, 1);
    QCOMPARE(f.server.exchanges.size(), size_t(5));
    QCOMPARE(f.backend->droppedEvents(), quint64(0)); // the Events are there, with a smaller count
}

void tst_SeriesEventForm::closed()
{
    SeriesFixture f;
    f.recordSeries();
    f.record();
    f.backend->close();
    QCOMPARE(f.clock.pendingTimers(), 0);
    f.advance(1h);
    f.record();
    QCOMPARE(f.server.exchanges.size(), size_t(2));
}

void tst_SeriesEventForm::besideClassicOnes() // one queue, one order, each to its own API
{
    SeriesFixture f;
    f.record();
    f.Fixture::record(QStringLiteral("a classic one")); // the Rbac has no right to it
    f.record(QStringLiteral("Moved"));
    f.answer(201);
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    QCOMPARE(f.lastBody()[QStringLiteral("reason")].toString(), QStringLiteral("Moved"));
    QVERIFY(f.lines.seen.join(QLatin1Char('\n')).contains(QStringLiteral("create Event team-a/")));
    for (int i = 0; i < 1001; ++i)
        f.recorder.record(secret(), Object(), EventSeverity::Normal, QStringLiteral("R"),
            QStringLiteral("A"), QStringLiteral("m"));
    QCOMPARE(f.backend->droppedEvents(), quint64(1)); // E-1
}

QTEST_GUILESS_MAIN(tst_SeriesEventForm)
#include "tst_serieseventform.moc"
