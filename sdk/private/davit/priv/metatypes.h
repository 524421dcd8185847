// Registration of the SDK's types with Qt's metatype system, by both of their names. Private.
#pragma once

#include <davit/global.h>

namespace davit::priv {

// Makes "davit::Object" and "davit::v1::Object", and the names of the other value types, known to
// QMetaType: string-based and queued connects of plugins need it, and a plugin must never be the
// first to register them. Called by the host before it loads a plugin; repeating it is free.
// [thread-safe]
DAVIT_EXPORT void registerMetatypes();

} // namespace davit::priv
