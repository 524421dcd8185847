// A list: the same items, notes and verdict wherever it is cut; a list that was cut is never whole;
// nothing stays in the pool.
#include "fuzzing.h"

#include "codec/listdecoder.h"

using namespace davit;

namespace {

constexpr codec::Limits kLimits{1024, 1024}; // so that short inputs pass them

QByteArray listed(const QList<QByteArray> &pieces, bool *isWhole)
{
    codec::ListDecoder decoder(
        {QString(), QStringLiteral("v1"), QStringLiteral("Pod")}, {}, kLimits);
    QByteArray seen;
    for (const QByteArray &piece : pieces) {
        for (const Object &object : decoder.feed(piece)) {
            fuzzing::require(!object.isNull());
            seen += object.toJson() + '\n';
        }
    }
    const Error error = decoder.finish();
    *isWhole = !error.isError();
    return seen + error.message().toUtf8() + decoder.meta().resourceVersion.toUtf8()
        + decoder.badItemNotes().join(QLatin1Char('\n')).toUtf8();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzzing::Input input;
    if (!fuzzing::readInput(data, size, &input))
        return 0;
    return fuzzing::leavingNothing([&input] {
        bool isWhole = false;
        bool isAlsoWhole = false;
        fuzzing::require(listed(input.pieces(), &isWhole) == listed({input.bytes}, &isAlsoWhole));
        fuzzing::require(isWhole == isAlsoWhole);
        if (isWhole) {
            const QByteArray cut = input.bytes.trimmed().chopped(1);
            listed({cut}, &isAlsoWhole);
            fuzzing::require(!isAlsoWhole);
        }
    });
}
