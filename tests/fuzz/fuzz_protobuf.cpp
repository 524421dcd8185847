// Protobuf as the API server sends it. The first byte of the input says as what the rest is read:
// a list, a watch stream, or one object (of a Pod, which has most of the forms). Lists and streams
// say the same wherever they are cut; an object says the same to a decoder that read others before;
// nothing stays in the pool.
#include "fuzzing.h"

#include "codec/protobufenvelope.h"
#include "codec/protobuflist.h"
#include "codec/protobufwatch.h"

using namespace davit;
using codec::KubernetesSchema;

namespace {

constexpr codec::Limits kLimits{1024, 1024}; // so that short inputs pass them

const Gvk kPod{QString(), QStringLiteral("v1"), QStringLiteral("Pod")};

QByteArray listed(const QList<QByteArray> &pieces)
{
    codec::ProtobufListDecoder decoder(KubernetesSchema::builtIn(), kPod, {}, kLimits);
    QByteArray seen;
    for (const QByteArray &piece : pieces)
        for (const Object &object : decoder.feed(piece))
            seen += object.toJson() + '\n';
    return seen + decoder.finish().message().toUtf8() + decoder.meta().resourceVersion.toUtf8()
        + decoder.badItemNotes().join(QLatin1Char('\n')).toUtf8();
}

QByteArray watched(const QList<QByteArray> &pieces)
{
    priv::DecodeOptions options;
    options.impliedGvk = &kPod;
    codec::ProtobufWatchDecoder decoder(KubernetesSchema::builtIn(), options, kLimits);
    QByteArray seen;
    bool hasFailed = false;
    for (const QByteArray &piece : pieces) {
        for (const codec::WatchEvent &event : decoder.feed(piece)) {
            fuzzing::require(!hasFailed);
            hasFailed = event.type == codec::WatchEvent::Type::Error;
            fuzzing::require(hasFailed == event.error.isError());
            seen += QByteArray::number(int(event.type)) + event.object.toJson()
                + event.resourceVersion.toUtf8() + event.error.message().toUtf8() + '\n';
        }
    }
    return seen + QByteArray::number(decoder.badObjects());
}

QByteArray decoded(priv::ObjectDecoder &decoder, const QByteArray &message)
{
    const KubernetesSchema &schema = KubernetesSchema::builtIn();
    priv::DecodeOptions options;
    options.impliedGvk = &kPod;
    options.managedFields = priv::ManagedFields::Keep;
    Object object;
    const Error error = decoder.decodeProtobuf(
        message, schema.messages(), std::uint16_t(schema.messageOf(kPod)), options, &object);
    if (error.isError())
        return error.message().toUtf8();
    Object read;
    fuzzing::require(Object::fromJson(object.toJson(), &read).isOk());
    return object.toJson();
}

void checkObject(const fuzzing::Input &input)
{
    const QByteArray head = input.bytes.left(input.cut);
    priv::ObjectDecoder remembering;
    decoded(remembering, input.bytes);
    decoded(remembering, head);
    priv::ObjectDecoder fresh;
    fuzzing::require(decoded(remembering, input.bytes) == decoded(fresh, input.bytes));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzzing::Input input;
    if (size < 1 || !fuzzing::readInput(data + 1, size - 1, &input))
        return 0;
    KubernetesSchema::builtIn(); // stays
    return fuzzing::leavingNothing([&] {
        if (data[0] % 3 == 0)
            fuzzing::require(listed(input.pieces()) == listed({input.bytes}));
        else if (data[0] % 3 == 1)
            fuzzing::require(watched(input.pieces()) == watched({input.bytes}));
        else
            checkObject(input);
    });
}
