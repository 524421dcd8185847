#include "apiconnection.h"

#include <QtCore/qeventloop.h>
#include <QtCore/qfile.h>
#include <QtNetwork/qnetworkaccessmanager.h>
#include <QtNetwork/qnetworkreply.h>
#include <QtNetwork/qsslcertificate.h>
#include <QtNetwork/qsslkey.h>
#include <memory>

static QByteArray readFile(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

ApiConnection::ApiConnection(const QString &folder, quint16 port)
    : m_base("https://127.0.0.1:" + QByteArray::number(port))
    , m_tls(QSslConfiguration::defaultConfiguration())
{
    m_tls.setCaCertificates(QSslCertificate::fromPath(folder + QStringLiteral("/ca.crt")));
    const auto own = QSslCertificate::fromPath(folder + QStringLiteral("/admin.crt"));
    if (!own.isEmpty())
        m_tls.setLocalCertificate(own.first());
    m_tls.setPrivateKey(QSslKey(readFile(folder + QStringLiteral("/admin.key")), QSsl::Ec));
    m_tls.setAllowedNextProtocols({});
}

ApiConnection::ApiConnection(quint16 port) : m_base("http://127.0.0.1:" + QByteArray::number(port))
{ }

QNetworkRequest ApiConnection::request(const QByteArray &target) const
{
    QNetworkRequest request(QUrl(QString::fromUtf8(m_base + target)));
    request.setSslConfiguration(m_tls);
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request.setTransferTimeout(60000);
    return request;
}

QByteArray ApiConnection::get(
    QNetworkAccessManager &manager, const QByteArray &target, int *httpStatus) const
{
    const std::unique_ptr<QNetworkReply> reply(manager.get(request(target)));
    QEventLoop loop;
    QObject::connect(reply.get(), &QNetworkReply::finished, &loop, &QEventLoop::quit);
    loop.exec();
    *httpStatus = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    return reply->readAll();
}
