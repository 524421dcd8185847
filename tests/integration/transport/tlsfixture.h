// Certificates of tests/data/cases as server and client settings.
#pragma once

#include "rawserver.h"
#include "transport/clusterconfig.h"

#include <QtCore/qfile.h>
#include <QtNetwork/qsslcertificate.h>
#include <QtNetwork/qsslconfiguration.h>
#include <QtNetwork/qsslkey.h>
#include <QtNetwork/qsslsocket.h>

inline QByteArray testData(const QString &path)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/") + path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no test data %s", qPrintable(path));
    return file.readAll();
}

inline QByteArray caseData(const QString &name)
{
    return testData(QStringLiteral("cases/") + name);
}

inline QSslConfiguration serverTls(const QByteArray &certificatePem, const QByteArray &keyPem)
{
    QSslConfiguration tls = QSslConfiguration::defaultConfiguration();
    tls.setLocalCertificate(QSslCertificate(certificatePem, QSsl::Pem));
    tls.setPrivateKey(QSslKey(keyPem, keyPem.contains("RSA") ? QSsl::Rsa : QSsl::Ec, QSsl::Pem));
    tls.setPeerVerifyMode(QSslSocket::VerifyNone);
    return tls;
}

// "common-server": for 127.0.0.1, ::1 and localhost.
inline QSslConfiguration serverTls(const QString &stem = QStringLiteral("common-server"))
{
    return serverTls(
        caseData(stem + QStringLiteral(".pem")), caseData(stem + QStringLiteral(".key")));
}

// The server asks for a client certificate of the tests' root.
inline QSslConfiguration mutualTls()
{
    QSslConfiguration tls = serverTls();
    tls.setCaCertificates({QSslCertificate(caseData(QStringLiteral("common-ca.pem")), QSsl::Pem)});
    tls.setPeerVerifyMode(QSslSocket::VerifyPeer);
    return tls;
}

inline davit::transport::ClusterConfig plainConfig(quint16 port)
{
    davit::transport::ClusterConfig config;
    config.source = QStringLiteral("test");
    config.server = QUrl(QStringLiteral("http://127.0.0.1:%1").arg(port));
    return config;
}

inline davit::transport::ClusterConfig tlsConfig(
    quint16 port, const QString &host = QStringLiteral("127.0.0.1"))
{
    davit::transport::ClusterConfig config = plainConfig(port);
    config.server.setScheme(QStringLiteral("https"));
    config.server.setHost(host);
    config.caPem = caseData(QStringLiteral("common-ca.pem"));
    return config;
}

// Answers with the name in the client's certificate, and with 401 when it is `refused`; "/watch" is
// told it always and stays open.
inline void tellName(RawConnection &connection, const QByteArray &refused = {})
{
    RawRequest request;
    while (connection.read(request)) {
        const QByteArray name = connection.socket()
                                    .peerCertificate()
                                    .subjectInfo(QSslCertificate::CommonName)
                                    .value(0)
                                    .toUtf8();
        if (request.target != "/watch") {
            connection.answer(!refused.isEmpty() && name == refused ? 401 : 200, name);
            continue;
        }
        connection.beginChunked();
        connection.chunk(name);
        return connection.hold();
    }
}
