// A write is executed once, whatever happens to its connection, and the caller is told that nobody
// knows.
#include "rawserver.h"
#include "recorder.h"
#include "tlsfixture.h"

#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

class tst_WriteOnce : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cutAfterExecution_data();
    void cutAfterExecution();
    void cutInsideTheAnswer_data();
    void cutInsideTheAnswer();
    void largeBody();
    void withoutPermit_data();
    void withoutPermit();
};

// Time that stands still for so many looks, and is far ahead afterwards: as for a process that was
// stopped just then.
class JumpingTime final : public support::TimeSource
{
public:
    explicit JumpingTime(int looks) : m_looks(looks) { }
    Nanoseconds monotonic() const override
    {
        return std::chrono::hours(m_looks.fetch_sub(1) > 0 ? 0 : 1);
    }
    Nanoseconds utc() const override { return Nanoseconds(0); }
    TimerId callAfter(Nanoseconds, support::Executor &, support::Executor::Work) override
    {
        return 0;
    }
    void cancel(TimerId) override { }

private:
    mutable std::atomic<int> m_looks;
};

enum class Cut : quint8 { Close, Reset };

void tst_WriteOnce::cutAfterExecution_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<bool>("isTls");
    QTest::addColumn<bool>("isReused"); // the connection served a read before
    QTest::addColumn<Cut>("cut");
    for (const QByteArray &method : {"POST"_ba, "PUT"_ba, "PATCH"_ba, "DELETE"_ba}) {
        for (const bool isTls : {false, true}) {
            for (const bool isReused : {false, true}) {
                for (const Cut cut : {Cut::Close, Cut::Reset}) {
                    QTest::addRow("%s %s, %s connection, %s", method.constData(),
                        isTls ? "TLS" : "plain", isReused ? "reused" : "fresh",
                        cut == Cut::Close ? "closed" : "reset")
                        << method << isTls << isReused << cut;
                }
            }
        }
    }
}

void tst_WriteOnce::cutAfterExecution()
{
    QFETCH(const QByteArray, method);
    QFETCH(const bool, isTls);
    QFETCH(const bool, isReused);
    QFETCH(const Cut, cut);
    std::atomic<int> executions{0};
    std::atomic<int> connectionOfWrite{-1};
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                if (request.method == "GET") {
                    connection.answer(200, "{}"_ba);
                    continue;
                }
                if (++executions > 1) { // what an ordinary client would take for success
                    connection.answer(200, "{}"_ba);
                    continue;
                }
                connectionOfWrite = connection.index();
                if (cut == Cut::Reset)
                    connection.reset();
                return;
            }
        },
        isTls ? std::optional(serverTls()) : std::nullopt);
    const auto transport
        = makeQnamTransport(isTls ? tlsConfig(server.port()) : plainConfig(server.port()));
    Caller caller(*transport);
    if (isReused) {
        Recorder warmUp;
        const auto exchange = caller.start(Request{}, warmUp);
        QVERIFY(warmUp.waitForEnd());
        QVERIFY2(!warmUp.error().isError(), qPrintable(warmUp.error().message()));
    }
    Request request;
    request.method = method;
    request.target = "/api/v1/namespaces/a/configmaps/x"_ba;
    if (method != "DELETE")
        request.body = "{\"kind\":\"ConfigMap\"}"_ba;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::OutcomeUnknown);
    QCOMPARE(recorder.head().httpStatus, 0);
    QTest::qWait(50); // time for a second try, if there were one
    QCOMPARE(executions.load(), 1);
    if (isReused)
        QCOMPARE(connectionOfWrite.load(), 0);
}

void tst_WriteOnce::cutInsideTheAnswer_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("inside the status line") << "HTTP/1.1 2"_ba;
    QTest::newRow("inside the head") << "HTTP/1.1 201 Created\r\nContent-Le"_ba;
    QTest::newRow("inside the body") << "HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{"_ba;
    QTest::newRow("inside a chunk") << "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n9\r\n{"_ba;
}

void tst_WriteOnce::cutInsideTheAnswer()
{
    QFETCH(const QByteArray, bytes);
    std::atomic<int> executions{0};
    RawServer server([&](RawConnection &connection) {
        RawRequest request;
        if (!connection.read(request))
            return;
        ++executions;
        connection.write(bytes);
    });
    const auto transport = makeQnamTransport(plainConfig(server.port()));
    Caller caller(*transport);
    Request request;
    request.method = "POST"_ba;
    request.target = "/x"_ba;
    request.body = "{}"_ba;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::OutcomeUnknown);
    QTest::qWait(50);
    QCOMPARE(executions.load(), 1);
}

void tst_WriteOnce::largeBody()
{
    QByteArray seen;
    std::mutex mutex;
    RawServer server([&](RawConnection &connection) {
        RawRequest request;
        while (connection.read(request)) {
            const std::lock_guard lock(mutex);
            seen = request.body;
            connection.answer(201, "{}"_ba);
        }
    });
    const auto transport = makeQnamTransport(plainConfig(server.port()));
    Caller caller(*transport);
    Request request;
    request.method = "POST"_ba;
    request.target = "/x"_ba;
    for (int i = 0; i < 200'000; ++i)
        request.body += QByteArray::number(i) + ',';
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    const std::lock_guard lock(mutex);
    QVERIFY(seen == request.body);
}

// L-15: the permit is looked at when the request has its connection, and when Qt takes the body.
void tst_WriteOnce::withoutPermit_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<int>("looks"); // at the clock, the one that gives the permit included
    QTest::addColumn<bool>("isExecuted");
    for (const QByteArray &method : {"POST"_ba, "DELETE"_ba}) {
        QTest::addRow("%s, gone before it is sent", method.constData()) << method << 1 << false;
        QTest::addRow("%s, gone when the body is taken", method.constData())
            << method << 2 << false;
        QTest::addRow("%s, valid", method.constData()) << method << 1000 << true;
    }
}

void tst_WriteOnce::withoutPermit()
{
    QFETCH(const QByteArray, method);
    QFETCH(const int, looks);
    QFETCH(const bool, isExecuted);
    std::atomic<int> executions{0};
    RawServer server([&](RawConnection &connection) {
        RawRequest request;
        while (connection.read(request)) { // whole ones
            ++executions;
            connection.answer(200, "{}"_ba);
        }
    });
    JumpingTime time(looks);
    const auto permit = std::make_shared<support::Permit>(time, u"someone else leads"_s);
    QVERIFY(permit->extend(std::chrono::seconds(10)));
    const auto transport = makeQnamTransport(plainConfig(server.port()));
    Caller caller(*transport);
    Request request;
    request.method = method;
    request.target = "/api/v1/namespaces/a/configmaps/x"_ba;
    if (method != "DELETE")
        request.body = "{\"kind\":\"ConfigMap\"}"_ba;
    request.permit = permit;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(executions.load(), isExecuted ? 1 : 0);
    if (isExecuted) {
        QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
        return;
    }
    QCOMPARE(recorder.error().code(), ErrorCode::Canceled);
    QVERIFY2(recorder.error().message().endsWith(
                 u"/api/v1/namespaces/a/configmaps/x: it was not sent: someone else leads"_s),
        qPrintable(recorder.error().message()));
    // The transport goes on with what may be sent.
    Request next;
    Recorder nextRecorder;
    const auto nextExchange = caller.start(next, nextRecorder);
    QVERIFY(nextRecorder.waitForEnd());
    QVERIFY2(!nextRecorder.error().isError(), qPrintable(nextRecorder.error().message()));
    QCOMPARE(executions.load(), 1);
}

QTEST_GUILESS_MAIN(tst_WriteOnce)
#include "tst_writeonce.moc"
