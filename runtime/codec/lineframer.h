// Cuts a byte stream into lines: one JSON value a line, UTF-8. Test: tst_lineframer.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>

namespace davit::codec {

// Not thread-safe.
class LineFramer
{
public:
    // `maxLineBytes`: a longer line is an error (hasOverflowed), as is anything after it.
    explicit LineFramer(qsizetype maxLineBytes = qsizetype(64) << 20);
    // Whole lines in order, newline removed, empty ones left out. O(bytes).
    QList<QByteArray> feed(const QByteArray &chunk);
    // Bytes kept for the next chunk.
    qsizetype pendingBytes() const;
    bool hasOverflowed() const;

private:
    QByteArray m_pending;
    const qsizetype m_maxLineBytes;
    bool m_hasOverflowed = false;
};

} // namespace davit::codec
