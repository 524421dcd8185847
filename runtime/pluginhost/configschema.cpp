#include "configschema.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qregularexpression.h>
#include <cmath>

namespace davit::pluginhost {

namespace {

QString word(const char *name)
{
    return QString::fromLatin1(name);
}

Status wrong(const QString &sentence)
{
    return Status(ErrorCode::InvalidConfiguration, sentence);
}

QString text(const QJsonValue &value)
{
    const QByteArray list = QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
    return QString::fromUtf8(list.mid(1, list.size() - 2));
}

QString memberPath(const QString &path, const QString &name)
{
    return path.isEmpty() ? name : path + u'.' + name;
}

bool isOfType(const QJsonValue &value, const QString &type)
{
    if (type == u"integer")
        return value.isDouble() && value.toDouble() == std::floor(value.toDouble());
    return (type == u"object" && value.isObject()) || (type == u"array" && value.isArray())
        || (type == u"string" && value.isString()) || (type == u"boolean" && value.isBool())
        || (type == u"number" && value.isDouble()) || (type == u"null" && value.isNull());
}

QStringList typesOf(const QJsonObject &schema)
{
    const QJsonValue type = schema.value(word("type"));
    if (type.isString())
        return {type.toString()};
    QStringList types;
    const QJsonArray names = type.toArray();
    for (const QJsonValue &name : names)
        types.append(name.toString());
    return types;
}

class Checker
{
public:
    // Of the schema itself.
    Status schema(const QString &path, const QJsonObject &schema) const;
    // Of a value; adds defaults to it.
    Status value(const QString &path, const QJsonObject &schema, QJsonValue *value) const;

private:
    Status keyword(const QString &path, const QString &name, const QJsonValue &value) const;
    Status types(const QString &path, const QJsonValue &value) const;
    Status range(const QString &path, const QJsonObject &schema, const QJsonValue &value) const;
    Status object(const QString &path, const QJsonObject &schema, QJsonValue *value) const;
    Status array(const QString &path, const QJsonObject &schema, QJsonValue *value) const;
};

Status Checker::schema(const QString &path, const QJsonObject &schema) const
{
    for (auto it = schema.begin(); it != schema.end(); ++it)
        if (Status status = keyword(memberPath(path, it.key()), it.key(), it.value());
            !status.isOk())
            return status;
    return Status::ok();
}

Status Checker::types(const QString &path, const QJsonValue &value) const
{
    static const QStringList known = {word("object"), word("array"), word("string"),
        word("boolean"), word("number"), word("integer"), word("null")};
    const QStringList names = typesOf({{word("type"), value}});
    if (names.isEmpty())
        return wrong(QStringLiteral("%1 must be a type name or a list of them").arg(path));
    for (const QString &name : names)
        if (!known.contains(name))
            return wrong(QStringLiteral("%1: \"%2\" is no type").arg(path, name));
    return Status::ok();
}

Status Checker::keyword(const QString &path, const QString &name, const QJsonValue &value) const
{
    if (name == u"type")
        return types(path, value);
    if (name == u"properties") {
        if (!value.isObject())
            return wrong(path + word(" must be an object"));
        const QJsonObject members = value.toObject();
        for (auto it = members.begin(); it != members.end(); ++it) {
            if (!it.value().isObject())
                return wrong(memberPath(path, it.key()) + word(" must be an object"));
            if (Status status = schema(memberPath(path, it.key()), it.value().toObject());
                !status.isOk())
                return status;
        }
        return Status::ok();
    }
    if (name == u"items")
        return value.isObject() ? schema(path, value.toObject())
                                : wrong(path + word(" must be an object"));
    if (name == u"required" || name == u"enum")
        return value.isArray() ? Status::ok() : wrong(path + word(" must be a list"));
    if (name == u"minimum" || name == u"maximum")
        return value.isDouble() ? Status::ok() : wrong(path + word(" must be a number"));
    if (name == u"pattern")
        return value.isString() && QRegularExpression(value.toString()).isValid()
            ? Status::ok()
            : wrong(path + word(" must be a regular expression"));
    if (name == u"additionalProperties")
        return value.isBool() ? Status::ok() : wrong(path + word(" must be true or false"));
    if (name == u"default" || name == u"title" || name == u"description" || name == u"$schema")
        return Status::ok();
    return wrong(QStringLiteral("%1: the keyword is not supported").arg(path));
}

Status Checker::value(const QString &path, const QJsonObject &schema, QJsonValue *value) const
{
    const QString shown = path.isEmpty() ? QStringLiteral("the configuration") : path;
    const QStringList types = typesOf(schema);
    bool isOfOne = types.isEmpty();
    for (const QString &type : types)
        isOfOne |= isOfType(*value, type);
    if (!isOfOne)
        return wrong(QStringLiteral("%1 must be of type %2, not %3")
                         .arg(shown, types.join(QStringLiteral(" or ")), text(*value)));
    if (schema.contains(word("enum")) && !schema.value(word("enum")).toArray().contains(*value))
        return wrong(QStringLiteral("%1 must be one of %2, not %3")
                         .arg(shown, text(schema.value(word("enum"))), text(*value)));
    if (Status status = range(shown, schema, *value); !status.isOk())
        return status;
    if (value->isObject())
        return object(path, schema, value);
    if (value->isArray())
        return array(path, schema, value);
    return Status::ok();
}

Status Checker::range(const QString &path, const QJsonObject &schema, const QJsonValue &value) const
{
    const QJsonValue least = schema.value(word("minimum"));
    const QJsonValue most = schema.value(word("maximum"));
    if (value.isDouble() && least.isDouble() && value.toDouble() < least.toDouble())
        return wrong(
            QStringLiteral("%1 must be at least %2, not %3").arg(path, text(least), text(value)));
    if (value.isDouble() && most.isDouble() && value.toDouble() > most.toDouble())
        return wrong(
            QStringLiteral("%1 must be at most %2, not %3").arg(path, text(most), text(value)));
    const QString pattern = schema.value(word("pattern")).toString();
    if (value.isString() && !pattern.isEmpty()
        && !QRegularExpression(pattern).match(value.toString()).hasMatch())
        return wrong(QStringLiteral("%1 must match %2, not %3").arg(path, pattern, text(value)));
    return Status::ok();
}

Status Checker::object(const QString &path, const QJsonObject &schema, QJsonValue *value) const
{
    QJsonObject members = value->toObject();
    const QJsonObject known = schema.value(word("properties")).toObject();
    for (auto it = known.begin(); it != known.end(); ++it) {
        const QJsonObject memberSchema = it.value().toObject();
        if (!members.contains(it.key()) && memberSchema.contains(word("default")))
            members.insert(it.key(), memberSchema.value(word("default")));
    }
    const QJsonArray required = schema.value(word("required")).toArray();
    for (const QJsonValue &name : required)
        if (!members.contains(name.toString()))
            return wrong(memberPath(path, name.toString()) + word(" is missing"));
    const bool isClosed = schema.value(word("additionalProperties")) == QJsonValue(false);
    const QStringList names = members.keys();
    for (const QString &name : names) {
        if (isClosed && !known.contains(name))
            return wrong(memberPath(path, name) + word(" is not a known member"));
        QJsonValue member = members.value(name);
        if (Status status
            = this->value(memberPath(path, name), known.value(name).toObject(), &member);
            !status.isOk())
            return status;
        members.insert(name, member);
    }
    *value = members;
    return Status::ok();
}

Status Checker::array(const QString &path, const QJsonObject &schema, QJsonValue *value) const
{
    QJsonArray elements = value->toArray();
    const QJsonObject items = schema.value(word("items")).toObject();
    for (qsizetype i = 0; i < elements.size(); ++i) {
        QJsonValue element = elements.at(i);
        if (Status status = this->value(QStringLiteral("%1[%2]").arg(path).arg(i), items, &element);
            !status.isOk())
            return status;
        elements.replace(i, element);
    }
    *value = elements;
    return Status::ok();
}

} // namespace

Status ConfigSchema::check(const QJsonObject &schema)
{
    return Checker().schema(QString(), schema);
}

Status ConfigSchema::apply(
    const QJsonObject &schema, const QJsonObject &config, QJsonObject *filled)
{
    QJsonValue value(config);
    const Status status = Checker().value(QString(), schema, &value);
    if (status.isOk())
        *filled = value.toObject();
    return status;
}

} // namespace davit::pluginhost
