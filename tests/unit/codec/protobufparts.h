// Writes protobuf by hand: fields, envelopes, watch events.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qendian.h>

namespace protobuf {

inline QByteArray varint(quint64 value)
{
    QByteArray bytes;
    for (; value >= 0x80; value >>= 7)
        bytes += char(value | 0x80);
    return bytes + char(value);
}

inline QByteArray bytes(quint32 number, const QByteArray &content)
{
    return varint(quint64(number) << 3 | 2) + varint(quint64(content.size())) + content;
}

inline QByteArray number(quint32 number, quint64 value)
{
    return varint(quint64(number) << 3) + varint(value);
}

inline QByteArray envelope(
    const QByteArray &apiVersion, const QByteArray &kind, const QByteArray &message)
{
    return QByteArray("k8s\0", 4) + bytes(1, bytes(1, apiVersion) + bytes(2, kind))
        + bytes(2, message) + bytes(3, {}) + bytes(4, {});
}

inline QByteArray metadata(const QByteArray &name, const QByteArray &namespaceName,
    const QByteArray &version, const QByteArray &more = {})
{
    return bytes(1, name) + bytes(2, {}) + bytes(3, namespaceName) + bytes(4, {})
        + bytes(5, "uid-" + name) + bytes(6, version) + number(7, 0) + bytes(8, {}) + more;
}

// A ConfigMap; `data` are members of it.
inline QByteArray configMap(const QByteArray &name, const QByteArray &version,
    const QByteArray &data = bytes(2, bytes(1, "key") + bytes(2, "value")))
{
    return bytes(1, metadata(name, "n", version)) + data;
}

inline QByteArray configMapList(
    const QByteArrayList &items, const QByteArray &more = {}, const char *kind = "ConfigMapList")
{
    QByteArray list = bytes(1, bytes(1, {}) + bytes(2, "10") + bytes(3, "c1") + number(4, 5));
    for (const QByteArray &item : items)
        list += bytes(2, item);
    return envelope("v1", kind, list + more);
}

inline QByteArray frame(const QByteArray &content)
{
    QByteArray length(4, '\0');
    qToBigEndian(quint32(content.size()), length.data());
    return length + content;
}

inline QByteArray watchEvent(const QByteArray &type, const QByteArray &enveloped)
{
    return frame(bytes(1, type) + bytes(2, bytes(1, enveloped)));
}

inline QByteArray configMapEvent(const QByteArray &type, const QByteArray &message)
{
    return watchEvent(type, envelope("v1", "ConfigMap", message));
}

} // namespace protobuf
