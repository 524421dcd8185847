// Gvk and ObjectKey.
#include <davit/gvk.h>
#include <davit/objectkey.h>

DAVIT_BEGIN_NAMESPACE

QString apiVersion(const Gvk &gvk)
{
    return gvk.group.isEmpty() ? gvk.version : gvk.group + QLatin1Char('/') + gvk.version;
}

Gvk gvkFrom(QStringView apiVersion, QStringView kind)
{
    const qsizetype slash = apiVersion.indexOf(QLatin1Char('/'));
    if (slash < 0)
        return {QString(), apiVersion.toString(), kind.toString()};
    return {
        apiVersion.left(slash).toString(), apiVersion.mid(slash + 1).toString(), kind.toString()};
}

QString toString(const Gvk &gvk)
{
    return apiVersion(gvk) + QLatin1Char(' ') + gvk.kind;
}

QString toString(const ObjectKey &key)
{
    return key.namespaceName.isEmpty() ? key.name : key.namespaceName + QLatin1Char('/') + key.name;
}

Status parseObjectKey(QStringView text, ObjectKey *key)
{
    const qsizetype slash = text.indexOf(QLatin1Char('/'));
    if (slash < 0) {
        *key = {QString(), text.toString()};
        return Status::ok();
    }
    if (text.indexOf(QLatin1Char('/'), slash + 1) >= 0)
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("unexpected key format: \"%1\"; write namespace/name, or name alone")
                .arg(text));
    *key = {text.left(slash).toString(), text.mid(slash + 1).toString()};
    return Status::ok();
}

DAVIT_END_NAMESPACE
