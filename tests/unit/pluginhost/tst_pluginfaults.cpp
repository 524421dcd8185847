#include "../sdk/fakebackends.h"

#include "pluginhost/pluginfaults.h"
#include "testing/manualclock.h"

#include <QTest>
#include <stdexcept>
#include <thread>

using namespace davit;
using namespace davit::pluginhost;
using namespace std::chrono_literals;

class tst_PluginFaults : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void budget();
    void windowForgets();
    void toldOnceAMinute();
    void overdue();
    void nestedAndOtherThreads();
    void runningHere();
    void manyThreads();

private:
    testing::ManualClock m_clock;
};

void tst_PluginFaults::budget()
{
    fake::Lines lines;
    QStringList over;
    FaultSettings settings;
    settings.budget = 3;
    QStringList heard;
    settings.onFault = [&](const QString &plugin, const char *entry, const QString &subject) {
        heard += plugin + u'|' + QLatin1StringView(entry) + u'|' + subject;
    };
    PluginFaults faults(QStringLiteral("demo"), m_clock,
        Logger(lines, QStringLiteral("pluginhost")).with("plugin", QStringLiteral("demo")),
        settings, [&](const QString &reason) { over.append(reason); });
    QCOMPARE(faults.last(), QString());
    for (int i = 0; i < 3; ++i)
        faults.fault("slot added", QStringLiteral("v1 Secret"), QStringLiteral("boom %1").arg(i));
    QCOMPARE(over,
        QStringList{
            QStringLiteral("3 faults within 60 s, the last in slot added (v1 Secret): boom 2")});
    QCOMPARE(heard, QStringList(3, QStringLiteral("demo|slot added|v1 Secret")));
    QCOMPARE(faults.count(), quint64(3));
    QCOMPARE(faults.last(), QStringLiteral("boom 2"));
    QCOMPARE(lines.seen.value(0),
        QStringLiteral("1|pluginhost|plugin code threw|plugin=demo|entry=slot added|"
                       "subject=v1 Secret|what=boom 0|faultsSoFar=1"));
    QCOMPARE(lines.seen.size(), 3);
}

void tst_PluginFaults::windowForgets()
{
    int over = 0;
    FaultSettings settings;
    settings.budget = 2;
    settings.window = 10s;
    PluginFaults faults(
        QStringLiteral("demo"), m_clock, Logger(), settings, [&](const QString &) { ++over; });
    faults.fault("timer", QString(), QStringLiteral("a"));
    m_clock.advance(10s);
    QCOMPARE(faults.recent(), 0);
    faults.fault("timer", QString(), QStringLiteral("b"));
    QCOMPARE(over, 0); // the first is out of the window
    m_clock.advance(9s);
    faults.fault("timer", QString(), QStringLiteral("c"));
    QCOMPARE(over, 1);
    QCOMPARE(faults.recent(), 2);
    QCOMPARE(faults.count(), quint64(3));
}

// A timer of a plugin that was given up fires on.
void tst_PluginFaults::toldOnceAMinute()
{
    fake::Lines lines;
    FaultSettings settings;
    settings.budget = 3;
    PluginFaults faults(QStringLiteral("demo"), m_clock,
        Logger(lines, QStringLiteral("pluginhost")), settings, [](const QString &) {});
    const auto throwFor = [&](int faultsOf5ms) {
        for (int i = 0; i < faultsOf5ms; ++i) {
            faults.fault("event", QStringLiteral("QTimer"), QStringLiteral("boom"));
            m_clock.advance(5ms);
        }
    };
    throwFor(12'000); // a minute
    QCOMPARE(lines.seen.size(), 3);
    throwFor(1000);
    QCOMPARE(lines.seen.size(), 4);
    QVERIFY(lines.seen.last().endsWith(QStringLiteral("|faultsSoFar=12003")));
    QCOMPARE(faults.count(), quint64(13'000));
    m_clock.advance(settings.window); // what comes after a rest is told again
    throwFor(5);
    QCOMPARE(lines.seen.size(), 7);
}

void tst_PluginFaults::overdue()
{
    FaultSettings settings;
    settings.callLimit = 60s;
    PluginFaults faults(
        QStringLiteral("demo"), m_clock, Logger(), settings, [](const QString &) {});
    faults.entered("slot updated", QStringLiteral("v1 Pod"));
    m_clock.advance(60s);
    QCOMPARE(faults.overdue(), QString());
    m_clock.advance(1s);
    QCOMPARE(faults.overdue(), QStringLiteral("slot updated (v1 Pod) has not returned for 61 s"));
    QCOMPARE(faults.running(), QStringLiteral("slot updated (v1 Pod)"));
    faults.left();
    QCOMPARE(faults.overdue(), QString());
    QCOMPARE(faults.running(), QString());
    faults.entered("reconcile", QStringLiteral("c a/b")); // may block as long as it likes
    m_clock.advance(10min);
    QCOMPARE(faults.overdue(), QString());
    faults.left();
}

void tst_PluginFaults::nestedAndOtherThreads()
{
    PluginFaults faults(QStringLiteral("demo"), m_clock, Logger(), {}, [](const QString &) {});
    faults.entered("event", QStringLiteral("QTimer"));
    faults.entered("slot added", QStringLiteral("v1 Pod"));
    std::thread other([&] {
        faults.entered("reconcile", QStringLiteral("c a/b"));
        faults.left();
    });
    other.join();
    QCOMPARE(faults.running(), QStringLiteral("slot added (v1 Pod)")); // not the frame around it
    faults.left();
    QCOMPARE(faults.running(), QString());
    faults.left();
    faults.left(); // one too many does no harm
}

// What the last words of the process name: the innermost call of the thread, of whichever plugin.
void tst_PluginFaults::runningHere()
{
    const auto here = [] {
        const RunningCode code = PluginFaults::runningHere();
        return code.entry ? QByteArray(code.pluginId) + ' ' + code.entry : QByteArray("none");
    };
    PluginFaults demo(QStringLiteral("demo"), m_clock, Logger(), {}, [](const QString &) {});
    PluginFaults other(QStringLiteral("other"), m_clock, Logger(), {}, [](const QString &) {});
    QCOMPARE(here(), QByteArray("none"));
    demo.entered("event", QString());
    demo.entered("slot added", QString());
    QCOMPARE(here(), QByteArray("demo slot added"));
    other.entered("predicate", QString());
    QCOMPARE(here(), QByteArray("other predicate"));
    QByteArray elsewhere;
    std::thread([&] { elsewhere = here(); }).join();
    QCOMPARE(elsewhere, QByteArray("none"));
    other.left();
    QCOMPARE(here(), QByteArray("demo slot added"));
    demo.left();
    QCOMPARE(here(), QByteArray("demo event"));
    demo.left();
    QCOMPARE(here(), QByteArray("none"));
}

void tst_PluginFaults::manyThreads()
{
    std::atomic<int> over{0};
    PluginFaults faults(
        QStringLiteral("demo"), m_clock, Logger(), {}, [&](const QString &) { ++over; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i)
                priv::pluginCall(faults, "reconcile", QStringLiteral("k"), [i] {
                    if (i % 5 == 0)
                        throw std::runtime_error("now and then");
                });
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(faults.count(), quint64(400));
    QCOMPARE(over.load(), 391); // from the tenth on
    QCOMPARE(faults.running(), QString());
}

QTEST_GUILESS_MAIN(tst_PluginFaults)
#include "tst_pluginfaults.moc"
