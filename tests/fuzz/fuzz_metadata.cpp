// A plugin's metadata, and a ConfigSchema with the configuration that it is to check. The input is
// one JSON object.
#include "fuzzing.h"

#include "pluginhost/configschema.h"
#include "pluginhost/pluginmetadata.h"

#include <QtCore/qjsondocument.h>

using namespace davit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const QByteArray bytes(reinterpret_cast<const char *>(data), qsizetype(size));
    const QJsonObject json = QJsonDocument::fromJson(bytes).object();
    pluginhost::PluginMetadata metadata;
    const Status read = pluginhost::readPluginMetadata(QStringLiteral("a.so"), json, &metadata);
    fuzzing::require(read.isOk() || read.error().message().startsWith(QLatin1String("a.so")));
    const QJsonObject schema = json.value(QLatin1String("ConfigSchema")).toObject();
    const QJsonObject config = json.value(QLatin1String("config")).toObject();
    if (!pluginhost::ConfigSchema::check(schema).isOk())
        return 0;
    QJsonObject filled;
    if (!pluginhost::ConfigSchema::apply(schema, config, &filled).isOk())
        return 0;
    QJsonObject again; // what was filled in is right, and nothing is left to fill in
    fuzzing::require(pluginhost::ConfigSchema::apply(schema, filled, &again).isOk());
    fuzzing::require(again == filled);
    return 0;
}
