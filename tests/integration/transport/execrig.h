// An exec plugin that is a few lines of shell, and a server that tells who it was called as.
#pragma once

#include "rawserver.h"
#include "tlsfixture.h"

#include <QtCore/qtemporarydir.h>

namespace execrig {

inline constexpr QLatin1StringView kV1("client.authentication.k8s.io/v1");

// Answers with the Authorization header of the request.
inline void tellToken(RawConnection &connection)
{
    RawRequest request;
    while (connection.read(request))
        connection.answer(200, request.headers["authorization"]);
}

// A config whose plugin is `script`, a text for /bin/sh, in the folder.
inline davit::transport::ClusterConfig execConfig(
    quint16 port, const QTemporaryDir &folder, const QByteArray &script)
{
    QFile file(folder.filePath(QStringLiteral("plugin.sh")));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no plugin");
    file.write("#!/bin/sh\n" + script);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    davit::transport::ClusterConfig config = tlsConfig(port);
    config.userName = QStringLiteral("u");
    config.exec.emplace();
    config.exec->apiVersion = kV1;
    config.exec->command = file.fileName();
    config.exec->interactiveMode = davit::transport::ExecConfig::InteractiveMode::Never;
    return config;
}

// A script line that prints the token number n, counted in the file "runs" of the folder.
inline QByteArray printing(const QTemporaryDir &folder, const QByteArray &moreStatus = {})
{
    const QByteArray runs = folder.filePath(QStringLiteral("runs")).toUtf8();
    return "echo x >> " + runs
        + "\nprintf '{\"apiVersion\":\"client.authentication.k8s.io/v1\","
          "\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t%s\""
        + moreStatus + "}}' $(grep -c x " + runs + ")\n";
}

} // namespace execrig
