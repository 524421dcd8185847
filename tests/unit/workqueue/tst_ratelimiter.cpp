#include "testing/manualclock.h"
#include "workqueue/ratelimiter.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace davit;
using namespace davit::workqueue;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

using Story = std::function<void()>;

const WorkKey kOne{{QString(), QStringLiteral("one")}, QString()};
const WorkKey kTwo{{QString(), QStringLiteral("two")}, QString()};

void exponential() // T75, W-14
{
    ExponentialLimiter limiter(1ms, 1000s);
    for (const nanoseconds want : {1ms, 2ms, 4ms, 8ms, 16ms})
        QVERIFY(limiter.when(kOne) == want);
    QCOMPARE(limiter.requeues(kOne), 5);
    QVERIFY(limiter.when(kTwo) == 1ms);
    limiter.forget(kOne);
    QVERIFY(limiter.when(kOne) == 1ms);
    QCOMPARE(limiter.requeues(kOne), 1);
    QCOMPARE(limiter.rememberedKeys(), 2);
    limiter.setDelays(3ms, 5ms);
    QVERIFY(limiter.when(kOne) == 5ms);
}

void fastSlow() // T76
{
    FastSlowLimiter limiter(5ms, 10s, 3);
    for (const nanoseconds want :
        {nanoseconds(5ms), nanoseconds(5ms), nanoseconds(5ms), nanoseconds(10s), nanoseconds(10s)})
        QVERIFY(limiter.when(kOne) == want);
    QCOMPARE(limiter.requeues(kOne), 5);
    limiter.forget(kOne);
    QVERIFY(limiter.when(kOne) == 5ms);
}

void bucket()
{
    testing::ManualClock time;
    BucketLimiter limiter(time, 10, 2);
    QVERIFY(limiter.when(kOne) == 0ns);
    QVERIFY(limiter.when(kTwo) == 0ns);
    QVERIFY(limiter.when(kOne) == 100ms);
    QVERIFY(limiter.when(kOne) == 200ms);
    time.advance(200ms);
    QVERIFY(limiter.when(kOne) == 100ms);
    time.advance(1h); // never more than the burst
    QVERIFY(limiter.when(kOne) == 0ns);
    QVERIFY(limiter.when(kOne) == 0ns);
    QVERIFY(limiter.when(kOne) == 100ms);
    QCOMPARE(limiter.requeues(kOne), 0);
}

void maxOf()
{
    std::vector<std::unique_ptr<RateLimiter>> limiters;
    limiters.push_back(std::make_unique<FastSlowLimiter>(5ms, 3s, 3));
    limiters.push_back(std::make_unique<ExponentialLimiter>(1ms, 1s));
    MaxOfLimiter limiter(std::move(limiters));
    for (const nanoseconds want : {nanoseconds(5ms), nanoseconds(5ms), nanoseconds(5ms),
             nanoseconds(3s)}) // each asked every time
        QVERIFY(limiter.when(kOne) == want);
    QCOMPARE(limiter.requeues(kOne), 4);
    limiter.forget(kOne);
    QVERIFY(limiter.when(kOne) == 5ms);
}

void maxWait()
{
    MaxWaitLimiter limiter(std::make_unique<ExponentialLimiter>(1ms, 1000s), 3ms);
    for (const nanoseconds want : {1ms, 2ms, 3ms, 3ms})
        QVERIFY(limiter.when(kOne) == want);
    QCOMPARE(limiter.requeues(kOne), 4);
}

void presets()
{
    testing::ManualClock time;
    const std::unique_ptr<RateLimiter> controller = defaultControllerLimiter(time);
    for (int i = 0; i < 100; ++i)
        QVERIFY(controller->when({{QString(), QString::number(i)}, QString()}) == 5ms);
    QVERIFY(controller->when(kOne) == 100ms); // the bucket is empty
    QVERIFY(defaultItemLimiter()->when(kOne) == 1ms);
}

void neverShrinks() // B35
{
    ExponentialLimiter limiter(5ms, 1000s);
    nanoseconds last{0};
    for (int i = 0; i < 1000; ++i) {
        const nanoseconds delay = limiter.when(kOne);
        QVERIFY(delay >= last && delay > 0ns && delay <= 1000s);
        last = delay;
    }
    const nanoseconds greatest = nanoseconds::max();
    QVERIFY(ExponentialLimiter::delay(1ns, greatest, 62) == nanoseconds(qint64(1) << 62));
    QVERIFY(ExponentialLimiter::delay(3ns, greatest, 62) == greatest);
    QVERIFY(ExponentialLimiter::delay(10s, 1s, 0) == 1s);
}

} // namespace

class tst_RateLimiter : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void stories_data();
    void stories();
    void neverOverflows_data();
    void neverOverflows();
};

void tst_RateLimiter::stories_data()
{
    QTest::addColumn<Story>("story");
    QTest::newRow("T75: exponential") << Story(exponential);
    QTest::newRow("T76: fast, then slow") << Story(fastSlow);
    QTest::newRow("6.3: bucket") << Story(bucket);
    QTest::newRow("6.3: the greatest of several") << Story(maxOf);
    QTest::newRow("6.3: a longest wait") << Story(maxWait);
    QTest::newRow("6.3: presets") << Story(presets);
    QTest::newRow("B35: delays never shrink") << Story(neverShrinks);
}

void tst_RateLimiter::stories()
{
    QFETCH(const Story, story);
    story();
}

void tst_RateLimiter::neverOverflows_data() // B35
{
    QTest::addColumn<qint64>("failure"); // the how manyth
    QTest::addColumn<qint64>("delayMs");
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B35-backoff.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray rows
        = QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("expect")].toArray();
    QVERIFY(rows.size() > 10);
    for (const auto &row : rows) {
        const qint64 failure = row[QStringLiteral("failure")].toInteger();
        QTest::addRow("B35 failure %lld", failure)
            << failure << row[QStringLiteral("delay_ms")].toInteger();
    }
    QTest::newRow("B35 more than any counter")
        << std::numeric_limits<qint64>::max() << qint64(1'000'000);
}

void tst_RateLimiter::neverOverflows()
{
    QFETCH(const qint64, failure);
    const nanoseconds delay = ExponentialLimiter::delay(5ms, 1000s, failure - 1);
    QTEST(qint64(std::chrono::duration_cast<std::chrono::milliseconds>(delay).count()), "delayMs");
}

QTEST_GUILESS_MAIN(tst_RateLimiter)
#include "tst_ratelimiter.moc"
