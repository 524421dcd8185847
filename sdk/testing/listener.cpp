#include "listener.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace davit::testing {

Listener::Listener(const QString &name, Accepted accepted)
    : m_name(name), m_accepted(std::move(accepted))
{ }

Listener::~Listener()
{
    stop();
}

Status Listener::start()
{
    if (m_fd >= 0)
        return Status::ok();
    m_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(m_port);
    socklen_t size = sizeof(address);
    const int yes = 1;
    setsockopt(m_fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (m_fd < 0 || bind(m_fd, reinterpret_cast<sockaddr *>(&address), size) != 0
        || listen(m_fd, 128) != 0
        || getsockname(m_fd, reinterpret_cast<sockaddr *>(&address), &size) != 0) {
        if (m_fd >= 0)
            close(m_fd);
        m_fd = -1;
        return Status(ErrorCode::InvalidConfiguration,
            m_name + QStringLiteral(": cannot listen on 127.0.0.1"));
    }
    m_port = ntohs(address.sin_port);
    m_isStopping = false;
    m_thread = std::thread([this] { run(); });
    return Status::ok();
}

void Listener::stop()
{
    if (m_fd < 0)
        return;
    m_isStopping = true;
    m_thread.join();
    close(m_fd);
    m_fd = -1;
}

void Listener::run()
{
    while (!m_isStopping) {
        pollfd poller{m_fd, POLLIN, 0};
        if (poll(&poller, 1, kLookAroundMs) <= 0)
            continue;
        const int fd = accept4(m_fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0)
            m_accepted(fd);
    }
}

void Listener::resetOnClose(int fd)
{
    const linger atOnce{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &atOnce, sizeof(atOnce));
}

bool Listener::sendAll(int fd, const char *bytes, std::size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        size -= std::size_t(sent);
    }
    return true;
}

} // namespace davit::testing
