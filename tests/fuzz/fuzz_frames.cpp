// Lines from chunks: the same lines wherever the stream is cut, and those that a plain split gives.
#include "fuzzing.h"

#include "codec/lineframer.h"

#include <algorithm>

namespace {

constexpr qsizetype kMaxLineBytes = 48; // so that short inputs pass it

struct Seen
{
    QList<QByteArray> lines;
    QByteArrayList skipped;
    bool isInside = false;

    bool operator==(const Seen &) const = default;
};

Seen framed(const QList<QByteArray> &pieces)
{
    davit::codec::LineFramer framer(kMaxLineBytes);
    Seen seen;
    for (const QByteArray &piece : pieces) {
        seen.lines += framer.feed(piece);
        fuzzing::require(framer.pendingBytes() <= kMaxLineBytes);
        for (const davit::codec::SkippedLine &line : framer.skippedLines()) {
            fuzzing::require(line.bytes > kMaxLineBytes && line.head.size() <= line.bytes);
            seen.skipped.append(line.head);
        }
    }
    seen.isInside = framer.isInsideLine();
    return seen;
}

bool isBlank(const QByteArray &line)
{
    return std::all_of(
        line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

Seen split(const QByteArray &bytes)
{
    Seen seen;
    QList<QByteArray> lines = bytes.split('\n');
    const QByteArray last = lines.takeLast();
    seen.isInside = last.size() > kMaxLineBytes || !isBlank(last);
    for (const QByteArray &line : lines) {
        if (line.size() > kMaxLineBytes)
            seen.skipped.append(line);
        else if (!isBlank(line))
            seen.lines.append(line);
    }
    return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzzing::Input input;
    if (!fuzzing::readInput(data, size, &input))
        return 0;
    QList<QByteArray> bytewise;
    for (const char c : input.bytes)
        bytewise.append(QByteArray(1, c));
    const Seen want = split(input.bytes);
    fuzzing::require(framed({input.bytes}) == want);
    fuzzing::require(framed(input.pieces()) == want);
    fuzzing::require(framed(bytewise) == want);
    return 0;
}
