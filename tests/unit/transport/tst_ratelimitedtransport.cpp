#include "scripted.h"
#include "transport/ratelimitedtransport.h"

#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace scripted;
using namespace std::chrono_literals;

namespace {

struct Bench
{
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    std::vector<std::chrono::nanoseconds> waits;
    RateLimitedTransport transport;

    Bench(double requestsPerSecond, int burst)
        : transport(std::make_unique<ScriptedTransport>(QList<Answer>{{200}}, time, asked), time,
            {requestsPerSecond, burst,
                [this](const Request &, std::chrono::nanoseconds wait) { waits.push_back(wait); }})
    { }
    std::unique_ptr<Exchange> start(
        Log &log, Channel channel = Channel::Call, std::chrono::milliseconds totalDeadline = 0ms)
    {
        Request request;
        request.method = "PATCH";
        request.target = "/api/v1/pods?limit=1";
        request.channel = channel;
        request.totalDeadline = totalDeadline;
        return transport.start(request, executor, log);
    }
    void pass(std::chrono::nanoseconds time_)
    {
        time.advance(time_);
        executor.run();
    }
    QList<int> millisecondsAsked() const
    {
        QList<int> all;
        for (const ScriptedTransport::Asked &each : asked)
            all.append(int(each.at / 1ms));
        return all;
    }
};

} // namespace

class tst_RateLimitedTransport : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void rates_data();
    void rates();
    void passing_data();
    void passing();
    void deadlineBeforeItsTurn();
    void deadlineCountsTheWait();
    void letGoWhileWaiting();
};

void tst_RateLimitedTransport::rates_data()
{
    QTest::addColumn<double>("requestsPerSecond");
    QTest::addColumn<int>("burst");
    QTest::addColumn<QList<int>>("startedAt"); // milliseconds
    QTest::addColumn<QList<int>>("sentAt");
    using L = QList<int>;
    QTest::newRow("C-1 a burst, then the rate")
        << 5.0 << 2 << L{0, 0, 0, 0, 0} << L{0, 0, 200, 400, 600};
    QTest::newRow("C-1 the bucket fills again, up to the burst")
        << 10.0 << 2 << L{0, 0, 5000, 5000, 5000} << L{0, 0, 5000, 5000, 5100};
    QTest::newRow("slower than the rate") << 10.0 << 1 << L{0, 100, 300} << L{0, 100, 300};
    QTest::newRow("less than one a second") << 0.5 << 1 << L{0, 0} << L{0, 2000};
    QTest::newRow("C-2 negative: no limit") << -1.0 << 1 << L{0, 0, 0} << L{0, 0, 0};
    QTest::newRow("C-3 zero: no limit") << 0.0 << 1 << L{0, 0, 0} << L{0, 0, 0};
    QTest::newRow("a burst below one counts as one") << 10.0 << 0 << L{0, 0} << L{0, 100};
}

void tst_RateLimitedTransport::rates()
{
    QFETCH(const double, requestsPerSecond);
    QFETCH(const int, burst);
    QFETCH(const QList<int>, startedAt);
    Bench bench(requestsPerSecond, burst);
    std::vector<Log> logs(std::size_t(startedAt.size()));
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (int now = 0; now <= 10000; now += 50) {
        for (qsizetype i = 0; i < startedAt.size(); ++i) {
            if (startedAt[i] == now)
                exchanges.push_back(bench.start(logs[std::size_t(i)]));
        }
        bench.executor.run();
        bench.pass(50ms);
    }
    QTEST(bench.millisecondsAsked(), "sentAt");
    for (const Log &log : logs)
        QCOMPARE(log.text, (QByteArrayList{"200", "body", "end"}));
    QCOMPARE(bench.time.waiting(), size_t(0));
}

void tst_RateLimitedTransport::passing_data()
{
    QTest::addColumn<Channel>("channel");
    QTest::addColumn<bool>("waits");
    QTest::newRow("B45 a lease renewal behind a thousand patches") << Channel::Lease << false;
    QTest::newRow("C-4 a watch") << Channel::Watch << false;
    QTest::newRow("a list") << Channel::List << true;
    QTest::newRow("a call") << Channel::Call << true;
}

void tst_RateLimitedTransport::passing()
{
    QFETCH(const Channel, channel);
    QFETCH(const bool, waits);
    Bench bench(1, 1);
    std::vector<Log> patches(1000);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (Log &log : patches)
        exchanges.push_back(bench.start(log));
    Log log;
    const auto exchange = bench.start(log, channel);
    bench.executor.run();
    QCOMPARE(log.text.isEmpty(), waits);
    QCOMPARE(bench.waits.size(), size_t(waits ? 1000 : 999));
    // Nor does it take from those that wait.
    bench.pass(1s);
    QCOMPARE(patches[1].text.size(), qsizetype(3));
    QVERIFY(patches[2].text.isEmpty());
}

void tst_RateLimitedTransport::deadlineBeforeItsTurn()
{
    Bench bench(1, 1);
    Log first;
    Log second;
    Log third;
    const auto a = bench.start(first);
    const auto b = bench.start(second, Channel::Call, 500ms);
    QVERIFY(second.text.isEmpty()); // never from inside
    const auto c = bench.start(third, Channel::Call, 1500ms);
    bench.executor.run();
    QCOMPARE(second.code, ErrorCode::Timeout);
    QCOMPARE(second.text,
        QByteArrayList{"PATCH scripted/api/v1/pods: it was not sent: its turn under the rate limit "
                       "of 1 requests a second comes after its deadline; raise --kube-api-qps"});
    bench.pass(1s); // and it took no token
    QCOMPARE(third.text, (QByteArrayList{"200", "body", "end"}));
}

void tst_RateLimitedTransport::deadlineCountsTheWait()
{
    Bench bench(1, 1);
    Log first;
    Log second;
    const auto a = bench.start(first);
    const auto b = bench.start(second, Channel::Call, 5000ms);
    bench.pass(1s);
    QCOMPARE(bench.asked.at(1).totalDeadline, 4000ms);
}

void tst_RateLimitedTransport::letGoWhileWaiting()
{
    Bench bench(1, 1);
    Log first;
    Log second;
    Log third;
    const auto a = bench.start(first);
    auto b = bench.start(second);
    QCOMPARE(bench.time.waiting(), size_t(1));
    b.reset();
    QCOMPARE(bench.time.waiting(), size_t(0));
    const auto c = bench.start(third);
    bench.pass(1s);
    QVERIFY(second.text.isEmpty());
    QCOMPARE(third.text, (QByteArrayList{"200", "body", "end"})); // in its place
    QCOMPARE(bench.asked.size(), size_t(2));
}

QTEST_GUILESS_MAIN(tst_RateLimitedTransport)
#include "tst_ratelimitedtransport.moc"
