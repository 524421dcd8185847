#include "connections.h"

#include <algorithm>
#include <sys/socket.h>

namespace davit::web {

void Connections::accepted()
{
    const std::lock_guard lock(m_mutex);
    ++m_open;
    shutOldest();
}

void Connections::begin(int socket)
{
    const std::lock_guard lock(m_mutex);
    m_order.push_back(socket);
    if (m_isOver)
        ::shutdown(socket, SHUT_RD);
    shutOldest(); // it may be itself: others wait, and have waited less
}

void Connections::renew(int socket)
{
    const std::lock_guard lock(m_mutex);
    const auto found = std::find(m_order.begin(), m_order.end(), socket);
    if (found != m_order.end())
        m_order.splice(m_order.end(), m_order, found);
}

void Connections::end(int socket)
{
    const std::lock_guard lock(m_mutex);
    --m_open;
    if (m_order.remove(socket) == 0)
        --m_shut;
}

void Connections::finish()
{
    const std::lock_guard lock(m_mutex);
    m_isOver = true;
    for (const int socket : m_order)
        ::shutdown(socket, SHUT_RD);
}

void Connections::shutOldest()
{
    for (; m_open - m_shut > m_most && !m_order.empty(); ++m_shut) {
        ::shutdown(m_order.front(), SHUT_RDWR);
        m_order.pop_front();
    }
}

} // namespace davit::web
