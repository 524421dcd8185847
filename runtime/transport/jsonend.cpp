#include "jsonend.h"

namespace davit::transport {

void JsonEnd::feed(QByteArrayView bytes)
{
    for (const char c : bytes) {
        if (m_isEscaped) {
            m_isEscaped = false;
        } else if (m_isInString) {
            m_isEscaped = c == '\\';
            m_isInString = c != '"';
        } else if (c == '"') {
            m_isInString = true;
        } else if (c == '{' || c == '[') {
            m_isStarted = true;
            ++m_depth;
        } else if (c == '}' || c == ']') {
            --m_depth;
        }
    }
}

} // namespace davit::transport
