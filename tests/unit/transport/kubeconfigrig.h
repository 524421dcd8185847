// Kubeconfigs in a test's own files.
#pragma once

#include "transport/kubeconfig.h"

#include <QFile>
#include <QTest>

namespace kubeconfigrig {

// The path of one of the cases' files.
inline QString data(const char *name)
{
    return QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1String(name);
}

inline QByteArray contents(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

inline void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

// These variables and no others, and no home.
inline davit::transport::LoadEnvironment environmentOf(const QHash<QByteArray, QString> &variables)
{
    davit::transport::LoadEnvironment environment;
    environment.variable = [variables](const char *name) { return variables.value(name); };
    environment.homeFolder = QStringLiteral("/nonexistent");
    return environment;
}

// A kubeconfig with one context "c" whose cluster and user are as given, in flow style.
inline QByteArray config(const QByteArray &cluster, const QByteArray &user,
    const QByteArray &context = "cluster: c, user: u")
{
    return "current-context: c\nclusters: [{name: c, cluster: {" + cluster
        + "}}]\nusers: [{name: u, user: {" + user + "}}]\ncontexts: [{name: c, context: {" + context
        + "}}]\n";
}

inline const QByteArray kServer = "server: \"https://h:1\"";

} // namespace kubeconfigrig
