// The part of JSON Schema that a plugin's ConfigSchema may use, and what it does to a
// configuration. Keywords: type (one name or a list), properties, required, additionalProperties
// (true or false), items, default, enum, minimum, maximum, pattern; title and description are for
// people. Any other keyword is an error, so that none is silently ignored.
// Source: JSON Schema 2020-12, sections 6 and 9. Test: tst_configschema.
#pragma once

#include <davit/status.h>

#include <QtCore/qjsonobject.h>

namespace davit::pluginhost {

class ConfigSchema
{
public:
    // Whether `schema` is one that apply() understands. InvalidConfiguration names the keyword.
    static Status check(const QJsonObject &schema);
    // Checks `config` and fills in the defaults of members that are absent, at every depth. The
    // empty schema takes any object. InvalidConfiguration: one sentence with the member's path and
    // the fault; `filled` is then untouched. [thread-safe]
    static Status apply(const QJsonObject &schema, const QJsonObject &config, QJsonObject *filled);
};

} // namespace davit::pluginhost
