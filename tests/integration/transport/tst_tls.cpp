// Certificates, names and credentials, against servers with the cases' certificates.
#include "aheadtime.h"
#include "rawserver.h"
#include "recorder.h"
#include "tlsfixture.h"
#include "transport/kubeconfig.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <future>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

// What the server saw of a client, as the body of its answer: CN of the certificate, Host header,
// token.
void tell(RawConnection &connection)
{
    RawRequest request;
    while (connection.read(request)) {
        const QSslCertificate peer = connection.socket().peerCertificate();
        connection.answer(200,
            peer.subjectInfo(QSslCertificate::CommonName).value(0).toUtf8() + '|'
                + request.headers["host"] + '|' + request.headers["authorization"]);
    }
}

void runScript(const QStringList &arguments)
{
    QProcess process;
    process.start(QStringLiteral("/bin/sh"), arguments);
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 0);
}

} // namespace

class tst_Tls : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void serverNames_data();
    void serverNames();
    void wrongNameForMany();
    void wrongCa();
    void noCa_data();
    void noCa();
    void versions_data();
    void versions();
    void insecure();
    void clientKeys_data();
    void clientKeys();
    void clientCertificateRefused_data();
    void clientCertificateRefused();
    void ipv6();
    void serverNameIndication_data();
    void serverNameIndication();
    void tokenRotation();
    void refusedTokenIsReadAgain_data();
    void refusedTokenIsReadAgain();
    void refusedStaticTokenIsNotRepeated();
    void plainTextServer();
    void b23_alpn_data();
    void b23_alpn();
    void b23_frames_data();
    void b23_frames();
};

void tst_Tls::serverNames_data()
{
    QTest::addColumn<QString>("certificate");
    QTest::addColumn<QString>("host"); // null: that of B06-kubeconfig.yaml
    QTest::addColumn<QString>("tlsServerName");
    QTest::addColumn<bool>("isAccepted");
    QTest::newRow("B06 IP SAN") << "B06-server-ipsan" << QString() << "" << true;
    QTest::newRow("B06 address as a dNSName") << "B06-server-ip-as-dns" << QString() << "" << false;
    QTest::newRow("B06 address in the CN") << "B06-server-ip-in-cn" << QString() << "" << false;
    QTest::newRow("name") << "common-server"
                          << "localhost"
                          << "" << true;
    QTest::newRow("C-40 tls-server-name fits") << "B64-gen1"
                                               << "127.0.0.1"
                                               << "webhook.ops.svc" << true;
    QTest::newRow("C-40 tls-server-name does not fit") << "common-server"
                                                       << "127.0.0.1"
                                                       << "webhook.ops.svc" << false;
    QTest::newRow("C-40 tls-server-name in the CN only") << "B64-gen1"
                                                         << "127.0.0.1"
                                                         << "webhook-gen1" << false;
}

void tst_Tls::serverNames()
{
    QFETCH(const QString, certificate);
    QFETCH(const QString, host);
    QFETCH(const QString, tlsServerName);
    QFETCH(const bool, isAccepted);
    std::atomic<int> requests{0};
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                ++requests;
                connection.answer(200, "{}"_ba);
            }
        },
        serverTls(certificate));
    ClusterConfig config = tlsConfig(server.port(), host);
    if (host.isNull()) {
        const auto loaded
            = loadClusterConfig({QStringLiteral(DAVIT_TEST_DATA "/cases/B06-kubeconfig.yaml"), {}});
        QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
        config = loaded.value();
        config.server.setPort(server.port());
    }
    config.tlsServerName = tlsServerName;
    config.token = "secret"_ba;
    const auto transport = makeQnamTransport(config);
    const auto body = getOnce(*transport);
    QCOMPARE(body.isOk(), isAccepted);
    if (!isAccepted)
        QCOMPARE(body.error().code(), ErrorCode::TlsFailure);
    QCOMPARE(requests.load(), isAccepted ? 1 : 0); // no token reached a server of another name
}

// No request slips through on a connection whose certificate was refused for another request.
void tst_Tls::wrongNameForMany()
{
    std::atomic<int> requests{0};
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                ++requests;
                connection.answer(200, "{}"_ba);
            }
        },
        serverTls(QStringLiteral("B06-server-ip-in-cn")));
    const auto transport = makeQnamTransport(tlsConfig(server.port()));
    Caller caller(*transport);
    std::vector<Recorder> recorders(20);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (Recorder &recorder : recorders)
        exchanges.push_back(caller.start(Request{}, recorder));
    for (Recorder &recorder : recorders) {
        QVERIFY(recorder.waitForEnd());
        QCOMPARE(recorder.error().code(), ErrorCode::TlsFailure);
    }
    QCOMPARE(requests.load(), 0);
}

void tst_Tls::wrongCa()
{
    RawServer server(tell, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.caPem = caseData(QStringLiteral("B06-server-ipsan.pem"));
    const auto body = getOnce(*makeQnamTransport(config));
    QVERIFY(!body.isOk());
    QCOMPARE(body.error().code(), ErrorCode::TlsFailure);
    QVERIFY2(body.error().message().startsWith(
                 QStringLiteral("GET https://127.0.0.1:%1: ").arg(server.port())),
        qPrintable(body.error().message()));
    QVERIFY2(body.error().message().contains(QLatin1String("certificate")),
        qPrintable(body.error().message()));
}

void tst_Tls::noCa_data()
{
    QTest::addColumn<QString>("root"); // the system's only one
    QTest::addColumn<bool>("isAccepted");
    QTest::newRow("C-45 the system knows the server's") << u"common-ca.pem"_s << true;
    QTest::newRow("C-45 the system knows another") << u"B06-server-ipsan.pem"_s << false;
}

void tst_Tls::noCa()
{
    QFETCH(const QString, root);
    const QSslConfiguration before = QSslConfiguration::defaultConfiguration();
    QSslConfiguration other = before;
    other.setCaCertificates({QSslCertificate(caseData(root), QSsl::Pem)});
    RawServer server(tell, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.caPem.clear();
    QSslConfiguration::setDefaultConfiguration(other);
    const auto body = getOnce(*makeQnamTransport(config));
    QSslConfiguration::setDefaultConfiguration(before);
    QTEST(body.isOk(), "isAccepted");
    if (!body.isOk())
        QCOMPARE(body.error().code(), ErrorCode::TlsFailure);
}

void tst_Tls::versions_data()
{
    QTest::addColumn<QSsl::SslProtocol>("only"); // that the server speaks
    QTest::newRow("C-34 TLS 1.2") << QSsl::TlsV1_2;
    QTest::newRow("C-34 TLS 1.3") << QSsl::TlsV1_3;
}

void tst_Tls::versions()
{
    QFETCH(const QSsl::SslProtocol, only);
    QSslConfiguration tls = serverTls();
    tls.setProtocol(only);
    RawServer server(
        [](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                const int version = connection.socket().sessionProtocol();
                connection.answer(200, QByteArray::number(version));
            }
        },
        tls);
    const auto body = getOnce(*makeQnamTransport(tlsConfig(server.port())));
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QCOMPARE(body.value(), QByteArray::number(int(only)));
}

void tst_Tls::insecure()
{
    RawServer server(tell, serverTls(QStringLiteral("B06-server-ip-in-cn")));
    ClusterConfig config = tlsConfig(server.port());
    config.isInsecure = true;
    QCOMPARE(getOnce(*makeQnamTransport(config)).error().code(), // C-38
        ErrorCode::InvalidConfiguration);
    config.caPem.clear();
    QVERIFY(getOnce(*makeQnamTransport(config)).isOk());
}

void tst_Tls::clientKeys_data()
{
    QTest::addColumn<QString>("context");
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("B10 EC SEC1") << "ec-sec1"
                                 << "dev-ec"_ba;
    QTest::newRow("B10 EC PKCS#8") << "ec-pkcs8"
                                   << "dev-ec"_ba;
    QTest::newRow("B10 RSA PKCS#1") << "rsa-pkcs1"
                                    << "dev-rsa"_ba;
    QTest::newRow("B10 RSA PKCS#8") << "rsa-pkcs8"
                                    << "dev-rsa"_ba;
}

void tst_Tls::clientKeys()
{
    QFETCH(const QString, context);
    QFETCH(const QByteArray, name);
    RawServer server(tell, mutualTls());
    const auto loaded = loadClusterConfig(
        {QStringLiteral(DAVIT_TEST_DATA "/cases/B10-kubeconfig.yaml"), context});
    QVERIFY(loaded.isOk());
    ClusterConfig config = loaded.value();
    config.server.setPort(server.port());
    const auto body = getOnce(*makeQnamTransport(config));
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QCOMPARE(body.value().split('|').first(), name);
}

void tst_Tls::clientCertificateRefused_data()
{
    QTest::addColumn<QSsl::SslProtocol>("version");
    QTest::addColumn<QString>("client"); // its certificate; empty: none
    QTest::addColumn<QString>("ca"); // whom the server trusts
    QTest::addColumn<QString>(
        "alert"); // the end of the sentence; empty: any, TLS does not tell why
    const QString refuses = u"the server does not accept the client certificate (TLS alert: %1)"_s;
    for (const bool isNew : {false, true}) {
        const auto row = [&](const char *name, const QString &client, const QString &ca,
                             const QString &alert) {
            QTest::addRow("%s, %s", name, isNew ? "TLS 1.3" : "TLS 1.2")
                << (isNew ? QSsl::TlsV1_3 : QSsl::TlsV1_2) << client << ca << alert;
        };
        row("over", u"tls/ended-client"_s, u"tls/good-ca.pem"_s,
            refuses.arg(u"certificate expired"_s));
        row("not yet valid", u"tls/early-client"_s, u"tls/good-ca.pem"_s,
            refuses.arg(u"bad certificate"_s));
        row("of another authority", u"tls/good-server"_s, u"cases/common-ca.pem"_s,
            refuses.arg(u"unknown ca"_s));
        row("none", QString(), u"tls/good-ca.pem"_s,
            isNew ? u"the server wants a client certificate, and there is none (TLS alert: "
                    "certificate required)"_s
                  : QString());
    }
}

// A server that asks for a client certificate itself, and does not take this one. For a write too
// nothing was executed.
void tst_Tls::clientCertificateRefused()
{
    QFETCH(const QSsl::SslProtocol, version);
    QFETCH(const QString, client);
    QFETCH(const QString, ca);
    QFETCH(const QString, alert);
    QSslConfiguration tls = serverTls();
    tls.setProtocol(version);
    tls.setCaCertificates({QSslCertificate(testData(ca), QSsl::Pem)});
    tls.setPeerVerifyMode(QSslSocket::VerifyPeer);
    tls.setHandshakeMustInterruptOnError(true);
    tls.setMissingCertificateIsFatal(true);
    RawServer server(tell, tls);
    ClusterConfig config = tlsConfig(server.port());
    if (!client.isEmpty()) {
        config.clientCertificatePem = testData(client + u".pem"_s);
        config.clientKeyPem = testData(client + u".key"_s);
    }
    bool isRefused = false;
    TransportOptions options;
    options.onPeer = [&](const PeerFacts &facts) { isRefused = facts.isClientCertificateRefused; };
    const auto transport = makeQnamTransport(config, options);
    Request write;
    write.method = "POST"_ba;
    write.body = "{}"_ba;
    for (const Request &request : {Request(), write}) {
        const auto body = getOnce(*transport, request);
        QVERIFY(!body.isOk());
        QCOMPARE(body.error().code(), ErrorCode::TlsFailure);
        QVERIFY2(body.error().message().endsWith(alert), qPrintable(body.error().message()));
        QCOMPARE(isRefused, !alert.isEmpty());
    }
}

// B04: brackets in the Host header, none for the connection, no SNI.
void tst_Tls::ipv6()
{
    RawServer server(tell, serverTls(), "::1");
    const auto body = getOnce(*makeQnamTransport(tlsConfig(server.port(), QStringLiteral("::1"))));
    QVERIFY2(body.isOk(), qPrintable(body.isOk() ? QString() : body.error().message()));
    QCOMPARE(body.value().split('|').value(1), "[::1]:" + QByteArray::number(server.port()));
}

void tst_Tls::serverNameIndication_data()
{
    QTest::addColumn<QByteArray>("address"); // of the listener
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("tlsServerName");
    QTest::addColumn<QByteArray>("sent"); // empty: none
    QTest::newRow("B04 IPv6 address") << "::1"_ba << u"::1"_s << QString() << ""_ba;
    QTest::newRow("B06 IPv4 address") << "127.0.0.1"_ba << u"127.0.0.1"_s << QString() << ""_ba;
    QTest::newRow("C-40 name") << "127.0.0.1"_ba << u"localhost"_s << QString() << "localhost"_ba;
    QTest::newRow("C-40 tls-server-name")
        << "127.0.0.1"_ba << u"127.0.0.1"_s << u"kubernetes.default"_s << "kubernetes.default"_ba;
}

// The first message of TLS as it is on the wire (RFC 8446 4.1.2, RFC 6066 3).
void tst_Tls::serverNameIndication()
{
    QFETCH(const QByteArray, address);
    QFETCH(const QString, host);
    QFETCH(const QString, tlsServerName);
    QFETCH(const QByteArray, sent);
    std::promise<QByteArray> hello;
    std::atomic<bool> isTold = false;
    RawServer server(
        [&](RawConnection &connection) {
            QSslSocket &socket = connection.socket();
            while (socket.bytesAvailable() < 5 && socket.waitForReadyRead(5000)) { }
            const QByteArray head = socket.read(5);
            const int size = quint8(head[3]) * 256 + quint8(head[4]);
            while (socket.bytesAvailable() < size && socket.waitForReadyRead(5000)) { }
            if (!isTold.exchange(true))
                hello.set_value(socket.read(size));
        },
        std::nullopt, address.constData());
    ClusterConfig config = tlsConfig(server.port(), host);
    config.tlsServerName = tlsServerName;
    QVERIFY(!getOnce(*makeQnamTransport(config)).isOk());
    const QByteArray bytes = hello.get_future().get();
    QCOMPARE(bytes.front(), '\x01'); // ClientHello
    // C-34: extension 43 (RFC 8446 4.2.1) holds TLS 1.3 and 1.2, and nothing older.
    QVERIFY(bytes.contains(QByteArray::fromHex("002b00050403040303")));
    // Extension 0 holds a list of one name of type 0 with its length.
    const auto length
        = [](qsizetype n) { return QByteArray(1, char(n >> 8)) + QByteArray(1, char(n)); };
    const QByteArray extension = QByteArray(2, '\0') + length(sent.size() + 5)
        + length(sent.size() + 3) + QByteArray(1, '\0') + length(sent.size()) + sent;
    QVERIFY(sent.isEmpty() || bytes.contains(extension));
    QVERIFY(!bytes.contains("127.0.0.1") && !bytes.contains("::1"));
}

// B03: a projected token that is swapped; the file is read again after 50 s.
void tst_Tls::tokenRotation()
{
    QTemporaryDir folder;
    const QString script = QStringLiteral(DAVIT_TEST_DATA "/cases/B03-rotate.sh");
    runScript({script, folder.path(), QStringLiteral("A")});
    RawServer server(tell, serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.tokenFile = folder.filePath(QStringLiteral("token"));
    AheadTime time;
    TransportOptions options;
    options.time = &time;
    const auto transport = makeQnamTransport(config, options);
    QVERIFY(getOnce(*transport).value().endsWith("|Bearer A"));
    runScript({script, folder.path(), QStringLiteral("B")});
    QVERIFY(getOnce(*transport).value().endsWith("|Bearer A"));
    time.advance(50s);
    QVERIFY(getOnce(*transport).value().endsWith("|Bearer B"));
}

void tst_Tls::refusedTokenIsReadAgain_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::newRow("B03 read") << "GET"_ba;
    QTest::newRow("B03 write") << "POST"_ba; // a 401 was not executed
}

// B03: the server takes token A for 3 requests, then only B.
void tst_Tls::refusedTokenIsReadAgain()
{
    QTemporaryDir folder;
    const QString script = QStringLiteral(DAVIT_TEST_DATA "/cases/B03-rotate.sh");
    runScript({script, folder.path(), QStringLiteral("A")});
    std::atomic<int> asked{0};
    std::atomic<int> refused{0};
    std::atomic<int> executed{0};
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                const bool isGood = request.headers["authorization"]
                    == (++asked <= 3 ? "Bearer A"_ba : "Bearer B"_ba);
                ++(isGood ? executed : refused);
                connection.answer(isGood ? 200 : 401, isGood ? "good"_ba : "{}"_ba);
            }
        },
        serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.tokenFile = folder.filePath(QStringLiteral("token"));
    const auto transport = makeQnamTransport(config);
    Request request;
    QFETCH(const QByteArray, method);
    request.method = method;
    request.body = "{}"_ba;
    for (int i = 0; i < 3; ++i)
        QCOMPARE(getOnce(*transport, request).value(), "good"_ba);
    runScript({script, folder.path(), QStringLiteral("B")});
    for (int i = 0; i < 3; ++i)
        QCOMPARE(getOnce(*transport, request).value(), "good"_ba);
    QCOMPARE(refused.load(), 1);
    QCOMPARE(executed.load(), 6);
}

void tst_Tls::refusedStaticTokenIsNotRepeated()
{
    std::atomic<int> requests{0};
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                ++requests;
                connection.answer(401, "{}"_ba, "WWW-Authenticate: Basic realm=x\r\n"_ba);
            }
        },
        serverTls());
    ClusterConfig config = tlsConfig(server.port());
    config.token = "stale"_ba;
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(Request{}, recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY(!recorder.error().isError());
    QCOMPARE(recorder.head().httpStatus, 401);
    QCOMPARE(recorder.body(), "{}"_ba);
    QCOMPARE(requests.load(), 1);
}

void tst_Tls::plainTextServer()
{
    RawServer server([](RawConnection &connection) { // no TLS at all
        connection.socket().waitForReadyRead(1000);
        connection.write("HTTP/1.0 400 Bad Request\r\n\r\n"_ba);
    });
    const auto body = getOnce(*makeQnamTransport(tlsConfig(server.port())));
    QVERIFY(!body.isOk());
    QCOMPARE(body.error().code(), ErrorCode::TlsFailure);
}

void tst_Tls::b23_alpn_data()
{
    QTest::addColumn<Channel>("channel");
    QTest::newRow("B23: a list") << Channel::List;
    QTest::newRow("B23: a watch") << Channel::Watch;
    QTest::newRow("B23: a call") << Channel::Call;
}

// A GOAWAY can only come to who speaks HTTP/2: the first bytes of each connection offer http/1.1
// and nothing else.
void tst_Tls::b23_alpn()
{
    QFETCH(const Channel, channel);
    std::promise<QByteArray> hello;
    std::atomic<bool> isFirst{true};
    RawServer server([&](RawConnection &connection) {
        QByteArray bytes; // a TLS record: type, version, length
        while (bytes.size() < 5 || bytes.size() < 5 + (uchar(bytes[3]) << 8 | uchar(bytes[4]))) {
            if (!connection.socket().waitForReadyRead(10000))
                break;
            bytes += connection.socket().readAll();
        }
        if (isFirst.exchange(false))
            hello.set_value(bytes);
    });
    const auto transport = makeQnamTransport(tlsConfig(server.port()));
    Request request;
    request.channel = channel;
    Caller caller(*transport);
    Recorder recorder;
    const auto exchange = caller.start(request, recorder);
    const QByteArray bytes = hello.get_future().get();
    // Extension 16, its length, the list's length, one name with its length.
    const QByteArray offer("\x00\x10\x00\x0b\x00\x09\x08http/1.1", 15);
    QCOMPARE(bytes.count(offer), 1);
    QVERIFY(recorder.waitForEnd()); // the server went away
}

void tst_Tls::b23_frames_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QByteArray all;
    for (const QByteArray &line : caseData(QStringLiteral("B23-goaway-frames.txt")).split('\n')) {
        if (!line.startsWith('#'))
            all += QByteArray::fromHex(line);
    }
    QTest::newRow("B23: GOAWAY and what follows it, unasked") << all;
}

// A server that speaks HTTP/2 though nobody offered it gets an error, and takes nobody down.
void tst_Tls::b23_frames()
{
    QFETCH(const QByteArray, bytes);
    QVERIFY(bytes.contains("MODIFIED"));
    RawServer server(
        [&](RawConnection &connection) {
            RawRequest request;
            if (connection.read(request))
                connection.write(bytes);
        },
        serverTls());
    const auto transport = makeQnamTransport(tlsConfig(server.port()));
    const Result<QByteArray> got = getOnce(*transport);
    QVERIFY(!got.isOk());
    QVERIFY2(!got.error().message().contains(QStringLiteral("in vain")),
        qPrintable(got.error().message()));
}

QTEST_GUILESS_MAIN(tst_Tls)
#include "tst_tls.moc"
