// Cuts a byte stream into lines: one JSON value a line, UTF-8. Bytes copied grow linearly with the
// stream, however small its pieces. Case B20. Test: tst_lineframer.
#pragma once

#include "limits.h"

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>

namespace davit::codec {

// A line that was left out because of its size.
struct SkippedLine
{
    qsizetype bytes = 0;
    QByteArray head; // its first kHeadBytes at most
    qsizetype before = 0; // it stood before that one of the lines that feed() gave
};

// Not thread-safe.
class LineFramer
{
public:
    // A line longer than `maxLineBytes` is left out; those behind it are fine.
    explicit LineFramer(qsizetype maxLineBytes = Limits().maxEventBytes);
    // Whole lines in order, newline removed, blank ones left out. Those that lie in the chunk refer
    // to its bytes: use them while it lives. O(bytes).
    QList<QByteArray> feed(const QByteArray &chunk);
    // Bytes kept for the next chunk.
    qsizetype pendingBytes() const;
    // The stream stands inside a line, a left out one included.
    bool isInsideLine() const;
    // The lines that ended in the last feed() and were left out, in order.
    const QList<SkippedLine> &skippedLines() const;

private:
    void take(const char *begin, const char *end, bool isLineEnd, QList<QByteArray> &lines);

    QByteArray m_pending;
    const qsizetype m_maxLineBytes;
    SkippedLine m_skipping; // the line that is being left out; no bytes: none
    QList<SkippedLine> m_skippedLines;
};

} // namespace davit::codec
