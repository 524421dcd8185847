// How the tests' own client reaches the API server, independent of Davit's transport: addresses and
// TLS from the folder that tests/controlplane/start leaves, or an embedded server without TLS.
// Thread-confined: one a thread.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtNetwork/qnetworkrequest.h>
#include <QtNetwork/qsslconfiguration.h>

class QNetworkAccessManager;

class ApiConnection
{
public:
    ApiConnection(const QString &folder, quint16 port);
    explicit ApiConnection(quint16 port); // without TLS

    QNetworkRequest request(const QByteArray &target) const;
    const QSslConfiguration &tls() const { return m_tls; }
    // The body of a GET, waited for; empty with `httpStatus` 0 when there was no answer in 60 s.
    QByteArray get(QNetworkAccessManager &manager, const QByteArray &target, int *httpStatus) const;

private:
    QByteArray m_base;
    QSslConfiguration m_tls;
};
