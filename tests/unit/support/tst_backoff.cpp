#include <support/backoff.h>
#include <testing/manualclock.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace std::chrono_literals;
using davit::support::Backoff;
using davit::support::BackoffSettings;
using davit::testing::ManualClock;

class tst_Backoff : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void sequence_R1();
    void lastResetDoesNotMove_R3_T18();
    void constant_R4();
    void steps_R4_data();
    void steps_R4();
    void fiveRounds_R5_T17();
    void jitterBounds();
    void neverOverflows_B35();
    void resetAtOnce();
};

namespace {

BackoffSettings withoutJitter()
{
    BackoffSettings settings;
    settings.jitter = 0;
    return settings;
}

} // namespace

void tst_Backoff::sequence_R1()
{
    ManualClock clock;
    Backoff backoff(clock, withoutJitter());
    for (const auto want : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms})
        QCOMPARE(backoff.next().count(), std::chrono::nanoseconds(want).count());
}

// Failing for five minutes, each attempt after its delay: the base falls back whenever more than
// two minutes have passed since the last reset, however busy the time between was.
void tst_Backoff::lastResetDoesNotMove_R3_T18()
{
    ManualClock clock;
    Backoff backoff(clock, withoutJitter());
    auto lastReset = clock.monotonic();
    int resets = 0;
    for (auto delay = backoff.next(); clock.monotonic() < 5min; delay = backoff.next()) {
        if (clock.monotonic() - lastReset > 2min) {
            QCOMPARE(delay.count(), std::chrono::nanoseconds(800ms).count());
            lastReset = clock.monotonic();
            ++resets;
        }
        clock.advance(delay);
    }
    QCOMPARE(resets, 2);

    ManualClock exact;
    Backoff strict(exact, withoutJitter());
    strict.next();
    exact.advance(2min); // not more than two minutes
    QCOMPARE(strict.next().count(), std::chrono::nanoseconds(1600ms).count());
    exact.advance(1ns);
    QCOMPARE(strict.next().count(), std::chrono::nanoseconds(800ms).count());
}

// As wait.Backoff: after so many calls the delay grows no more, till it begins anew.
void tst_Backoff::steps_R4_data()
{
    QTest::addColumn<int>("steps");
    QTest::addColumn<QList<int>>("delays"); // ms; two minutes pass before the last
    QTest::newRow("none: constant") << 0 << QList<int>{10, 10, 10, 10};
    QTest::newRow("one") << 1 << QList<int>{10, 20, 20, 10};
    QTest::newRow("two") << 2 << QList<int>{10, 20, 40, 40, 10};
    QTest::newRow("the cap binds first") << 9 << QList<int>{10, 20, 40, 80, 100, 100, 10};
}

void tst_Backoff::steps_R4()
{
    QFETCH(const int, steps);
    QFETCH(const QList<int>, delays);
    ManualClock clock;
    Backoff backoff(clock, {10ms, 2.0, 0.0, 100ms, 2min, steps});
    QList<int> seen;
    for (qsizetype i = 0; i < delays.size(); ++i) {
        if (i == delays.size() - 1)
            clock.advance(2min + 1ns);
        seen += int(backoff.next() / 1ms);
    }
    QCOMPARE(seen, delays);
}

void tst_Backoff::constant_R4()
{
    ManualClock clock;
    BackoffSettings settings = withoutJitter();
    settings.factor = 0;
    Backoff backoff(clock, settings);
    for (int i = 0; i < 5; ++i) {
        QCOMPARE(backoff.next().count(), std::chrono::nanoseconds(800ms).count());
        clock.advance(3min);
    }
}

void tst_Backoff::fiveRounds_R5_T17()
{
    ManualClock clock;
    Backoff backoff(clock, {10ms, 2.0, 0.0, 100ms, 2min});
    std::chrono::nanoseconds total{0};
    for (int round = 0; round < 5; ++round)
        total += backoff.next();
    QCOMPARE(total.count(), std::chrono::nanoseconds(250ms).count());
}

void tst_Backoff::jitterBounds()
{
    ManualClock clock;
    double random = 0;
    Backoff backoff(clock, {}, [&random] { return random; });
    QCOMPARE(backoff.next().count(), std::chrono::nanoseconds(800ms).count());
    random = 0.5;
    QCOMPARE(backoff.next().count(), std::chrono::nanoseconds(2400ms).count());
    random = 0.999999;
    QVERIFY(backoff.next() < 6400ms);
}

void tst_Backoff::neverOverflows_B35()
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B35-backoff.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray expect
        = QJsonDocument::fromJson(file.readAll()).object()[QLatin1String("expect")].toArray();
    QVERIFY(expect.size() > 10);
    ManualClock clock;
    Backoff backoff(clock, {5ms, 2.0, 0.0, 1000s, 0ns});
    int failure = 0;
    std::chrono::nanoseconds delay{0};
    for (const auto &row : expect) {
        const QJsonObject want = row.toObject();
        // 2^31 steps are a minute of looping; past 100000 nothing can change any more.
        const int target = std::min(want[QLatin1String("failure")].toInt(), 100'000);
        for (; failure < target; ++failure) {
            const auto before = delay;
            delay = backoff.next();
            QVERIFY(delay > 0ns && delay >= before);
        }
        QCOMPARE(double(delay.count()) / 1e6, want[QLatin1String("delay_ms")].toDouble());
    }
}

void tst_Backoff::resetAtOnce()
{
    ManualClock clock;
    Backoff backoff(clock, withoutJitter());
    backoff.next();
    backoff.next();
    backoff.reset();
    QCOMPARE(backoff.next().count(), std::chrono::nanoseconds(800ms).count());
}

QTEST_GUILESS_MAIN(tst_Backoff)
#include "tst_backoff.moc"
