// The second client of a test: single requests to whatever API server a kubeconfig names, waited
// for.
#pragma once

#include <support/strand.h>
#include <transport/transport.h>

#include <QJsonArray>
#include <QJsonObject>
#include <QThreadPool>

class ApiDriver
{
public:
    explicit ApiDriver(const QString &kubeconfig);
    ~ApiDriver();

    struct Answer
    {
        int httpStatus = 0; // 0: none came
        QJsonObject body;
        QString text; // for messages
    };
    Answer call(const QByteArray &method, const QString &target, const QJsonObject &body = {},
        const QByteArray &contentType = "application/json");

    // "secrets" or "configmaps"; an empty object when there is none.
    QJsonObject find(const QString &plural, const QString &namespaceName, const QString &name);
    bool create(const QString &plural, const QString &namespaceName, const QJsonObject &object);
    bool mergePatch(const QString &plural, const QString &namespaceName, const QString &name,
        const QJsonObject &patch);
    bool remove(const QString &plural, const QString &namespaceName, const QString &name);
    bool createNamespace(const QString &name);
    // Reasons of the Events about an object.
    QStringList eventReasons(const QString &namespaceName, const QString &name);

    QString lastError; // of the last call that gave false

private:
    static QString target(const QString &plural, const QString &namespaceName, const QString &name);
    bool isGood(const Answer &answer);

    QThreadPool m_pool;
    davit::support::Strand m_strand;
    std::unique_ptr<davit::transport::Transport> m_transport;
};
