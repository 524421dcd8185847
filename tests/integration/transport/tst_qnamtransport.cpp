#include "calls.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QTest>
#include <algorithm>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

class tst_QnamTransport : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void answers_data();
    void answers();
    void whatIsSent();
    void headWithoutBody();
    void prettyRefusal();
    void brokenAnswers_data();
    void brokenAnswers();
    void refused();
    void redirectIsNotFollowed();
    void cookiesAreNotKept();
    void manyWatches_data();
    void manyWatches();
    void queueKeepsOrder();
    void headDeadline();
    void headlessRefusal_data();
    void headlessRefusal();
    void totalDeadline_data();
    void totalDeadline();
    void silence();
    void healthyWatch();
    void missedHeadReplacesTheShard();
    void destroyedExchangeIsSilent();
    void transportGoesFirst();
};

void tst_QnamTransport::answers_data()
{
    QTest::addColumn<QByteArrayList>("pieces"); // as the server writes them
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    const QByteArray chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"_ba;

    QTest::newRow("content length")
        << QByteArrayList{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"} << 200 << "{}"_ba;
    QTest::newRow("head cut in two")
        << QByteArrayList{"HTTP/1.1 20", "0 OK\r\nContent-Len", "gth: 2\r\n\r\n{", "}"} << 200
        << "{}"_ba;
    QTest::newRow("one chunk") << QByteArrayList{chunkedHead + "2\r\n{}\r\n0\r\n\r\n"} << 200
                               << "{}"_ba;
    QTest::newRow("chunk borders anywhere")
        << QByteArrayList{chunkedHead, "1\r", "\n{\r\n", "1\r\n}", "\r\n0\r\n", "\r\n"} << 200
        << "{}"_ba;
    QTest::newRow("until the connection closes")
        << QByteArrayList{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"} << 200 << "{}"_ba;
    QTest::newRow("no content") << QByteArrayList{"HTTP/1.1 204 No Content\r\n\r\n"} << 204
                                << ""_ba;
    for (const int status : {400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 500, 501,
             502, 503, 504, 599}) {
        QTest::addRow("%d has head and body", status) << QByteArrayList{"HTTP/1.1 "
            + QByteArray::number(status) + " X\r\nContent-Length: 4\r\n\r\nbody"}
                                                      << status << "body"_ba;
    }
}

void tst_QnamTransport::answers()
{
    QFETCH(const QByteArrayList, pieces);
    RawServer server([&](RawConnection &connection) {
        RawRequest request;
        if (!connection.read(request))
            return;
        for (const QByteArray &piece : pieces) {
            connection.write(piece);
            connection.socket().waitForReadyRead(5); // a packet of its own
        }
    });
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(get("/x"_ba), recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    QTEST(recorder.head().httpStatus, "status");
    QTEST(recorder.body(), "body");
}

void tst_QnamTransport::whatIsSent()
{
    std::mutex mutex;
    RawRequest seen;
    RawServer server(answering([&](RawConnection &connection, const RawRequest &request) {
        {
            const std::lock_guard lock(mutex);
            seen = request;
        }
        return connection.answer(200, "{}"_ba,
            "Retry-After: 7\r\nWarning: 299 - \"old\"\r\nWarning: 299 - \"older\"\r\n"_ba);
    }));
    ClusterConfig config = configFor(server.port());
    config.server.setPath(QStringLiteral("/prefix/"));
    config.token = "secret"_ba;
    const auto transport = makeQnamTransport(config);
    QCOMPARE(
        transport->serverName(), QStringLiteral("http://127.0.0.1:%1/prefix/").arg(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    Request request = get("/api/v1/pods?labelSelector=a%2Bb%2Cc%3D%C3%A9&x=%2F~"_ba);
    request.method = "PATCH"_ba;
    request.body = "{\"a\":1}"_ba;
    request.contentType = "application/merge-patch+json"_ba;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());

    const std::lock_guard lock(mutex);
    QCOMPARE(seen.method, "PATCH"_ba);
    QCOMPARE(seen.target, "/prefix/api/v1/pods?labelSelector=a%2Bb%2Cc%3D%C3%A9&x=%2F~"_ba);
    QCOMPARE(seen.body, "{\"a\":1}"_ba);
    QCOMPARE(seen.headers["content-type"], "application/merge-patch+json"_ba);
    QCOMPARE(seen.headers["accept"], "application/json"_ba);
    QCOMPARE(seen.headers["accept-encoding"], "identity"_ba);
    QCOMPARE(seen.headers["authorization"], "Bearer secret"_ba);
    QVERIFY(seen.headers["user-agent"].startsWith("davit/0."));
    QCOMPARE(recorder.head().retryAfter, std::chrono::milliseconds(7s));
    QCOMPARE(recorder.head().warnings, (QList<QByteArray>{"old", "older"}));
}

// A watch without events: the status must not wait for the first one.
void tst_QnamTransport::headWithoutBody()
{
    RawServer server(answering([](RawConnection &connection, const RawRequest &) {
        connection.beginChunked();
        connection.hold();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(get("/w"_ba, Channel::Watch), recorder);
    QVERIFY(recorder.waitForHead());
    QCOMPARE(recorder.head().httpStatus, 200);
    QCOMPARE(recorder.ends(), 0);
}

// B25: the bytes of the case; head first, the body as one document whatever its layout.
void tst_QnamTransport::prettyRefusal()
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B25-429-pretty.http"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    RawServer server(answering([&](RawConnection &connection, const RawRequest &) {
        connection.write(bytes);
        connection.hold();
        return false;
    }));
    const auto transport = makeTransport(configFor(server.port())); // a watch is not retried in it
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(get("/w"_ba, Channel::Watch), recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY(!recorder.error().isError());
    QCOMPARE(recorder.head().httpStatus, 429);
    QCOMPARE(recorder.head().retryAfter, std::chrono::milliseconds(3s));
    QCOMPARE(recorder.body(), bytes.mid(bytes.indexOf("\r\n\r\n") + 4).left(223));
}

void tst_QnamTransport::brokenAnswers_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<bool>("isReset");
    QTest::addColumn<ErrorCode>("code");
    const ErrorCode lost = ErrorCode::ConnectionLost;
    const QByteArray chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n"_ba;
    QTest::newRow("nothing") << ""_ba << false << lost;
    QTest::newRow("half a head") << "HTTP/1.1 200 OK\r\nConte"_ba << false << lost;
    QTest::newRow("content length not reached")
        << "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}"_ba << false << lost;
    QTest::newRow("content length, reset")
        << "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}"_ba << true << lost;
    QTest::newRow("chunk cut") << chunked + "9\r\n{\"a\""_ba << false << lost;
    QTest::newRow("no last chunk") << chunked + "2\r\n[{\r\n"_ba << false << lost;
    QTest::newRow("no last chunk, reset") << chunked + "2\r\n[{\r\n"_ba << true << lost;
    QTest::newRow("last chunk, JSON cut") << chunked + "2\r\n[{\r\n0\r\n\r\n"_ba << false << lost;
    QTest::newRow("error status, body cut")
        << "HTTP/1.1 500 X\r\nContent-Length: 10\r\n\r\n{}"_ba << false << lost;
    const QByteArray gzip = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                            "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "a\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03\r\n"_ba;
    // Qt's limits for a head: it would drop the lines and wait for the end of the connection.
    const QByteArray longHead = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"_ba;
    QTest::newRow("a header line above 100 KiB") << longHead + "X: " + QByteArray(110 * 1024, 'x')
            + "\r\n\r\n{}" << false << ErrorCode::MalformedReply;
    QTest::newRow("more than 100 header lines")
        << longHead + "X: x\r\n"_ba.repeated(100) + "\r\n{}" << false << ErrorCode::MalformedReply;
    QTest::newRow("a head above 256 KiB")
        << longHead + ("X: " + QByteArray(90 * 1024, 'x') + "\r\n").repeated(3) + "\r\n{}" << false
        << ErrorCode::MalformedReply;
    QTest::newRow("gzip cut") << gzip << false << ErrorCode::MalformedReply;
    QTest::newRow("gzip cut, last chunk")
        << gzip + "0\r\n\r\n"_ba << false << ErrorCode::MalformedReply;
    QTest::newRow("gzip, no body") << "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                                      "Content-Length: 0\r\n\r\n"_ba
                                   << false << ErrorCode::MalformedReply;
}

void tst_QnamTransport::brokenAnswers()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const bool, isReset);
    RawServer server(answering([&](RawConnection &connection, const RawRequest &) {
        connection.write(bytes);
        connection.socket().waitForReadyRead(50);
        if (isReset)
            connection.reset();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(get("/x"_ba), recorder);
    QVERIFY(recorder.waitForEnd());
    QTEST(recorder.error().code(), "code");
    const QString start = QStringLiteral("GET http://127.0.0.1:%1/x: ").arg(server.port());
    QVERIFY2(recorder.error().message().startsWith(start), qPrintable(recorder.error().message()));
}

void tst_QnamTransport::refused()
{
    quint16 port = 0;
    {
        RawServer server([](RawConnection &) {});
        port = server.port();
    }
    const auto transport = makeQnamTransport(configFor(port));
    Caller caller(*transport);
    for (const QByteArray &method : {"GET"_ba, "POST"_ba, "DELETE"_ba}) {
        Recorder recorder;
        Request request = get("/x"_ba);
        request.method = method;
        if (method == "POST")
            request.body = "{}"_ba;
        const auto exchange = caller.start(request, recorder);
        QVERIFY(recorder.waitForEnd());
        QCOMPARE(recorder.error().code(), ErrorCode::ConnectionRefused);
    }
}

void tst_QnamTransport::redirectIsNotFollowed()
{
    std::atomic<int> visits{0};
    RawServer other(answering([&](RawConnection &connection, const RawRequest &) {
        ++visits;
        return connection.answer(200, "{}"_ba);
    }));
    const QByteArray location
        = "Location: http://127.0.0.1:" + QByteArray::number(other.port()) + "/y\r\n";
    RawServer server(answering([&](RawConnection &connection, const RawRequest &) {
        return connection.answer(302, "moved"_ba, location);
    }));
    ClusterConfig config = configFor(server.port());
    config.token = "secret"_ba;
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(get("/x"_ba), recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY(!recorder.error().isError());
    QCOMPARE(recorder.head().httpStatus, 302);
    QCOMPARE(recorder.body(), "moved"_ba);
    QCOMPARE(visits.load(), 0);
}

void tst_QnamTransport::cookiesAreNotKept()
{
    std::atomic<bool> sawCookie{false};
    RawServer server(answering([&](RawConnection &connection, const RawRequest &request) {
        if (request.headers.contains("cookie"))
            sawCookie = true;
        return connection.answer(200, "{}"_ba, "Set-Cookie: a=b; Path=/\r\n"_ba);
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    for (int i = 0; i < 2; ++i) {
        Recorder recorder;
        const auto exchange = caller.start(get("/x"_ba), recorder);
        QVERIFY(recorder.waitForEnd());
        QVERIFY(!recorder.error().isError());
    }
    QVERIFY(!sawCookie);
    QCOMPARE(server.connectionCount(), 1); // the connection was kept, though
}

void tst_QnamTransport::manyWatches_data()
{
    QTest::addColumn<int>("watches");
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/B61-seven-watches.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonDocument story = QJsonDocument::fromJson(file.readAll());
    const auto number = [&](QLatin1StringView list, qsizetype line) { // the first in that line
        static const QRegularExpression digits(u"\\d+"_s);
        return digits.match(story[list][line].toString()).captured().toInt();
    };
    QTest::newRow("B61 seven") << number("load"_L1, 0);
    QTest::newRow("B61 fifty") << number("want"_L1, 2);
}

// B61: neither the seventh watch nor a short request, a lease's among them, waits for the watches.
void tst_QnamTransport::manyWatches()
{
    QFETCH(const int, watches);
    QVERIFY(watches > 6); // Qt's connections
    RawServer server(answering([](RawConnection &connection, const RawRequest &request) {
        if (!request.target.startsWith("/w"))
            return connection.answer(200, "{}"_ba);
        connection.beginChunked();
        connection.chunk("{}\n"_ba);
        connection.hold();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    std::vector<Recorder> recorders{std::size_t(watches)};
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (int i = 0; i < watches; ++i) {
        exchanges.push_back(
            caller.start(get("/w" + QByteArray::number(i), Channel::Watch), recorders[size_t(i)]));
    }
    Request lease = get("/lease"_ba, Channel::Lease);
    lease.method = "PUT"_ba;
    lease.body = "{}"_ba;
    std::vector<qint64> milliseconds; // of answers that the server gives at once
    for (int i = 0; i < 20; ++i) {
        for (const Request &request : {get("/x"_ba), get("/x"_ba, Channel::List), lease}) {
            QElapsedTimer timer;
            timer.start();
            Recorder recorder;
            const auto exchange = caller.start(request, recorder);
            QVERIFY(recorder.waitForEnd(2s));
            QVERIFY(!recorder.error().isError());
            milliseconds.push_back(timer.elapsed());
        }
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    QCOMPARE_LT(milliseconds.at(milliseconds.size() / 2), 100); // as the case has it
    for (Recorder &recorder : recorders) {
        QVERIFY(recorder.waitForBytes(3, 2s));
        QCOMPARE(recorder.ends(), 0);
    }
}

void tst_QnamTransport::queueKeepsOrder()
{
    std::mutex mutex;
    QByteArrayList order;
    std::atomic<bool> isOpen{false};
    RawServer server(answering([&](RawConnection &connection, const RawRequest &request) {
        {
            const std::lock_guard lock(mutex);
            order.append(request.target);
        }
        while (!isOpen && !connection.isStopped())
            std::this_thread::sleep_for(1ms);
        return connection.answer(200, "{}"_ba);
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    std::vector<Recorder> recorders(12);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (size_t i = 0; i < recorders.size(); ++i)
        exchanges.push_back(caller.start(get("/" + QByteArray::number(i)), recorders[i]));
    QTRY_COMPARE(([&] {
        const std::lock_guard lock(mutex);
        return order.size();
    }()),
        6); // Qt's six connections, the others wait
    exchanges[6].reset(); // one that waits is given up
    isOpen = true;
    for (size_t i = 0; i < recorders.size(); ++i) {
        if (i != 6)
            QVERIFY(recorders[i].waitForEnd());
    }
    QCOMPARE(recorders[6].ends(), 0);
    QVERIFY(!order.contains("/6"));
    QCOMPARE(order.size(), 11);
}

void tst_QnamTransport::headDeadline()
{
    RawServer server(answering([](RawConnection &connection, const RawRequest &) {
        connection.hold();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Request request = get("/x"_ba);
    request.headDeadline = 200ms;
    Recorder read;
    const auto first = caller.start(request, read);
    QVERIFY(read.waitForEnd());
    QCOMPARE(read.error().code(), ErrorCode::Timeout);
    request.method = "DELETE"_ba;
    Recorder write;
    const auto second = caller.start(request, write);
    QVERIFY(write.waitForEnd());
    QCOMPARE(write.error().code(), ErrorCode::OutcomeUnknown);
}

void tst_QnamTransport::headlessRefusal_data()
{
    QTest::addColumn<bool>("isClosed"); // by the server
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("closed, as Go does") << true << ErrorCode::Unset;
    QTest::newRow("held open: the deadline of the head") << false << ErrorCode::MalformedReply;
}

// Its status counts; but how long its body is nobody knows.
void tst_QnamTransport::headlessRefusal()
{
    QFETCH(const bool, isClosed);
    RawServer server(answering([isClosed](RawConnection &connection, const RawRequest &) {
        connection.write("HTTP/1.0 400 Bad Request\r\n\r\nbody"_ba);
        if (!isClosed)
            connection.hold();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Request request = get("/x"_ba);
    request.headDeadline = isClosed ? 15s : 300ms;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.head().httpStatus, 400);
    QCOMPARE(recorder.body(), "body"_ba);
    QTEST(recorder.error().code(), "code");
}

void tst_QnamTransport::totalDeadline_data()
{
    QTest::addColumn<std::chrono::milliseconds>("body");
    QTest::addColumn<std::chrono::milliseconds>("total");
    QTest::newRow("from the start") << 0ms << 300ms;
    QTest::newRow("from the status line") << 300ms << 0ms;
    QTest::newRow("the shorter one, of the whole") << std::chrono::milliseconds(60s) << 300ms;
    QTest::newRow("the shorter one, of the body") << 300ms << std::chrono::milliseconds(60s);
}

// A body that trickles: there never is silence.
void tst_QnamTransport::totalDeadline()
{
    QFETCH(const std::chrono::milliseconds, body);
    QFETCH(const std::chrono::milliseconds, total);
    RawServer server(answering([](RawConnection &connection, const RawRequest &) {
        connection.beginChunked();
        while (connection.chunk("x"_ba) && !connection.isStopped())
            std::this_thread::sleep_for(20ms);
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Request request = get("/x"_ba);
    request.bodyDeadline = body;
    request.totalDeadline = total;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::Timeout);
    QVERIFY2(recorder.error().message().contains(u"/x: no whole answer within 0.3 s"_s),
        qPrintable(recorder.error().message()));
    QVERIFY(recorder.size() > 0);
}

// B11, the second kind: the peer's kernel answers, its program does not.
void tst_QnamTransport::silence()
{
    RawServer server(answering([](RawConnection &connection, const RawRequest &) {
        connection.beginChunked();
        connection.chunk("{}\n"_ba);
        connection.hold();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Request request = get("/w"_ba, Channel::Watch);
    request.silenceLimit = 300ms;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::Timeout);
    QCOMPARE(recorder.body(), "{}\n"_ba);
    Recorder again; // on a new connection
    const auto second = caller.start(request, again);
    QVERIFY(again.waitForBytes(3));
    QCOMPARE(server.connectionCount(), 2);
}

void tst_QnamTransport::healthyWatch()
{
    RawServer server(answering([](RawConnection &connection, const RawRequest &) {
        connection.beginChunked();
        for (int i = 0; i < 15 && connection.chunk("{}\n"_ba); ++i)
            std::this_thread::sleep_for(100ms); // bookmarks
        return connection.write("0\r\n\r\n"_ba);
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Request request = get("/w"_ba, Channel::Watch);
    request.silenceLimit = 500ms;
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    QCOMPARE(recorder.size(), 45);
}

// After a missed deadline for the headers new watches get another manager, those
// that run stay.
void tst_QnamTransport::missedHeadReplacesTheShard()
{
    RawServer server(answering([](RawConnection &connection, const RawRequest &request) {
        if (request.target != "/mute") {
            connection.beginChunked();
            connection.chunk("{}\n"_ba);
        }
        connection.hold();
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder healthy;
    Recorder mute;
    Recorder next;
    const auto first = caller.start(get("/a"_ba, Channel::Watch), healthy);
    QVERIFY(healthy.waitForBytes(3));
    Request request = get("/mute"_ba, Channel::Watch);
    request.headDeadline = 200ms;
    const auto second = caller.start(request, mute);
    QVERIFY(mute.waitForEnd());
    QCOMPARE(mute.error().code(), ErrorCode::Timeout);
    const auto third = caller.start(get("/b"_ba, Channel::Watch), next);
    QVERIFY(next.waitForBytes(3));
    QCOMPARE(healthy.ends(), 0);
}

void tst_QnamTransport::destroyedExchangeIsSilent()
{
    std::atomic<int> closed{0};
    RawServer server(answering([&](RawConnection &connection, const RawRequest &) {
        connection.beginChunked();
        connection.chunk("{}\n"_ba);
        connection.hold();
        ++closed;
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    auto exchange = caller.start(get("/w"_ba, Channel::Watch), recorder);
    QVERIFY(recorder.waitForBytes(3));
    caller.strand().post([&] { exchange.reset(); });
    QTRY_COMPARE(closed.load(), 1); // its connection was closed, not kept
    QCOMPARE(recorder.ends(), 0);
}

void tst_QnamTransport::transportGoesFirst()
{
    RawServer server(answering([](RawConnection &connection, const RawRequest &) {
        connection.beginChunked();
        connection.hold();
        return false;
    }));
    auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(get("/w"_ba, Channel::Watch), recorder);
    QVERIFY(recorder.waitForHead());
    transport.reset();
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::Canceled);
}

QTEST_GUILESS_MAIN(tst_QnamTransport)
#include "tst_qnamtransport.moc"
