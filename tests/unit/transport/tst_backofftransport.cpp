#include "scripted.h"
#include "transport/backofftransport.h"
#include "transport/retryingtransport.h"

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
    BackoffTransport transport;

    Bench(const QList<Answer> &answers, const HostBackoff &backoff)
        : transport(std::make_unique<ScriptedTransport>(answers, time, asked), time, backoff,
            [this](const Request &, std::chrono::nanoseconds wait) { waits.push_back(wait); })
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
    void pass(std::chrono::nanoseconds by)
    {
        time.advance(by);
        executor.run();
    }
    QList<int> secondsAsked() const
    {
        QList<int> all;
        for (const ScriptedTransport::Asked &each : asked)
            all.append(int(each.at / 1s));
        return all;
    }
};

} // namespace

Q_DECLARE_METATYPE(Answer)

class tst_BackoffTransport : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void delays_data();
    void delays();
    void channels_data();
    void channels();
    void besideRetryAfter_data();
    void besideRetryAfter();
    void deadline();
    void letGoWhileWaiting();
};

// C-13, of requests that are made one after the other, each as soon as the one before has ended.
void tst_BackoffTransport::delays_data()
{
    QTest::addColumn<QList<Answer>>("answers");
    QTest::addColumn<QList<int>>("pauses"); // before each further request, seconds
    QTest::addColumn<QList<int>>("askedAt"); // seconds
    using A = QList<Answer>;
    using L = QList<int>;
    const Answer good{200};
    const Answer busy{429};
    const Answer sick{500};
    const Answer broken{0, -1, ErrorCode::ConnectionLost};
    const L none{0, 0, 0, 0, 0};
    QTest::newRow("good answers") << A{good} << L{0, 0} << L{0, 0, 0};
    QTest::newRow("429: base, doubled, up to the longest")
        << A{busy} << none << L{0, 2, 6, 14, 24, 34};
    QTest::newRow("5xx") << A{sick} << L{0, 0} << L{0, 2, 6};
    QTest::newRow("599") << A{{599}} << L{0} << L{0, 2};
    QTest::newRow("no answer") << A{broken} << L{0, 0} << L{0, 2, 6};
    QTest::newRow("nothing listens") << A{{0, -1, ErrorCode::ConnectionRefused}} << L{0} << L{0, 2};
    QTest::newRow("a deadline") << A{{0, -1, ErrorCode::Timeout}} << L{0} << L{0, 2};
    QTest::newRow("404 is an answer") << A{{404}} << L{0, 0} << L{0, 0, 0};
    QTest::newRow("499 is an answer") << A{{499}} << L{0} << L{0, 0};
    QTest::newRow("nothing was sent") << A{{0, -1, ErrorCode::InvalidArgument}} << L{0} << L{0, 0};
    QTest::newRow("canceled") << A{{0, -1, ErrorCode::Canceled}} << L{0} << L{0, 0};
    QTest::newRow("cut after its head: as the head says")
        << A{{200, -1, ErrorCode::ConnectionLost}} << L{0} << L{0, 0};
    QTest::newRow("a good one ends it")
        << A{busy, busy, good, busy} << none << L{0, 2, 6, 6, 8, 12};
    QTest::newRow("the time since the fault counts") << A{busy} << L{1, 3, 9} << L{0, 2, 6, 15};
    QTest::newRow("after twice the longest it begins anew")
        << A{busy} << L{0, 0, 21, 0} << L{0, 2, 6, 27, 29};
}

void tst_BackoffTransport::delays()
{
    QFETCH(const QList<Answer>, answers);
    QFETCH(const QList<int>, pauses);
    Bench bench(answers, {2s, 10s});
    std::vector<Log> logs(std::size_t(pauses.size() + 1));
    std::unique_ptr<Exchange> exchange;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        if (i > 0)
            bench.pass(std::chrono::seconds(pauses[qsizetype(i) - 1]));
        exchange = bench.start(logs[i]);
        bench.executor.run();
        for (int waited = 0; waited < 20 && logs[i].text.isEmpty(); ++waited)
            bench.pass(1s);
        QVERIFY(!logs[i].text.isEmpty());
    }
    QTEST(bench.secondsAsked(), "askedAt");
    QCOMPARE(bench.time.waiting(), size_t(0));
}

void tst_BackoffTransport::channels_data()
{
    QTest::addColumn<Channel>("channel");
    QTest::addColumn<bool>("isDelayed");
    QTest::newRow("a call") << Channel::Call << true;
    QTest::newRow("a list") << Channel::List << true;
    QTest::newRow("B45 a lease renewal") << Channel::Lease << false;
    QTest::newRow("a watch") << Channel::Watch << false;
}

void tst_BackoffTransport::channels()
{
    QFETCH(const Channel, channel);
    QFETCH(const bool, isDelayed);
    Bench bench({{503}}, {2s, 10s});
    Log first;
    Log second;
    Log third;
    const auto a = bench.start(first);
    bench.executor.run();
    const auto b = bench.start(second, channel);
    bench.executor.run();
    QCOMPARE(second.text.isEmpty(), isDelayed);
    QCOMPARE(bench.waits.size(), size_t(isDelayed ? 1 : 0));
    bench.pass(2s);
    const auto c = bench.start(third);
    bench.executor.run();
    QCOMPARE(third.text.isEmpty(), isDelayed); // what passes counts for nothing
}

// C-11: the longer one of the two.
void tst_BackoffTransport::besideRetryAfter_data()
{
    QTest::addColumn<int>("retryAfter");
    QTest::addColumn<int>("again"); // seconds
    QTest::newRow("shorter than the back-off") << 1 << 2;
    QTest::newRow("longer than it") << 5 << 5;
}

void tst_BackoffTransport::besideRetryAfter()
{
    QFETCH(const int, retryAfter);
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(std::make_unique<BackoffTransport>(
                                    std::make_unique<ScriptedTransport>(
                                        QList<Answer>{{429, retryAfter}, {200}}, time, asked),
                                    time, HostBackoff{2s, 10s}),
        time);
    Log log;
    const auto exchange = transport.start({}, executor, log);
    executor.run();
    for (int i = 0; i < 10; ++i) {
        time.advance(1s);
        executor.run();
    }
    QCOMPARE(asked.size(), size_t(2));
    QTEST(int(asked[1].at / 1s), "again");
    QCOMPARE(log.text, (QByteArrayList{"200", "body", "end"}));
}

void tst_BackoffTransport::deadline()
{
    Bench bench({{503}}, {2s, 10s});
    Log first;
    Log second;
    Log third;
    const auto a = bench.start(first);
    bench.executor.run();
    const auto b = bench.start(second, Channel::Call, 2000ms);
    QVERIFY(second.text.isEmpty()); // never from inside
    bench.executor.run();
    QCOMPARE(second.code, ErrorCode::Timeout);
    QCOMPARE(second.text,
        QByteArrayList{"PATCH scripted/api/v1/pods: it was not sent: the server refused or broke "
                       "what it was asked before, and the next request is due in 2 s, after this "
                       "one's deadline; KUBE_CLIENT_BACKOFF_DURATION is the longest wait"});
    const auto c = bench.start(third, Channel::Call, 5000ms);
    bench.pass(2s); // what was not sent is no fault of the server
    QCOMPARE(bench.asked.size(), size_t(2));
    QCOMPARE(bench.asked[1].totalDeadline, 3000ms);
}

void tst_BackoffTransport::letGoWhileWaiting()
{
    Bench bench({{503}}, {2s, 10s});
    Log first;
    Log second;
    const auto a = bench.start(first);
    bench.executor.run();
    auto b = bench.start(second);
    QCOMPARE(bench.time.waiting(), size_t(1));
    b.reset();
    QCOMPARE(bench.time.waiting(), size_t(0));
    bench.pass(20s);
    QCOMPARE(bench.asked.size(), size_t(1));
    QVERIFY(second.text.isEmpty());
}

QTEST_GUILESS_MAIN(tst_BackoffTransport)
#include "tst_backofftransport.moc"
