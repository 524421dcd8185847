// One object: a decoded object reads back as the same object, by both of our parsers, and nothing
// stays in the pool.
#include "fuzzing.h"

#include <davit/objectbuilder.h>
#include <davit/priv/poolaccess.h>

using namespace davit;
using fuzzing::require;

namespace {

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
    ObjectBuilder changed(pooled);
    changed.setLabel(QStringLiteral("a"), QStringLiteral("b")).addOwner(own);
    require(!changed.status().isOk() // an array stands in the way
        || changed.build().label(QLatin1StringView("a")) == QStringLiteral("b"));
    require(priv::exclusiveBytes(pooled) > 0);
    priv::DecodeOptions slim = options;
    slim.depth = priv::Depth::MetadataOnly;
    require(!decoder.decode(bytes, slim, &again).isError());
    require(again == priv::metadataOnly(pooled));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    return fuzzing::leavingNothing(
        [&] { fuzzObject(QByteArray(reinterpret_cast<const char *>(data), qsizetype(size))); });
}
