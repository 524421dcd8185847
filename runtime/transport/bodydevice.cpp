#include "bodydevice.h"

#include <algorithm>
#include <cstring>

namespace davit::transport {

BodyDevice::BodyDevice(const QByteArray &body, std::shared_ptr<const support::Permit> permit)
    : m_body(body), m_permit(std::move(permit))
{
    open(QIODevice::ReadOnly | QIODevice::Unbuffered);
}

qint64 BodyDevice::bytesAvailable() const
{
    return m_body.size() - m_at + QIODevice::bytesAvailable();
}

qint64 BodyDevice::readData(char *data, qint64 maxSize)
{
    const qsizetype count = std::min<qsizetype>(maxSize, m_body.size() - m_at);
    if (count <= 0)
        return m_at < m_body.size() ? 0 : -1;
    if (m_permit && !m_permit->isValid()) {
        Q_EMIT refused();
        return 0;
    }
    std::memcpy(data, m_body.constData() + m_at, size_t(count));
    m_at += count;
    return count;
}

} // namespace davit::transport
