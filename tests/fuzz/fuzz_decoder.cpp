// Feeds arbitrary bytes to everything that parses what a server sends. What it checks, beside not
// crashing: a decoded object reads back as the same object, by both of our parsers; a stream gives
// the same events wherever it is cut; nothing stays in the pool.
#include "codec/listdecoder.h"
#include "codec/statusdecoder.h"
#include "codec/watchdecoder.h"

#include <davit/objectbuilder.h>

#include <cstdlib>

using namespace davit;

namespace {

// The build may define NDEBUG; these checks stay.
void require(bool holds)
{
    if (!holds)
        std::abort();
}

void fuzzObject(const QByteArray &bytes)
{
    priv::DecodeOptions options;
    options.managedFields = priv::ManagedFields::Keep;
    priv::ObjectDecoder decoder;
    Object pooled;
    Object own;
    const bool isGood = !decoder.decode(bytes, options, &pooled).isError();
    require(isGood == Object::fromJson(bytes, &own).isOk());
    if (!isGood)
        return;
    require(pooled == own);
    require(priv::PoolAccess::peek(priv::internObject(own)) == priv::PoolAccess::peek(pooled));
    Object again;
    require(!decoder.decode(pooled.toJson(), options, &again).isError());
    require(again == pooled);
    require(ObjectBuilder(pooled)
                .setLabel(QStringLiteral("a"), QStringLiteral("b"))
                .build()
                .label(QLatin1StringView("a"))
        == QStringLiteral("b"));
    require(priv::exclusiveBytes(pooled) > 0);
    priv::metadataOnly(pooled);
}

QByteArray watched(const QByteArray &bytes, qsizetype cut)
{
    codec::WatchDecoder decoder({}, {1 << 16, 1 << 16});
    QByteArray seen;
    for (const QByteArray &chunk : {bytes.left(cut), bytes.mid(cut)}) {
        for (const codec::WatchEvent &event : decoder.feed(chunk)) {
            seen += QByteArray::number(int(event.type)) + event.object.toJson()
                + event.resourceVersion.toUtf8() + event.error.message().toUtf8() + '\n';
        }
    }
    return seen + QByteArray::number(decoder.badObjects());
}

QByteArray listed(const QByteArray &bytes, qsizetype cut)
{
    codec::ListDecoder decoder({QString(), QStringLiteral("v1"), QStringLiteral("Pod")}, {});
    QByteArray seen;
    for (const QByteArray &chunk : {bytes.left(cut), bytes.mid(cut)}) {
        for (const Object &object : decoder.feed(chunk))
            seen += object.toJson() + '\n';
    }
    return seen + decoder.finish().message().toUtf8() + decoder.meta().resourceVersion.toUtf8()
        + decoder.badItemNotes().join(QLatin1Char('\n')).toUtf8();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size < 2)
        return 0;
    const std::uint64_t before = priv::poolStats().liveBlocks;
    const QByteArray bytes(reinterpret_cast<const char *>(data + 2), qsizetype(size - 2));
    const qsizetype cut = bytes.isEmpty() ? 0 : (data[0] << 8 | data[1]) % bytes.size();
    fuzzObject(bytes);
    require(watched(bytes, cut) == watched(bytes, bytes.size()));
    require(listed(bytes, cut) == listed(bytes, bytes.size()));
    codec::errorFromReply(QStringLiteral("get"), "GET", 400 + data[0], bytes, {});
    require(priv::poolStats().liveBlocks == before);
    return 0;
}
