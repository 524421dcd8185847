#include "tlsmaterial.h"

#include <QtNetwork/qhostaddress.h>
#include <QtNetwork/qsslkey.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

namespace davit::transport {
namespace {

template <auto Free> struct Deleter
{
    template <typename T> void operator()(T *pointer) const { Free(pointer); }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;

BioPtr bioOf(const QByteArray &bytes)
{
    return BioPtr(BIO_new_mem_buf(bytes.constData(), int(bytes.size())));
}

// No prompt on the terminal for an encrypted key: it is an error here.
int noPassphrase(char *, int, int, void *)
{
    return -1;
}

// The entry that has to be mended, in the file that it stands in.
enum class Entry : quint8 { Cluster, User };

Error fault(const ClusterConfig &config, Entry entry, const QString &what)
{
    const QString &source = entry == Entry::User ? config.userSource : config.clusterSource;
    return Error(ErrorCode::InvalidConfiguration,
        QStringLiteral("%1: %2").arg(source.isEmpty() ? config.source : source, what));
}

constexpr QLatin1StringView kNoCertificate(
    " is not readable PEM, which has a line BEGIN CERTIFICATE");

QString named(const char *what, const QString &file)
{
    return file.isEmpty() ? QString::fromLatin1(what)
                          : QStringLiteral("%1 %2").arg(QLatin1String(what), file);
}

// The key in the form that QSslKey takes for its algorithm, whatever form it had.
QSslKey qtKey(EVP_PKEY *key)
{
    const int kind = EVP_PKEY_base_id(key);
    if (kind != EVP_PKEY_RSA && kind != EVP_PKEY_EC)
        return {};
    const BioPtr out(BIO_new(BIO_s_mem()));
    if (!PEM_write_bio_PrivateKey_traditional(
            out.get(), key, nullptr, nullptr, 0, nullptr, nullptr)) {
        return {};
    }
    char *data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return QSslKey(QByteArray(data, size), kind == EVP_PKEY_RSA ? QSsl::Rsa : QSsl::Ec, QSsl::Pem);
}

Status setClientCertificate(const ClusterConfig &config, QSslConfiguration &ssl)
{
    if (config.clientCertificatePem.isEmpty() && config.clientKeyPem.isEmpty())
        return {};
    const QString certificate = named("the client certificate", config.clientCertificateFile);
    const QString keyName = named("the client key", config.clientKeyFile);
    if (config.clientKeyPem.isEmpty())
        return fault(
            config, Entry::User, QStringLiteral("%1 has no key, add client-key").arg(certificate));
    if (config.clientCertificatePem.isEmpty())
        return fault(config, Entry::User,
            QStringLiteral("%1 has no certificate, add client-certificate").arg(keyName));
    const QList<QSslCertificate> chain
        = QSslCertificate::fromData(config.clientCertificatePem, QSsl::Pem);
    const X509Ptr leaf(PEM_read_bio_X509(
        bioOf(config.clientCertificatePem).get(), nullptr, noPassphrase, nullptr));
    if (chain.isEmpty() || !leaf)
        return fault(config, Entry::User, certificate + kNoCertificate);
    const KeyPtr key(
        PEM_read_bio_PrivateKey(bioOf(config.clientKeyPem).get(), nullptr, noPassphrase, nullptr));
    if (!key)
        return fault(config, Entry::User,
            keyName
                + QStringLiteral(" is not readable PEM, or has a passphrase, which openssl pkey "
                                 "-in OLD -out NEW takes off"));
    if (X509_check_private_key(leaf.get(), key.get()) != 1)
        return fault(config, Entry::User,
            QStringLiteral("%1 does not belong to %2, take the pair that was issued together")
                .arg(keyName, certificate));
    const QSslKey converted = qtKey(key.get());
    if (converted.isNull())
        return fault(config, Entry::User,
            keyName
                + QStringLiteral(" is neither RSA nor EC, have a certificate issued for such a "
                                 "key"));
    ssl.setLocalCertificateChain(chain);
    ssl.setPrivateKey(converted);
    return {};
}

} // namespace

Result<QSslConfiguration> tlsConfiguration(const ClusterConfig &config)
{
    QSslConfiguration ssl = QSslConfiguration::defaultConfiguration();
    ssl.setProtocol(QSsl::TlsV1_2OrLater);
    ssl.setAllowedNextProtocols({QSslConfiguration::NextProtocolHttp1_1}); // B23: never HTTP/2
    if (config.isInsecure) {
        if (!config.caPem.isEmpty())
            return fault(config, Entry::Cluster,
                QStringLiteral("a certificate authority and insecure-skip-tls-verify exclude each "
                               "other, remove one"));
        ssl.setPeerVerifyMode(QSslSocket::VerifyNone);
    } else {
        ssl.setPeerVerifyMode(QSslSocket::VerifyPeer);
    }
    // An empty file trusts nobody (C-44).
    if (!config.caPem.isEmpty() || !config.caFile.isEmpty()) {
        const QList<QSslCertificate> roots = QSslCertificate::fromData(config.caPem, QSsl::Pem);
        if (roots.isEmpty() && !config.caPem.isEmpty())
            return fault(config, Entry::Cluster,
                named("the certificate authority", config.caFile) + kNoCertificate);
        ssl.setCaCertificates(roots);
    }
    if (const Status status = setClientCertificate(config, ssl); !status.isOk())
        return status.error();
    return ssl;
}

bool isCertificateFor(const QSslCertificate &certificate, const QString &host)
{
    const QByteArray der = certificate.toDer();
    const auto *data = reinterpret_cast<const unsigned char *>(der.constData());
    const X509Ptr x509(d2i_X509(nullptr, &data, der.size()));
    if (!x509)
        return false;
    const QByteArray text = host.toUtf8();
    if (!QHostAddress(host).isNull())
        return X509_check_ip_asc(x509.get(), text.constData(), 0) == 1;
    constexpr unsigned int kSanOnly = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
    return X509_check_host(x509.get(), text.constData(), size_t(text.size()), kSanOnly, nullptr)
        == 1;
}

} // namespace davit::transport
