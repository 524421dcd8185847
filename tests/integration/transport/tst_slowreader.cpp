// Answers that come faster than they are read: how much waits, and that all of it is read.
#include "calls.h"

#include <transport/handover.h>

#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

class tst_SlowReader : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void backpressure();
    void endsWhileNobodyReads_data();
    void endsWhileNobodyReads();
};

void tst_SlowReader::backpressure()
{
    constexpr qint64 kTotal = 100 * 1024 * 1024;
    std::atomic<qint64> written{0};
    RawServer server(answering([&](RawConnection &connection, const RawRequest &) {
        connection.write(
            "HTTP/1.1 200 OK\r\nContent-Length: " + QByteArray::number(kTotal) + "\r\n\r\n");
        const QByteArray piece(64 * 1024, 'x');
        for (qint64 sent = 0; sent < kTotal; sent += piece.size()) {
            if (!connection.write(piece))
                return false;
            written += piece.size();
        }
        return true;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    recorder.setBlocked(true);
    Request request = get("/list"_ba, Channel::List);
    request.silenceLimit = 300ms; // waiting for the executor is not the server's silence
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForHead());
    qint64 before = -1;
    QTRY_VERIFY_WITH_TIMEOUT((before == written) || (before = written, QTest::qWait(700), false),
        10000); // until the server writes no more
    // Hand-over, Qt's buffer and both kernels' socket buffers.
    QVERIFY2(written < 16 * 1024 * 1024, qPrintable(QString::number(written)));
    recorder.setBlocked(false);
    QVERIFY(recorder.waitForEnd(30s));
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    QCOMPARE(recorder.size(), kTotal);
}

void tst_SlowReader::endsWhileNobodyReads_data()
{
    QTest::addColumn<Channel>("channel");
    QTest::newRow("watch") << Channel::Watch; // whose manager goes with its last exchange
    QTest::newRow("list") << Channel::List;
    QTest::newRow("call") << Channel::Call;
}

// All of an answer has come and its connection has ended, and the executor is behind.
void tst_SlowReader::endsWhileNobodyReads()
{
    QFETCH(const Channel, channel);
    constexpr qint64 kTotal = 3 * HandOver::kHighWater / 2;
    RawServer server(answering([&](RawConnection &connection, const RawRequest &) {
        connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: "
            + QByteArray::number(kTotal) + "\r\n\r\n" + QByteArray(kTotal, 'x'));
        return false;
    }));
    const auto transport = makeQnamTransport(configFor(server.port()));
    Caller caller(*transport);
    Recorder recorder;
    recorder.setBlocked(true);
    const auto exchange = caller.start(get("/x"_ba, channel), recorder);
    QVERIFY(recorder.waitForHead());
    QTest::qWait(500); // nothing tells from outside that Qt has it all
    recorder.setBlocked(false);
    QVERIFY(recorder.waitForEnd(30s));
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    QCOMPARE(recorder.size(), kTotal);
}

QTEST_GUILESS_MAIN(tst_SlowReader)
#include "tst_slowreader.moc"
