#include "apidriver.h"

#include <transport/kubeconfig.h>
#include <transport/qnamtransport.h>

#include <QJsonDocument>
#include <QSemaphore>

using namespace davit;

namespace {

class Gatherer final : public transport::ResponseSink
{
public:
    void onHead(const transport::ResponseHead &head) override { httpStatus = head.httpStatus; }
    void onBytes(const QByteArray &bytes) override { body += bytes; }
    void onFinished(const Error &finalError) override
    {
        error = finalError;
        done.release();
    }

    int httpStatus = 0;
    QByteArray body;
    Error error;
    QSemaphore done;
};

} // namespace

ApiDriver::ApiDriver(const QString &kubeconfig) : m_strand(m_pool)
{
    const auto config = transport::loadClusterConfig({kubeconfig, {}});
    if (!config.isOk())
        qFatal("%s", qPrintable(config.error().message()));
    m_transport = transport::makeQnamTransport(config.value());
}

ApiDriver::~ApiDriver()
{
    m_transport.reset();
    m_strand.stop();
}

ApiDriver::Answer ApiDriver::call(const QByteArray &method, const QString &target,
    const QJsonObject &body, const QByteArray &contentType)
{
    transport::Request request;
    request.method = method;
    request.target = target.toUtf8();
    if (!body.isEmpty()) {
        request.body = QJsonDocument(body).toJson(QJsonDocument::Compact);
        request.contentType = contentType;
    }
    Gatherer gatherer;
    const auto exchange = m_transport->start(request, m_strand, gatherer);
    gatherer.done.acquire();
    Answer answer;
    answer.httpStatus = gatherer.error.isError() ? 0 : gatherer.httpStatus;
    answer.body = QJsonDocument::fromJson(gatherer.body).object();
    answer.text = QStringLiteral("%1 %2: %3 %4 %5")
                      .arg(QString::fromUtf8(method), target)
                      .arg(gatherer.httpStatus)
                      .arg(gatherer.error.message(), QString::fromUtf8(gatherer.body));
    return answer;
}

QString ApiDriver::target(const QString &plural, const QString &namespaceName, const QString &name)
{
    QString path = QStringLiteral("/api/v1/");
    if (!namespaceName.isEmpty())
        path += QStringLiteral("namespaces/%1/").arg(namespaceName);
    return path + plural + (name.isEmpty() ? QString() : QLatin1Char('/') + name);
}

bool ApiDriver::isGood(const Answer &answer)
{
    if (answer.httpStatus >= 200 && answer.httpStatus < 300)
        return true;
    lastError = answer.text;
    return false;
}

QJsonObject ApiDriver::find(
    const QString &plural, const QString &namespaceName, const QString &name)
{
    const Answer answer = call("GET", target(plural, namespaceName, name));
    return answer.httpStatus == 200 ? answer.body : QJsonObject();
}

bool ApiDriver::create(
    const QString &plural, const QString &namespaceName, const QJsonObject &object)
{
    return isGood(call("POST", target(plural, namespaceName, {}), object));
}

bool ApiDriver::mergePatch(const QString &plural, const QString &namespaceName, const QString &name,
    const QJsonObject &patch)
{
    return isGood(
        call("PATCH", target(plural, namespaceName, name), patch, "application/merge-patch+json"));
}

bool ApiDriver::remove(const QString &plural, const QString &namespaceName, const QString &name)
{
    return isGood(call("DELETE", target(plural, namespaceName, name)));
}

bool ApiDriver::createNamespace(const QString &name)
{
    return create(QStringLiteral("namespaces"), {},
        {{QStringLiteral("apiVersion"), QStringLiteral("v1")},
            {QStringLiteral("kind"), QStringLiteral("Namespace")},
            {QStringLiteral("metadata"), QJsonObject{{QStringLiteral("name"), name}}}});
}

QStringList ApiDriver::eventReasons(const QString &namespaceName, const QString &name)
{
    QStringList reasons;
    const QJsonArray items = call("GET", target(QStringLiteral("events"), namespaceName, {}))
                                 .body.value(QLatin1StringView("items"))
                                 .toArray();
    for (const QJsonValue &event : items)
        if (event[QLatin1StringView("involvedObject")][QLatin1StringView("name")].toString()
            == name)
            reasons << event[QLatin1StringView("reason")].toString();
    return reasons;
}
