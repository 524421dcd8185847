// What a transport tells of itself to who counts, in client-go's words. Source: BEHAVIOURS.md,
// C-75. Test: tst_connectionpool; tst_identity, caRotation; tst_transportmetrics.
#pragma once

#include <QtCore/qglobal.h>
#include <functional>

namespace davit::transport {

// Whether an exchange got a connection manager that was there ("hit"), or one that was made for it
// ("miss"). One manager has the connections of one kind of exchange, under one set of certificates.
enum class ManagerUse : quint8 { Hit, Miss };

// Each may be empty. [io-thread]
struct ManagerListener
{
    std::function<void(ManagerUse)> onUse;
    std::function<void(int managers)> onCount; // there are so many from now on
};

// A look at the CA file under a running transport.
struct CaReload
{
    const char *result; // "success" or "failure"
    const char *reason; // unchanged, updated; read_error, empty, ca_parse_error
};

} // namespace davit::transport
