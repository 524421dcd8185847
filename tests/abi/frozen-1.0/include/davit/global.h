// Export and namespace macros, and the version of the SDK. Every public header includes this one
// first.
#pragma once

#include <QtCore/qglobal.h>

#if defined(DAVIT_SDK_BUILD)
#define DAVIT_EXPORT Q_DECL_EXPORT
#else
#define DAVIT_EXPORT Q_DECL_IMPORT
#endif

// The inline namespace makes a clash of majors a link error instead of a crash.
#define DAVIT_BEGIN_NAMESPACE                                                                      \
    namespace davit {                                                                              \
    inline namespace v1 {
#define DAVIT_END_NAMESPACE                                                                        \
    }                                                                                              \
    }

// The major of the binary interface: a plugin's metadata names it as "SdkAbi", the host refuses a
// higher one.
#define DAVIT_SDK_ABI 1
#define DAVIT_SDK_VERSION_STRING "0.1.0"
