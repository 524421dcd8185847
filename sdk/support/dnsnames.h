// The two forms of names in Kubernetes. Source: RFC 1123; Kubernetes "Object Names and IDs". Tests:
// tst_kubeconfig, tst_pluginmetadata, tst_leaselock.
#pragma once

#include <QtCore/qstring.h>

namespace davit::support {

// 1 to 63 lower-case letters, digits and dashes, no dash at an end: namespaces. [thread-safe]
bool isDnsLabel(const QString &text);
// Such labels, of any length each, joined by dots; 253 characters at most: most other names.
// [thread-safe]
bool isDnsSubdomain(const QString &text);

} // namespace davit::support
