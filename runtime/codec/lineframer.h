// Cuts a byte stream into lines: one JSON value a line, UTF-8. Bytes copied grow linearly with the
// stream, however small its pieces. Case B20. Test: tst_lineframer.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>

namespace davit::codec {

constexpr qsizetype kDefaultMaxLineBytes = qsizetype(16) << 20;

// Not thread-safe.
class LineFramer
{
public:
    // A line longer than `maxLineBytes` is left out and counted; those behind it are fine.
    explicit LineFramer(qsizetype maxLineBytes = kDefaultMaxLineBytes);
    // Whole lines in order, newline removed, empty ones left out. Those that lie in the chunk refer
    // to its bytes: use them while it lives. O(bytes).
    QList<QByteArray> feed(const QByteArray &chunk);
    // Bytes kept for the next chunk.
    qsizetype pendingBytes() const;
    // The stream stands inside a line, a left out one included.
    bool isInsideLine() const;
    // Lines left out because of their size, and the size of the last one, in bytes.
    qsizetype skippedLines() const;
    qsizetype lastSkippedBytes() const;

private:
    void take(const char *begin, const char *end, bool isLineEnd, QList<QByteArray> &lines);

    QByteArray m_pending;
    const qsizetype m_maxLineBytes;
    qsizetype m_skippingBytes = 0; // of the line that is being left out; 0: none
    qsizetype m_skippedLines = 0;
    qsizetype m_lastSkippedBytes = 0;
};

} // namespace davit::codec
