// Envelopes.
#include "protobufenvelope.h"

#include "kubernetesschema.h"

#include <davit/objectbuilder.h>
#include <davit/priv/poolaccess.h>

namespace davit::codec {

using priv::WireCursor;
using priv::WireField;
using priv::WireType;

constexpr std::uint32_t kCodeField = 6; // of a Status

bool openEnvelope(QByteArrayView bytes, ProtobufEnvelope *envelope)
{
    if (!bytes.startsWith(kProtobufMagic))
        return false;
    *envelope = {};
    WireField field;
    WireCursor cursor(toStd(bytes.sliced(kProtobufMagic.size())));
    while (cursor.next(&field)) {
        if (field.number == kTypeMetaField)
            envelope->gvk = gvkOfTypeMeta(toView(field.bytes));
        else if (field.number == kRawField)
            envelope->message = toView(field.bytes);
    }
    return cursor.isGood();
}

Gvk gvkOfTypeMeta(QByteArrayView message)
{
    return gvkFrom(textOfCut(message, 1), textOfCut(message, 2));
}

QByteArrayView fieldOfCut(QByteArrayView message, std::uint32_t number)
{
    const char *p = message.data();
    const char *const end = p + message.size();
    WireField field;
    WireCursor cursor(toStd(message));
    while (cursor.next(&field)) {
        if (field.number == number && field.type == WireType::Bytes)
            return toView(field.bytes);
        p = field.end;
    }
    // The field that is cut.
    std::uint64_t tag = 0;
    std::uint64_t size = 0;
    p = p == end ? nullptr : priv::readVarint(p, end, &tag);
    if (p == nullptr || tag != (std::uint64_t(number) << 3 | std::uint64_t(WireType::Bytes)))
        return {};
    p = priv::readVarint(p, end, &size);
    return p == nullptr ? QByteArrayView() : QByteArrayView(p, qsizetype(end - p));
}

QString textOfCut(QByteArrayView message, std::uint32_t number)
{
    return QString::fromUtf8(fieldOfCut(message, number));
}

QString describeMessage(QByteArrayView message)
{
    const QByteArrayView metadata = fieldOfCut(message, 1);
    const QString name = textOfCut(metadata, 1);
    const QString namespaceName = textOfCut(metadata, 3);
    if (name.isEmpty())
        return QStringLiteral("an object without a name");
    return namespaceName.isEmpty() ? name : namespaceName + u'/' + name;
}

QByteArray statusToJson(const QByteArray &body)
{
    const Gvk status{{}, QStringLiteral("v1"), QStringLiteral("Status")};
    ProtobufEnvelope envelope;
    if (!openEnvelope(body, &envelope) || envelope.gvk != status)
        return body;
    const KubernetesSchema &schema = KubernetesSchema::builtIn();
    priv::DecodeOptions options;
    options.impliedGvk = &status;
    priv::ObjectDecoder decoder;
    Object object;
    const Error error = decoder.decodeProtobuf(envelope.message, schema.messages(),
        std::uint16_t(schema.messageOf(status)), options, &object);
    if (!error.isError())
        return object.toJson();
    // Of a newer one what decides (C-14).
    ObjectBuilder builder;
    builder.set({QStringLiteral("kind")}, status.kind);
    builder.set({QStringLiteral("apiVersion")}, status.version);
    builder.set({QStringLiteral("status")}, QStringLiteral("Failure"));
    builder.set({QStringLiteral("message")}, textOfCut(envelope.message, 3));
    builder.set({QStringLiteral("reason")}, textOfCut(envelope.message, 4));
    WireField field;
    for (WireCursor cursor(toStd(envelope.message)); cursor.next(&field);)
        if (field.number == kCodeField && field.type == WireType::Varint)
            builder.set({QStringLiteral("code")}, qint64(field.value));
    return builder.build().toJson();
}

} // namespace davit::codec
