#include "scripted.h"
#include "transport/retryingtransport.h"

#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

using namespace scripted;

Q_DECLARE_METATYPE(scripted::Answer)

class tst_RetryingTransport : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void tries_data();
    void tries();
    void waitsAsLongAsTold_data();
    void waitsAsLongAsTold();
    void givesUpAfterTen();
    void totalDeadlineCoversAllTries();
    void closedWhileWaiting();
    void watchesArePassedOn_data();
    void watchesArePassedOn();
};

void tst_RetryingTransport::tries_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QList<Answer>>("answers");
    QTest::addColumn<int>("asked");
    QTest::addColumn<QByteArrayList>("heard");
    using A = QList<Answer>;
    using L = QByteArrayList;
    const Answer ok{200, -1, ErrorCode::Unset};
    const L good{"200", "body", "end"};

    QTest::newRow("success") << "GET"_ba << A{ok} << 1 << good;
    QTest::newRow("C-8 429 once") << "GET"_ba << A{{429, 1}, ok} << 2 << good;
    QTest::newRow("C-8 429 to a write") << "POST"_ba << A{{429, 1}, ok} << 2 << good;
    QTest::newRow("C-8 503 to a write") << "DELETE"_ba << A{{503, 1}, ok} << 2 << good;
    QTest::newRow("C-8 Retry-After 0") << "GET"_ba << A{{429, 0}, ok} << 2 << good;
    QTest::newRow("C-8 no Retry-After")
        << "GET"_ba << A{{429, -1}, ok} << 1 << L{"429", "body", "end"};
    QTest::newRow("told to wait for an hour: whoever asked must know")
        << "GET"_ba << A{{503, 3600}, ok} << 1 << L{"503", "body", "end"};
    QTest::newRow("C-8 500 to a read") << "GET"_ba << A{{500, 1}, ok} << 2 << good;
    QTest::newRow("500 to a write: its outcome is unknown")
        << "PUT"_ba << A{{500, 1}, ok} << 1 << L{"500", "body", "end"};
    QTest::newRow("T90 C-8 500 to a write without Retry-After")
        << "POST"_ba << A{{500, -1}, ok} << 1 << L{"500", "body", "end"};
    QTest::newRow("504 to a write")
        << "PATCH"_ba << A{{504, 1}, ok} << 1 << L{"504", "body", "end"};
    QTest::newRow("409 is an answer")
        << "PUT"_ba << A{{409, 1}, ok} << 1 << L{"409", "body", "end"};
    QTest::newRow("T91 C-9 a read on a broken connection")
        << "GET"_ba << A{{0, -1, ErrorCode::ConnectionLost}, ok} << 2 << good;
    QTest::newRow("C-9 broken after the head")
        << "GET"_ba << A{{200, -1, ErrorCode::ConnectionLost}, ok} << 1
        << L{"200", "body", "broken"};
    QTest::newRow("T91 C-9 a write on a broken connection")
        << "POST"_ba << A{{0, -1, ErrorCode::OutcomeUnknown}, ok} << 1 << L{"broken"};
    QTest::newRow("refused is no reset")
        << "GET"_ba << A{{0, -1, ErrorCode::ConnectionRefused}, ok} << 1 << L{"broken"};
    QTest::newRow("a time-out is not repeated")
        << "GET"_ba << A{{0, -1, ErrorCode::Timeout}, ok} << 1 << L{"broken"};
    QTest::newRow("C-11 the last error tells of the tries")
        << "GET"_ba
        << A{{429, 1}, {0, -1, ErrorCode::ConnectionLost}, {0, -1, ErrorCode::ConnectionRefused}}
        << 3 << L{"broken (after 3 tries; error from a previous attempt: broken)"};
    QTest::newRow("a refusal whose body is cut")
        << "GET"_ba << A{{429, 1, ErrorCode::ConnectionLost}, ok} << 2 << good;
}

void tst_RetryingTransport::tries()
{
    QFETCH(const QByteArray, method);
    QFETCH(const QList<Answer>, answers);
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(std::make_unique<ScriptedTransport>(answers, time, asked), time);
    Log log;
    Request request;
    request.method = method;
    const auto exchange = transport.start(request, executor, log);
    for (int i = 0; i < 5; ++i) {
        executor.run();
        time.advance(1s);
    }
    QTEST(int(asked.size()), "asked");
    QTEST(log.text, "heard");
}

void tst_RetryingTransport::waitsAsLongAsTold_data()
{
    QTest::addColumn<QList<Answer>>("answers");
    QTest::addColumn<QList<int>>("sentAt"); // ms
    QTest::addColumn<QList<int>>("retries"); // what each try before the last was answered with
    QTest::newRow("T89 C-8 429 twice") << QList<Answer>{{429, 1}, {429, 1}, {200}}
                                       << QList<int>{0, 1000, 2000} << QList<int>{429, 429};
    QTest::newRow("B25 C-9 as told, and a second where nobody tells")
        << QList<Answer>{{429, 3}, {0, -1, ErrorCode::ConnectionLost}, {200}}
        << QList<int>{0, 3000, 4000} << QList<int>{429, 0};
}

void tst_RetryingTransport::waitsAsLongAsTold()
{
    QFETCH(const QList<Answer>, answers);
    QFETCH(const QList<int>, sentAt);
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(std::make_unique<ScriptedTransport>(answers, time, asked), time);
    Log log;
    const auto exchange = transport.start({}, executor, log);
    for (int i = 0; i < 100; ++i) {
        executor.run();
        time.advance(100ms);
    }
    QList<int> sent;
    for (const auto &each : asked)
        sent.append(int(each.at / 1ms));
    QCOMPARE(sent, sentAt);
    QTEST(log.retries, "retries");
    QList<int> waits;
    for (int i = 1; i < sentAt.size(); ++i)
        waits.append(sentAt[i] - sentAt[i - 1]);
    QCOMPARE(log.waits, waits);
    QCOMPARE(log.text, (QByteArrayList{"200", "body", "end"}));
}

// C-7
void tst_RetryingTransport::givesUpAfterTen()
{
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(
        std::make_unique<ScriptedTransport>(QList<Answer>{{429, 1}}, time, asked), time);
    Log log;
    const auto exchange = transport.start({}, executor, log);
    for (int i = 0; i < 20; ++i) {
        executor.run();
        time.advance(1s);
    }
    QCOMPARE(asked.size(), size_t(11));
    QCOMPARE(log.text, (QByteArrayList{"429", "body", "end"}));
}

void tst_RetryingTransport::totalDeadlineCoversAllTries()
{
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(
        std::make_unique<ScriptedTransport>(QList<Answer>{{429, 3}}, time, asked), time);
    Log log;
    Request request;
    request.totalDeadline = 5s;
    const auto exchange = transport.start(request, executor, log);
    for (int i = 0; i < 10; ++i) {
        executor.run();
        time.advance(1s);
    }
    QCOMPARE(asked.size(), size_t(2)); // the second wait would end after the deadline
    QCOMPARE(asked[1].totalDeadline, std::chrono::milliseconds(2s));
    QCOMPARE(log.text, (QByteArrayList{"429", "body", "end"}));
}

void tst_RetryingTransport::closedWhileWaiting()
{
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(
        std::make_unique<ScriptedTransport>(QList<Answer>{{429, 3}}, time, asked), time);
    Log log;
    auto exchange = transport.start({}, executor, log);
    executor.run();
    QCOMPARE(time.waiting(), size_t(1));
    exchange.reset();
    QCOMPARE(time.waiting(), size_t(0)); // the executor may be gone now
    time.advance(10s);
    executor.run();
    QCOMPARE(asked.size(), size_t(1));
    QVERIFY(log.text.isEmpty());
}

void tst_RetryingTransport::watchesArePassedOn_data()
{
    QTest::addColumn<int>("channel");
    QTest::newRow("B25 watch") << int(Channel::Watch);
    QTest::newRow("B45 lease") << int(Channel::Lease);
}

void tst_RetryingTransport::watchesArePassedOn()
{
    QFETCH(const int, channel);
    ManualExecutor executor;
    ManualTime time;
    std::vector<ScriptedTransport::Asked> asked;
    RetryingTransport transport(
        std::make_unique<ScriptedTransport>(QList<Answer>{{429, 1}}, time, asked), time);
    Log log;
    Request request;
    request.channel = Channel(channel);
    const auto exchange = transport.start(request, executor, log);
    executor.run();
    QCOMPARE(log.text, (QByteArrayList{"429", "body", "end"}));
}

QTEST_GUILESS_MAIN(tst_RetryingTransport)
#include "tst_retryingtransport.moc"
