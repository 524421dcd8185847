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

QTEST_GUILESS_MAIN(tst_WriteOnce)
#include "tst_writeonce.moc"
