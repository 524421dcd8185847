// Certificates and keys of a cluster, made ready for Qt, and the check of a server's name that Qt
// 6.4 gets wrong. Contract:
//   - private keys of every usual form are read: PKCS#8, PKCS#1, SEC1, also behind an EC PARAMETERS
//   block; one that does not fit its certificate is an error (case B10).
//   - an address matches an iPAddress SAN only, a name a dNSName SAN only; the common name never
//   counts (case B06, RFC 6125 6.4.4).
// Test: tst_credential, tst_tls.
#pragma once

#include "clusterconfig.h"

#include <QtNetwork/qsslcertificate.h>
#include <QtNetwork/qsslconfiguration.h>

namespace davit::transport {

// InvalidConfiguration, naming config.source, when something does not fit: a CA together with
// insecure, a certificate without key, PEM that cannot be read, a key of another certificate.
// [thread-safe]
Result<QSslConfiguration> tlsConfiguration(const ClusterConfig &config);
// Whether `certificate` was made for `host`, an address or a name. [thread-safe]
bool isCertificateFor(const QSslCertificate &certificate, const QString &host);

} // namespace davit::transport
