// Which proxy the environment asks for, and which ones can be used. Source: BEHAVIOURS.md C-36; the
// rules of Go's golang.org/x/net/http/httpproxy. Test: tst_incluster.
#pragma once

#include "loadenvironment.h"

#include <QtCore/qurl.h>

namespace davit::transport {

// From HTTPS_PROXY or HTTP_PROXY (or in lower case) by the server's scheme; empty when none is set,
// for loopback addresses and localhost, and when NO_PROXY names the server: "*", an address, a
// CIDR, a domain ("x.io" with all below it, ".x.io" only what is below), each with a port or
// without. [thread-safe]
QUrl proxyFromEnvironment(const QUrl &server, const LoadEnvironment &environment);
// False where a scheme was mistyped or written twice, so that it is taken for the host ("https:/h",
// "https//h"), and where there is no host. [thread-safe]
bool hasHost(const QUrl &url);
// Why there can be no way through this proxy, to follow its name; empty when there can.
// [thread-safe]
QString proxyFault(const QUrl &proxy);
// The port of a server or a proxy, or what its scheme stands for: 443 of https, 1080 of socks5 and
// its kin, else 80. [thread-safe]
quint16 portOf(const QUrl &url);

} // namespace davit::transport
