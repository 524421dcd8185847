// What stands around an object in protobuf: four bytes "k8s\0", then a message that tells its kind
// and has its bytes (C-28). Source: k8s.io/apimachinery, runtime.Unknown and
// serializer/protobuf. Test: tst_protobufenvelope.
#pragma once

#include <davit/gvk.h>
#include <davit/priv/protobufwire.h>

#include <QtCore/qbytearrayview.h>

namespace davit::codec {

constexpr QByteArrayView kProtobufMagic("k8s\0", 4);
constexpr std::uint32_t kTypeMetaField = 1; // of the envelope
constexpr std::uint32_t kRawField = 2;

struct ProtobufEnvelope
{
    Gvk gvk;
    QByteArrayView message; // of the bytes that were given
};
// False when it is none, or cut.
bool openEnvelope(QByteArrayView bytes, ProtobufEnvelope *envelope);
// From the envelope's type meta.
Gvk gvkOfTypeMeta(QByteArrayView message);

// The bytes of a field, or as many of them as are there: the message may be cut anywhere. Empty
// when it is not there. O(bytes).
QByteArrayView fieldOfCut(QByteArrayView message, std::uint32_t number);
QString textOfCut(QByteArrayView message, std::uint32_t number);
// "namespace/name" of an object's message, as far as it is there.
QString describeMessage(QByteArrayView message);

// A Status in protobuf as JSON; anything else as it is. For what errorFromReply() is given.
QByteArray statusToJson(const QByteArray &body);

inline std::string_view toStd(QByteArrayView bytes)
{
    return {bytes.data(), std::size_t(bytes.size())};
}
inline QByteArrayView toView(std::string_view bytes)
{
    return {bytes.data(), qsizetype(bytes.size())};
}

} // namespace davit::codec
