#include "serverwarnings.h"

namespace davit::transport {

void ServerWarnings::tell(const QList<QByteArray> &texts)
{
    const std::lock_guard lock(m_mutex);
    for (const QByteArray &text : texts) {
        if (m_isFull || m_told.contains(text))
            continue;
        if (m_told.size() == kMaxTexts) {
            m_isFull = true;
            m_log.warning("the API server warns of more than is told", {{"texts", kMaxTexts}});
            continue;
        }
        m_told.insert(text);
        m_log.warning("the API server warns", {{"warning", QString::fromUtf8(text)}});
    }
}

} // namespace davit::transport
