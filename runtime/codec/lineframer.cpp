// Lines from chunks.
#include "lineframer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace davit::codec {

namespace {

// Nothing but what may stand between two JSON texts: CRLF of a proxy's keep-alive, for one.
bool isBlank(QByteArrayView line)
{
    return std::all_of(
        line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

} // namespace

LineFramer::LineFramer(qsizetype maxLineBytes) : m_maxLineBytes(maxLineBytes) { }

QList<QByteArray> LineFramer::feed(const QByteArray &chunk)
{
    QList<QByteArray> lines;
    m_skippedLines.clear();
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
    if (m_skipping.bytes > 0 || m_pending.size() + bytes > m_maxLineBytes) {
        m_skipping.bytes += m_pending.size() + bytes;
        if (!m_pending.isEmpty())
            m_skipping.head = std::exchange(m_pending, {}).left(kHeadBytes);
        m_skipping.head.append(begin, std::min(bytes, kHeadBytes - m_skipping.head.size()));
        if (isLineEnd) {
            m_skipping.before = lines.size();
            m_skippedLines.append(std::exchange(m_skipping, {}));
        }
        return;
    }
    if (!isLineEnd) {
        m_pending.append(begin, bytes);
    } else if (!m_pending.isEmpty()) {
        m_pending.append(begin, bytes);
        if (!isBlank(m_pending))
            lines.append(std::move(m_pending));
        m_pending = QByteArray();
    } else if (!isBlank(QByteArrayView(begin, bytes))) {
        lines.append(QByteArray::fromRawData(begin, bytes));
    }
}

qsizetype LineFramer::pendingBytes() const
{
    return m_pending.size();
}

bool LineFramer::isInsideLine() const
{
    return !isBlank(m_pending) || m_skipping.bytes > 0;
}

const QList<SkippedLine> &LineFramer::skippedLines() const
{
    return m_skippedLines;
}

} // namespace davit::codec
