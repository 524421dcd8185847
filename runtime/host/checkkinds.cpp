#include "checkkinds.h"

#include "servercalls.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>

namespace davit::host {
namespace {

QByteArray pathOf(const Gvk &gvk)
{
    return gvk.group.isEmpty() ? "/api/" + gvk.version.toUtf8()
                               : "/apis/" + gvk.group.toUtf8() + '/' + gvk.version.toUtf8();
}

} // namespace

// Those of an APIResourceList, none of a group that is not there.
std::optional<QSet<QString>> KindsCheck::kindsOf(const QByteArray &path)
{
    if (m_exit != QueryExit::Done)
        return std::nullopt;
    const ServerAnswer answer = m_calls.get(path);
    if (answer.httpStatus == 404)
        return QSet<QString>();
    if (answer.error.isError()) {
        m_exit = exitOf(answer);
        m_tell({Finding::Grade::Bad, QStringLiteral("kinds"),
            QStringLiteral("the server does not say what it serves: %1; look at its load, and at "
                           "what stands before it")
                .arg(answer.fault)});
    }
    const QJsonValue resources
        = QJsonDocument::fromJson(answer.body).object().value(QLatin1StringView("resources"));
    if (answer.isGood() && !resources.isArray()) {
        m_exit = QueryExit::Configuration;
        m_tell({Finding::Grade::Bad, QStringLiteral("kinds"),
            QStringLiteral("the server does not say what it serves at %1: ")
                    .arg(QString::fromUtf8(path))
                + m_calls.strangeAnswer(answer, QStringLiteral("APIResourceList"))});
    }
    if (!answer.isGood() || !resources.isArray())
        return std::nullopt;
    QSet<QString> kinds;
    for (const QJsonValue &resource : resources.toArray())
        kinds.insert(resource[QLatin1StringView("kind")].toString());
    return kinds;
}

bool KindsCheck::isMissing(const Gvk &gvk)
{
    const QByteArray path = pathOf(gvk);
    auto known = m_kinds.find(path);
    if (known == m_kinds.end())
        known = m_kinds.insert(path, kindsOf(path));
    return known->has_value() && !(*known)->contains(gvk.kind);
}

void KindsCheck::checkPlugin(const QString &topic, const pluginhost::PluginMetadata &metadata)
{
    for (const pluginhost::DeclaredResource &declared : metadata.resources) {
        if (declared.isOptional || !isMissing(declared.gvk))
            continue;
        m_tell({Finding::Grade::Odd, topic,
            QStringLiteral("the cluster does not serve %1; install its CustomResourceDefinition, "
                           "until then davit waits for it")
                .arg(toString(declared.gvk))});
    }
}

} // namespace davit::host
