// What loading a configuration reads besides files: so that tests need no process environment.
#pragma once

#include <QtCore/qstring.h>
#include <functional>

namespace davit::transport {

struct LoadEnvironment
{
    // The value of an environment variable, or empty.
    std::function<QString(const char *)> variable;
    QString homeFolder;
    QString serviceAccountFolder = QStringLiteral("/var/run/secrets/kubernetes.io/serviceaccount");
};

// That of this process. [thread-safe as getenv is]
LoadEnvironment processEnvironment();

} // namespace davit::transport
