// What becomes of the events of one recorder in events.k8s.io/v1: EventSeries alone, time by hand.
#include "client/eventseries.h"

#include <QTest>
#include <functional>

using namespace davit::client;
using namespace std::chrono_literals;

namespace {

ToldEvent eventAt(const QString &reason, std::chrono::seconds at)
{
    ToldEvent told;
    told.regarding = {{QStringLiteral("kind"), QStringLiteral("Secret")},
        {QStringLiteral("name"), QStringLiteral("key")},
        {QStringLiteral("resourceVersion"), QStringLiteral("7")}};
    told.type = QStringLiteral("Normal");
    told.reason = reason;
    told.action = QStringLiteral("Copying");
    told.note = QStringLiteral("the note of second %1").arg(at.count());
    told.key.name = QStringLiteral("%1.%2").arg(reason).arg(at.count());
    told.utc = told.monotonic = at;
    return told;
}

// "create a.0", or "patch a.0 2 at 1 s": the Event's name, the count, the time of the newest.
QString lineOf(const SeriesWrite &write)
{
    const QString name = write.first.key.name;
    if (write.count == 1)
        return QStringLiteral("create ") + name;
    return QStringLiteral("patch %1 %2 at %3 s")
        .arg(name)
        .arg(write.count)
        .arg(std::chrono::duration_cast<std::chrono::seconds>(write.lastTime).count());
}

void takeDue(EventSeries *series, std::chrono::seconds at, QStringList *lines)
{
    while (const std::optional<SeriesWrite> write = series->due(at))
        *lines += lineOf(*write);
}

} // namespace

class tst_EventSeries : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equality_data();
    void equality();
    void course_data();
    void course();
    void nextDue();
    void ends();
    void memoryIsBounded();
};

void tst_EventSeries::equality_data() // E-11
{
    QTest::addColumn<ToldEvent>("second");
    QTest::addColumn<bool>("isEqual");
    const auto row
        = [](const char *name, bool isEqual, const std::function<void(ToldEvent *)> &change) {
              ToldEvent second = eventAt(QStringLiteral("R"), 1s);
              change(&second);
              QTest::newRow(name) << second << isEqual;
          };
    const auto put = [](QJsonObject *object, const char *name, const char *value) {
        object->insert(QLatin1StringView(name), QLatin1StringView(value));
    };
    row("E-11 another note", true, [](ToldEvent *e) { e->note = QStringLiteral("other"); });
    row("E-11 another version of the object", true,
        [=](ToldEvent *e) { put(&e->regarding, "resourceVersion", "8"); });
    row("E-11 another type", false, [](ToldEvent *e) { e->type = QStringLiteral("Warning"); });
    row("E-11 another action", false, [](ToldEvent *e) { e->action = QStringLiteral("Moving"); });
    row("E-11 another reason", false, [](ToldEvent *e) { e->reason = QStringLiteral("S"); });
    row("E-11 another object", false, [=](ToldEvent *e) { put(&e->regarding, "name", "door"); });
    row("E-11 a later object of that name", false,
        [=](ToldEvent *e) { put(&e->regarding, "uid", "u2"); });
    row("E-11 a related object", false, [=](ToldEvent *e) { put(&e->related, "name", "x"); });
}

void tst_EventSeries::equality()
{
    QFETCH(const ToldEvent, second);
    QFETCH(const bool, isEqual);
    EventSeries series;
    series.told(eventAt(QStringLiteral("R"), 0s));
    const std::vector<SeriesWrite> writes = series.told(second);
    QCOMPARE(writes.size(), size_t(1));
    QCOMPARE(writes[0].count, isEqual ? 2 : 1);
    QCOMPARE(series.size(), size_t(isEqual ? 1 : 2));
}

// A step is "SECOND REASON": an event is told; or "SECOND due": what time has brought is taken.
void tst_EventSeries::course_data()
{
    QTest::addColumn<QStringList>("steps");
    QTest::addColumn<QStringList>("writes");
    QTest::addColumn<int>("remembered"); // in the end
    const auto row = [](const char *name, const char *steps, const char *writes, int remembered) {
        const auto list = [](const char *text) {
            return QString::fromLatin1(text).split(QStringLiteral(", "), Qt::SkipEmptyParts);
        };
        QTest::newRow(name) << list(steps) << list(writes) << remembered;
    };
    row("E-12 the first is created", "0 a", "create a.0", 1);
    row("E-12 the second makes a series", "0 a, 1 a", "create a.0, patch a.0 2 at 1 s", 1);
    row("E-12 later ones are counted", "0 a, 1 a, 2 a, 3 a", "create a.0, patch a.0 2 at 1 s", 1);
    row("E-12 others have their own", "0 a, 1 b, 2 a, 3 b",
        "create a.0, create b.1, patch a.0 2 at 2 s, patch b.1 2 at 3 s", 2);
    row("E-13 nothing is due before 6 minutes", "0 a, 0 a, 359 due",
        "create a.0, patch a.0 2 at 0 s", 1);
    row("E-13 a single one is forgotten after 6 minutes", "0 a, 360 due, 361 a",
        "create a.0, create a.361", 1);
    row("E-13 a series ends after 6 minutes without an event", "0 a, 1 a, 5 a, 360 due, 720 due",
        "create a.0, patch a.0 2 at 1 s, patch a.0 3 at 5 s", 0);
    row("E-13 one that had an event goes on", "0 a, 1 a, 2 a, 300 a, 360 due, 719 a",
        "create a.0, patch a.0 2 at 1 s", 1);
    row("E-13 after its end it begins anew", "0 a, 0 a, 360 due, 400 a, 401 a",
        "create a.0, patch a.0 2 at 0 s, patch a.0 2 at 0 s, create a.400, patch a.400 2 at 401 s",
        1);
    row("E-13 series that go on are written each 30 minutes",
        "0 a, 1 a, 300 a, 360 due, 600 a, 720 due, 900 a, 1080 due, 1200 a, 1440 due, 1500 a, "
        "1790 b, 1799 a, 1800 due, 1801 due",
        "create a.0, patch a.0 2 at 1 s, create b.1790, patch a.0 8 at 1799 s", 2);
    row("E-13 what ended before its heartbeat is written once", "0 a, 1 a, 2 a, 1800 due",
        "create a.0, patch a.0 2 at 1 s, patch a.0 3 at 2 s", 0);
    row("E-13 late by an hour", "0 a, 1 a, 3600 due, 3601 a",
        "create a.0, patch a.0 2 at 1 s, patch a.0 2 at 1 s, create a.3601", 1);
}

void tst_EventSeries::course()
{
    QFETCH(const QStringList, steps);
    EventSeries series;
    QStringList writes;
    for (const QString &step : steps) {
        const std::chrono::seconds at(step.section(QLatin1Char(' '), 0, 0).toInt());
        const QString what = step.section(QLatin1Char(' '), 1);
        if (what == QLatin1StringView("due"))
            takeDue(&series, at, &writes);
        else
            for (const SeriesWrite &write : series.told(eventAt(what, at)))
                writes += lineOf(write);
    }
    QTEST(writes, "writes");
    QTEST(int(series.size()), "remembered");
}

void tst_EventSeries::nextDue() // E-13
{
    EventSeries series;
    QVERIFY(!series.nextDue());
    series.told(eventAt(QStringLiteral("a"), 100s));
    QVERIFY(series.nextDue() == 460s);
    series.told(eventAt(QStringLiteral("a"), 400s));
    QVERIFY(!series.due(460s));
    QVERIFY(series.nextDue() == 820s);
    QStringList lines;
    takeDue(&series, 820s, &lines);
    QCOMPARE(lines.size(), 1);
    QVERIFY(!series.nextDue()); // nothing is remembered
    series.told(eventAt(QStringLiteral("a"), 5000s));
    QVERIFY(series.nextDue() == 5360s);
}

void tst_EventSeries::ends() // at the end what grew is written, and nothing else
{
    EventSeries series;
    for (const char *reason : {"single", "written", "written", "grown", "grown", "grown"})
        series.told(eventAt(QLatin1StringView(reason), 1s));
    series.end();
    QStringList lines;
    takeDue(&series, 2s, &lines);
    QCOMPARE(lines, QStringList(QStringLiteral("patch grown.1 3 at 1 s")));
    QCOMPARE(series.size(), size_t(0));
    QVERIFY(!series.nextDue());
}

void tst_EventSeries::memoryIsBounded() // as E-7
{
    EventSeries series;
    for (int i = 0; i < 3; ++i)
        series.told(eventAt(QStringLiteral("series"), 0s));
    series.told(eventAt(QStringLiteral("single"), 1s));
    const auto tellOthers = [&](int from, size_t number) {
        QStringList lines;
        for (int i = from; series.size() < number || lines.isEmpty(); ++i)
            for (const SeriesWrite &write : series.told(eventAt(QStringLiteral("r%1").arg(i), 2s)))
                lines += lineOf(write);
        return lines;
    };
    tellOthers(0, EventSeries::kMaxKeys);
    QCOMPARE(series.size(), EventSeries::kMaxKeys);
    // The series was used longest ago: it is written for the last time, then the new one made.
    QCOMPARE(tellOthers(10000, EventSeries::kMaxKeys),
        (QStringList{
            QStringLiteral("patch series.0 3 at 0 s"), QStringLiteral("create r10000.2")}));
    QCOMPARE(tellOthers(10001, EventSeries::kMaxKeys),
        QStringList(QStringLiteral("create r10001.2"))); // the single one went without a write
    QCOMPARE(series.size(), EventSeries::kMaxKeys);
}

QTEST_GUILESS_MAIN(tst_EventSeries)
#include "tst_eventseries.moc"
