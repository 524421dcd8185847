// A watch stream: the same events wherever it is cut, nothing behind an error, and nothing that
// stays in the pool.
#include "fuzzing.h"

#include "codec/watchdecoder.h"

using namespace davit;

namespace {

constexpr codec::Limits kLimits{1024, 1024}; // so that short inputs pass them

QByteArray watched(const QList<QByteArray> &pieces)
{
    codec::WatchDecoder decoder({}, kLimits);
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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzzing::Input input;
    if (!fuzzing::readInput(data, size, &input))
        return 0;
    return fuzzing::leavingNothing(
        [&input] { fuzzing::require(watched(input.pieces()) == watched({input.bytes})); });
}
