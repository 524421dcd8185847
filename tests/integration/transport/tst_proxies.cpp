// C-36: a cluster behind each kind of proxy, on the wire. The proxies are scripts on raw sockets
// that carry bytes to the server they are asked for.
#include "rawserver.h"
#include "recorder.h"
#include "tlsfixture.h"

#include <observability/redaction.h>

#include <QTcpSocket>
#include <QTest>
#include <QtEndian>

using namespace davit;
using namespace davit::transport;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPollMs = 5;

// What the proxies were asked.
class Seen
{
public:
    void add(const QByteArray &text)
    {
        const std::lock_guard lock(m_mutex);
        m_all << text;
    }
    QByteArrayList all() const
    {
        const std::lock_guard lock(m_mutex);
        return m_all;
    }

private:
    mutable std::mutex m_mutex;
    QByteArrayList m_all; // GUARDED_BY(m_mutex)
};

// Until one side ends; what is left for the other one is delivered.
void carry(RawConnection &connection, QTcpSocket &target)
{
    QSslSocket &client = connection.socket();
    const auto isOpen
        = [](const QTcpSocket &s) { return s.state() == QAbstractSocket::ConnectedState; };
    while (!connection.isStopped() && isOpen(client) && isOpen(target)) {
        if (client.bytesAvailable() > 0 || client.waitForReadyRead(kPollMs)) {
            target.write(client.readAll());
            target.waitForBytesWritten();
        }
        if (target.bytesAvailable() > 0 || target.waitForReadyRead(kPollMs))
            connection.write(target.readAll());
    }
    connection.write(target.readAll());
    client.disconnectFromHost();
}

enum class Password : quint8 { No, Asked };

RawServer::Script httpProxy(Seen &seen, Password password = Password::No)
{
    return [&seen, password](RawConnection &connection) {
        RawRequest request;
        if (!connection.read(request))
            return;
        if (password == Password::Asked && request.headers["proxy-authorization"].isEmpty()) {
            connection.answer(407, {}, "Proxy-Authenticate: Basic realm=\"p\"\r\n"_ba);
            if (!connection.read(request)) // on this connection, or on the next one
                return;
        }
        seen.add(
            request.method + ' ' + request.target + ' ' + request.headers["proxy-authorization"]);
        const QByteArrayList address = request.target.split(':');
        QTcpSocket target;
        target.connectToHost(QString::fromLatin1(address.value(0)), address.value(1).toUShort());
        if (request.method != "CONNECT" || !target.waitForConnected()) {
            connection.answer(502, "{}"_ba);
            return;
        }
        connection.write("HTTP/1.1 200 OK\r\n\r\n"_ba);
        carry(connection, target);
    };
}

// RFC 1928 and 1929, as far as Qt speaks them.
RawServer::Script socksProxy(Seen &seen)
{
    return [&seen](RawConnection &connection) {
        const auto take = [&](qsizetype count) {
            QSslSocket &client = connection.socket();
            while (client.bytesAvailable() < count && !connection.isStopped()
                && client.state() == QAbstractSocket::ConnectedState)
                client.waitForReadyRead(kPollMs);
            return client.read(count);
        };
        const QByteArray methods = take(quint8(take(2).back()));
        QByteArray user;
        const bool asks = methods.contains('\x02');
        connection.write(asks ? "\x05\x02"_ba : QByteArray("\x05\x00", 2));
        if (asks) {
            user = take(quint8(take(2).back()));
            user += ':' + take(quint8(take(1).back()));
            connection.write(QByteArray("\x01\x00", 2));
        }
        const QByteArray head = take(4);
        const QByteArray raw = head.endsWith('\x01') ? take(4) : take(quint8(take(1).back()));
        const QString host = head.endsWith('\x01')
            ? QHostAddress(qFromBigEndian<quint32>(raw.constData())).toString()
            : QString::fromLatin1(raw);
        const auto port = qFromBigEndian<quint16>(take(2).constData());
        seen.add("SOCKS " + host.toLatin1() + ':' + QByteArray::number(port) + ' ' + user);
        QTcpSocket target;
        target.connectToHost(host, port);
        if (!target.waitForConnected())
            return;
        connection.write(QByteArray("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 10));
        carry(connection, target);
    };
}

// The target: what it was told, as its answer.
void tellBody(RawConnection &connection)
{
    RawRequest request;
    while (connection.read(request)) {
        if (request.target == "/large") {
            connection.answer(200, '"' + QByteArray(8 * 1024 * 1024, 'x') + '"');
            continue;
        }
        connection.answer(200,
            "\"" + request.target + ' ' + QByteArray::number(request.body.size()) + ' '
                + request.headers["authorization"] + "\"");
    }
}

QUrl proxyUrl(const QString &scheme, const QString &user, quint16 port)
{
    return QUrl(scheme + u"://"_s + user + u"127.0.0.1:"_s + QString::number(port));
}

} // namespace

class tst_Proxies : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void plainServer();
    void plainServerWithoutItsProxy();
    void kinds_data();
    void kinds();
    void asksFirst_data();
    void asksFirst();
    void large_data();
    void large();
    void faults_data();
    void faults();
    void refuses_data();
    void refuses();
    void serverSays407_data();
    void serverSays407();
    void untrustedIsTakenWhenInsecure();
    void cutInTheMiddle();
};

// Without TLS the request goes to the proxy, which is told the whole address.
void tst_Proxies::plainServer()
{
    Seen asked;
    RawServer proxy([&](RawConnection &connection) {
        RawRequest request;
        while (connection.read(request)) {
            asked.add(request.target);
            connection.answer(200, "{}"_ba);
        }
    });
    ClusterConfig config;
    config.server = QUrl(u"http://192.0.2.1:6443"_s);
    config.proxyUrl = proxyUrl(u"http"_s, QString(), proxy.port());
    Request request;
    request.target = "/x"_ba;
    const auto got = getOnce(*makeQnamTransport(config), request);
    QVERIFY2(got.isOk(), qPrintable(got.isOk() ? QString() : got.error().message()));
    QCOMPARE(asked.all(), QByteArrayList{"http://192.0.2.1:6443/x"});
}

// What the bridge answers then is no word of the server.
void tst_Proxies::plainServerWithoutItsProxy()
{
    auto proxy = std::make_unique<RawServer>([](RawConnection &) {});
    ClusterConfig config;
    config.server = QUrl(u"http://192.0.2.1:6443"_s);
    config.proxyUrl = proxyUrl(u"http"_s, QString(), proxy->port());
    proxy.reset();
    const auto got = getOnce(*makeQnamTransport(config));
    QVERIFY(!got.isOk());
    const QString message = got.error().message();
    QVERIFY2(message.endsWith(u": the proxy %1 cannot be reached: Connection refused"_s.arg(
                 config.proxyUrl.toString())),
        qPrintable(message));
    QCOMPARE(got.error().code(), ErrorCode::ConnectionRefused);
}

void tst_Proxies::kinds_data()
{
    QTest::addColumn<QString>("scheme");
    QTest::addColumn<QString>("user");
    QTest::addColumn<QByteArray>("seen"); // %1: the target's port
    const QByteArray basic = "Basic dXNlcjpwIHc="_ba; // user:p w
    QTest::newRow("http") << u"http"_s << QString() << "CONNECT 127.0.0.1:%1 "_ba;
    QTest::newRow("http with a password")
        << u"http"_s << u"user:p%20w@"_s << "CONNECT 127.0.0.1:%1 " + basic;
    QTest::newRow("https") << u"https"_s << QString() << "CONNECT 127.0.0.1:%1 "_ba;
    QTest::newRow("https with a password")
        << u"https"_s << u"user:p%20w@"_s << "CONNECT 127.0.0.1:%1 " + basic;
    QTest::newRow("socks5") << u"socks5"_s << QString() << "SOCKS 127.0.0.1:%1 "_ba;
    QTest::newRow("socks5 with a password")
        << u"socks5"_s << u"user:p%20w@"_s << "SOCKS 127.0.0.1:%1 user:p w"_ba;
}

// A read and a write through it, the credential inside the tunnel only.
void tst_Proxies::kinds()
{
    QFETCH(const QString, scheme);
    QFETCH(const QString, user);
    QFETCH(QByteArray, seen);
    Seen asked;
    RawServer target(tellBody, serverTls());
    const Password password = user.isEmpty() ? Password::No : Password::Asked;
    RawServer proxy(scheme == u"socks5"_s ? socksProxy(asked) : httpProxy(asked, password),
        scheme == u"https"_s ? std::optional(serverTls()) : std::nullopt);
    ClusterConfig config = tlsConfig(target.port());
    config.token = "tok"_ba;
    config.proxyUrl = proxyUrl(scheme, user, proxy.port());
    const auto transport = makeQnamTransport(config);
    Request read;
    read.target = "/x"_ba;
    const auto got = getOnce(*transport, read);
    QVERIFY2(got.isOk(), qPrintable(got.isOk() ? QString() : got.error().message()));
    QCOMPARE(got.value(), "\"/x 0 Bearer tok\""_ba);
    Request write;
    write.method = "POST"_ba;
    write.target = "/y"_ba;
    write.body = QByteArray(3 * 1024 * 1024, 'z');
    const auto put = getOnce(*transport, write);
    QVERIFY2(put.isOk(), qPrintable(put.isOk() ? QString() : put.error().message()));
    QCOMPARE(put.value(), "\"/y 3145728 Bearer tok\""_ba);
    const QByteArrayList all = asked.all();
    QVERIFY(!all.isEmpty());
    seen.replace("%1", QByteArray::number(target.port()));
    QCOMPARE(all.back(), seen);
}

void tst_Proxies::asksFirst_data()
{
    QTest::addColumn<QString>("scheme");
    QTest::addColumn<QByteArray>("refusal"); // its head after the offer, and its body
    QTest::addColumn<bool>("isKept"); // the connection, after that
    for (const QString &scheme : {u"http"_s, u"https"_s}) {
        for (const bool isKept : {false, true}) {
            const auto row = [&](const char *name, const QByteArray &refusal) {
                QTest::addRow("%s, %s, %s", name, qPrintable(scheme), isKept ? "kept" : "closed")
                    << scheme << refusal << isKept;
            };
            row("no body", "Content-Length: 0\r\n\r\n"_ba);
            row("a body", "Content-Length: 4\r\n\r\nasks"_ba);
            row("a body in chunks", "Transfer-Encoding: chunked\r\n\r\n4\r\nasks\r\n0\r\n\r\n"_ba);
            row("close is told", "Connection: close\r\nContent-Length: 4\r\n\r\nasks"_ba);
            row("keep-alive is told",
                "Proxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nasks"_ba);
        }
    }
}

// The password gets through whatever the proxy does with the connection that it asked on.
void tst_Proxies::asksFirst()
{
    QFETCH(const QString, scheme);
    QFETCH(const QByteArray, refusal);
    QFETCH(const bool, isKept);
    Seen asked;
    const RawServer::Script carries = httpProxy(asked);
    RawServer target(tellBody, serverTls());
    std::atomic<int> refusals = 0;
    RawServer proxy(
        [&](RawConnection &connection) {
            if (refusals > 0)
                return carries(connection);
            RawRequest request;
            if (!connection.read(request))
                return;
            ++refusals;
            connection.write("HTTP/1.1 407 Proxy Authentication Required\r\n"
                             "Proxy-Authenticate: Basic realm=\"p\"\r\n"
                + refusal);
            if (isKept)
                carries(connection);
        },
        scheme == u"https"_s ? std::optional(serverTls()) : std::nullopt);
    ClusterConfig config = tlsConfig(target.port());
    config.proxyUrl = proxyUrl(scheme, u"user:p%20w@"_s, proxy.port());
    Request write;
    write.method = "POST"_ba;
    write.target = "/y"_ba;
    write.body = "{}"_ba;
    write.totalDeadline = 5s;
    const auto got = getOnce(*makeQnamTransport(config), write);
    QVERIFY2(got.isOk(), qPrintable(got.isOk() ? QString() : got.error().message()));
    QCOMPARE(got.value(), "\"/y 2 \""_ba);
    QCOMPARE(asked.all(),
        QByteArrayList{
            "CONNECT 127.0.0.1:" + QByteArray::number(target.port()) + " Basic dXNlcjpwIHc="});
}

void tst_Proxies::large_data()
{
    QTest::addColumn<QString>("scheme");
    QTest::newRow("http") << u"http"_s;
    QTest::newRow("https") << u"https"_s;
}

// 8 MiB to somebody who begins to read late: the windows fill and nothing is lost.
void tst_Proxies::large()
{
    QFETCH(const QString, scheme);
    Seen asked;
    RawServer target(tellBody, serverTls());
    RawServer proxy(
        httpProxy(asked), scheme == u"https"_s ? std::optional(serverTls()) : std::nullopt);
    ClusterConfig config = tlsConfig(target.port());
    config.proxyUrl = proxyUrl(scheme, QString(), proxy.port());
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Recorder recorder;
    recorder.setBlocked(true);
    Request request;
    request.target = "/large"_ba;
    request.channel = Channel::List;
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForHead());
    recorder.setBlocked(false);
    QVERIFY(recorder.waitForEnd(30s));
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    QCOMPARE(recorder.size(), 8 * 1024 * 1024 + 2);
}

void tst_Proxies::faults_data()
{
    QTest::addColumn<QString>("certificate"); // of the proxy; empty: none, it speaks no TLS
    QTest::addColumn<QString>("ca");
    QTest::addColumn<bool>("isThere");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QString>("sentence"); // follows the proxy's name
    const QString good = u"common-server"_s;
    const QString ca = u"common-ca.pem"_s;
    QTest::newRow("nobody listens")
        << good << ca << false << ErrorCode::ConnectionRefused << u"Connection refused"_s;
    QTest::newRow("another authority")
        << good << u"B10-client-ec.pem"_s << true << ErrorCode::TlsFailure << u"certificate"_s;
    QTest::newRow("another name") << u"B06-server-ip-as-dns"_s << ca << true
                                  << ErrorCode::TlsFailure
                                  << u"its certificate is not for 127.0.0.1"_s;
    QTest::newRow("closes after TLS") << u"silent"_s << ca << true << ErrorCode::ConnectionRefused
                                      << u"it closed the connection without an answer"_s;
    QTest::newRow("no TLS") << QString() << ca << true << ErrorCode::TlsFailure << QString();
}

// One sentence that names the proxy, and a write that was never sent.
void tst_Proxies::faults()
{
    QFETCH(const QString, certificate);
    QFETCH(const QString, ca);
    QFETCH(const bool, isThere);
    QFETCH(const QString, sentence);
    Seen asked;
    RawServer target(tellBody, serverTls());
    const bool isSilent = certificate == u"silent"_s;
    auto proxy = std::make_unique<RawServer>(certificate.isEmpty()
            ? [](RawConnection &c) { c.write("SSH-2.0-OpenSSH_9.2\r\n"_ba); }
            : isSilent ? RawServer::Script([](RawConnection &c) {
                  RawRequest request;
                  (void)c.read(request);
              })
                       : httpProxy(asked),
        certificate.isEmpty()
            ? std::nullopt
            : std::optional(serverTls(isSilent ? u"common-server"_s : certificate)));
    const quint16 port = proxy->port();
    if (!isThere)
        proxy.reset();
    ClusterConfig config = tlsConfig(target.port());
    config.caPem = caseData(ca);
    config.proxyUrl = proxyUrl(u"https"_s, u"u:secret@"_s, port);
    const auto transport = makeQnamTransport(config);
    Request write;
    write.method = "POST"_ba;
    write.body = "{}"_ba;
    for (const Request &request : {Request(), write}) {
        const auto got = getOnce(*transport, request);
        QVERIFY(!got.isOk());
        const QString message = got.error().message();
        const QString name = u"the proxy https://127.0.0.1:%1 cannot be reached: "_s.arg(port);
        QVERIFY2(message.contains(name), qPrintable(message));
        QVERIFY2(message.section(name, 1).contains(sentence), qPrintable(message));
        QVERIFY(!message.contains(u"secret"_s));
        QTEST(got.error().code(), "code");
    }
    QCOMPARE(asked.all(), QByteArrayList());
    QCOMPARE(target.connectionCount(), 0);
}

void tst_Proxies::refuses_data()
{
    QTest::addColumn<QString>("scheme");
    QTest::addColumn<QString>("user");
    QTest::addColumn<QByteArray>("offers");
    QTest::addColumn<QString>("sentence"); // after the proxy's name
    const QString asks = u" asks for a user and a password; write them into its address, as in "
                         u"%1://USER:PASSWORD@127.0.0.1"_s;
    const QString wrong = u" does not accept the user and the password of its address"_s;
    for (const QString &scheme : {u"http"_s, u"https"_s}) {
        for (const QString &user : {QString(), u"user:wrong@"_s}) {
            const auto row = [&](const char *name, const QByteArray &offers, const QString &said) {
                QTest::addRow("%s, %s, %s", name, qPrintable(scheme),
                    user.isEmpty() ? "no password" : "a password")
                    << scheme << user << offers << said;
            };
            const QString refusal = user.isEmpty() ? asks.arg(scheme) : wrong;
            const QString unknown
                = u" cannot be reached: it asks for %1, and davit knows Basic and Digest"_s;
            row("Basic", "Proxy-Authenticate: Basic realm=\"p\"\r\n", refusal);
            row("Digest", "Proxy-Authenticate: Digest realm=\"p\", nonce=\"n\", qop=\"auth\"\r\n",
                refusal);
            row("NTLM", "Proxy-Authenticate: NTLM\r\n", unknown.arg(u"NTLM"_s));
            row("Negotiate and NTLM",
                "Proxy-Authenticate: Negotiate\r\nproxy-authenticate: NTLM\r\n",
                unknown.arg(u"Negotiate, NTLM"_s));
            row("NTLM and Basic",
                "Proxy-Authenticate: NTLM\r\nProxy-Authenticate: Basic realm=\"p\"\r\n", refusal);
            row("nothing", {},
                u" cannot be reached: it asks for authentication and does not say which"_s);
        }
    }
}

// A proxy that takes no credential of ours is named, and asked a few times at most: Qt would offer
// NTLM to it thousands of times a second.
void tst_Proxies::refuses()
{
    QFETCH(const QString, scheme);
    QFETCH(const QString, user);
    QFETCH(const QByteArray, offers);
    QFETCH(const QString, sentence);
    RawServer target(tellBody, serverTls());
    std::atomic<int> asked = 0;
    RawServer proxy(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                ++asked;
                connection.answer(407, {}, offers);
            }
        },
        scheme == u"https"_s ? std::optional(serverTls()) : std::nullopt);
    ClusterConfig config = tlsConfig(target.port());
    config.proxyUrl = proxyUrl(scheme, user, proxy.port());
    const auto transport = makeQnamTransport(config);
    Request write;
    write.method = "POST"_ba;
    write.body = "{}"_ba;
    for (const Request &request : {Request(), write}) {
        asked = 0;
        const auto got = getOnce(*transport, request);
        QVERIFY(!got.isOk());
        QVERIFY2(asked > 0 && asked <= 4, qPrintable(QString::number(asked)));
        const QString message = got.error().message();
        const QString name = u": the proxy "_s + proxyUrl(scheme, {}, proxy.port()).toString();
        QVERIFY2(message.contains(name + sentence), qPrintable(message));
        QVERIFY(!message.contains(u"wrong"_s));
        QCOMPARE(davit::observability::redacted(message), message); // as it is shown
        QCOMPARE(got.error().code(), ErrorCode::Unauthorized);
    }
    QCOMPARE(target.connectionCount(), 0);
}

void tst_Proxies::serverSays407_data()
{
    QTest::addColumn<bool>("isTls");
    QTest::addColumn<QString>("scheme"); // of the proxy; empty: there is none
    QTest::addColumn<QByteArray>("method");
    for (const char *const method : {"GET", "POST"}) {
        QTest::addRow("plain, %s", method) << false << QString() << QByteArray(method);
        QTest::addRow("TLS, %s", method) << true << QString() << QByteArray(method);
        QTest::addRow("TLS behind http, %s", method) << true << u"http"_s << QByteArray(method);
        QTest::addRow("TLS behind https, %s", method) << true << u"https"_s << QByteArray(method);
        QTest::addRow("TLS behind socks5, %s", method) << true << u"socks5"_s << QByteArray(method);
    }
}

// It is the server's answer: no proxy is to blame, and no password of one is sent.
void tst_Proxies::serverSays407()
{
    QFETCH(const bool, isTls);
    QFETCH(const QString, scheme);
    QFETCH(const QByteArray, method);
    Seen asked;
    Seen passwords;
    RawServer target(
        [&](RawConnection &connection) {
            RawRequest request;
            while (connection.read(request)) {
                passwords.add(request.headers.value("proxy-authorization"));
                connection.answer(407, "\"no\"", "Proxy-Authenticate: Basic realm=\"s\"\r\n");
            }
        },
        isTls ? std::optional(serverTls()) : std::nullopt);
    std::optional<RawServer> proxy;
    ClusterConfig config = isTls ? tlsConfig(target.port()) : plainConfig(target.port());
    if (!scheme.isEmpty()) {
        proxy.emplace(scheme == u"socks5"_s ? socksProxy(asked) : httpProxy(asked),
            scheme == u"https"_s ? std::optional(serverTls()) : std::nullopt);
        config.proxyUrl = proxyUrl(scheme, u"user:pw@"_s, proxy->port());
    }
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Recorder recorder;
    Request request;
    request.method = method;
    request.body = method == "POST" ? "{}"_ba : QByteArray();
    const auto exchange = caller.start(request, recorder);
    QVERIFY(recorder.waitForEnd());
    QVERIFY2(!recorder.error().isError(), qPrintable(recorder.error().message()));
    QCOMPARE(recorder.head().httpStatus, 407);
    QCOMPARE(recorder.body(), "\"no\""_ba);
    QCOMPARE(passwords.all(), QByteArrayList{QByteArray()});
}

void tst_Proxies::untrustedIsTakenWhenInsecure()
{
    Seen asked;
    RawServer target(tellBody, serverTls());
    RawServer proxy(httpProxy(asked), serverTls(u"B06-server-ip-as-dns"_s));
    ClusterConfig config = tlsConfig(target.port());
    config.caPem.clear();
    config.isInsecure = true;
    config.proxyUrl = proxyUrl(u"https"_s, QString(), proxy.port());
    const auto got = getOnce(*makeQnamTransport(config));
    QVERIFY2(got.isOk(), qPrintable(got.isOk() ? QString() : got.error().message()));
}

// A watch whose proxy goes away has ended.
void tst_Proxies::cutInTheMiddle()
{
    Seen asked;
    RawServer target(
        [](RawConnection &connection) {
            RawRequest request;
            if (connection.read(request)) {
                connection.beginChunked();
                connection.chunk("{}\n"_ba);
                connection.hold();
            }
        },
        serverTls());
    auto proxy = std::make_unique<RawServer>(httpProxy(asked), serverTls());
    ClusterConfig config = tlsConfig(target.port());
    config.proxyUrl = proxyUrl(u"https"_s, QString(), proxy->port());
    const auto transport = makeQnamTransport(config);
    Caller caller(*transport);
    Recorder recorder;
    Request watch;
    watch.channel = Channel::Watch;
    const auto exchange = caller.start(watch, recorder);
    QVERIFY(recorder.waitForBytes(3));
    proxy.reset();
    QVERIFY(recorder.waitForEnd());
    QCOMPARE(recorder.error().code(), ErrorCode::ConnectionLost);
}

QTEST_GUILESS_MAIN(tst_Proxies)
#include "tst_proxies.moc"
