// Which members the entries of a kubeconfig have, for who mistyped one or put it a level too high.
// Private to the layer. Source: client-go's clientcmd/api/v1 types. Test: tst_kubeconfigmistakes.
#pragma once

#include <support/json.h>

#include <QtCore/qstringlist.h>

namespace davit::transport {

enum class KubeconfigLevel : quint8 { Cluster, User, Context, Exec };

// Of an entry of a list, {name: ..., user: {...}}: the members of its level that stand beside the
// name, where they mean nothing. [thread-safe]
QStringList misplacedMembers(const support::Json &entry, KubeconfigLevel level);
// A sentence without its subject for each member that has no meaning there. [thread-safe]
QStringList unknownMembers(const support::Json &value, KubeconfigLevel level);

} // namespace davit::transport
