// Lines from chunks.
#include "lineframer.h"

#include <cstring>

namespace davit::codec {

LineFramer::LineFramer(qsizetype maxLineBytes) : m_maxLineBytes(maxLineBytes) { }

QList<QByteArray> LineFramer::feed(const QByteArray &chunk)
{
    QList<QByteArray> lines;
    const char *p = chunk.constData();
    const char *const end = p + chunk.size();
    while (p < end) {
        const auto *newline = static_cast<const char *>(std::memchr(p, '\n', std::size_t(end - p)));
        take(p, newline == nullptr ? end : newline, newline != nullptr, lines);
        p = newline == nullptr ? end : newline + 1;
    }
    return lines;
}

void LineFramer::take(const char *begin, const char *end, bool isLineEnd, QList<QByteArray> &lines)
{
    const qsizetype bytes = end - begin;
    if (m_skippingBytes > 0 || m_pending.size() + bytes > m_maxLineBytes) {
        m_skippingBytes += m_pending.size() + bytes;
        m_pending = QByteArray();
        if (isLineEnd) {
            ++m_skippedLines;
            m_lastSkippedBytes = m_skippingBytes;
            m_skippingBytes = 0;
        }
        return;
    }
    if (!isLineEnd) {
        m_pending.append(begin, bytes);
    } else if (!m_pending.isEmpty()) {
        m_pending.append(begin, bytes);
        lines.append(std::move(m_pending));
        m_pending = QByteArray();
    } else if (bytes > 0) {
        lines.append(QByteArray::fromRawData(begin, bytes));
    }
}

qsizetype LineFramer::pendingBytes() const
{
    return m_pending.size();
}

bool LineFramer::isInsideLine() const
{
    return !m_pending.isEmpty() || m_skippingBytes > 0;
}

qsizetype LineFramer::skippedLines() const
{
    return m_skippedLines;
}

qsizetype LineFramer::lastSkippedBytes() const
{
    return m_lastSkippedBytes;
}

} // namespace davit::codec
