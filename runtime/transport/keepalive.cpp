#include "keepalive.h"

#include <QtNetwork/qhostaddress.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>

namespace davit::transport {
namespace {

bool isPeer(int descriptor, const QHostAddress &address, quint16 port)
{
    sockaddr_storage peer = {};
    socklen_t size = sizeof peer;
    auto *const plain = reinterpret_cast<sockaddr *>(&peer);
    if (getpeername(descriptor, plain, &size) != 0)
        return false;
    quint16 peerPort = 0;
    if (peer.ss_family == AF_INET)
        peerPort = ntohs(reinterpret_cast<const sockaddr_in &>(peer).sin_port);
    else if (peer.ss_family == AF_INET6)
        peerPort = ntohs(reinterpret_cast<const sockaddr_in6 &>(peer).sin6_port);
    else
        return false;
    return peerPort == port
        && (address.isNull()
            || QHostAddress(plain).isEqual(address, QHostAddress::TolerantConversion));
}

void setOption(int descriptor, int level, int name, int value)
{
    setsockopt(descriptor, level, name, &value, sizeof value); // fails on what is not TCP: harmless
}

} // namespace

int tuneKeepAlive(const QString &host, quint16 port, const KeepAliveSettings &settings)
{
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir("/proc/self/fd"), closedir);
    if (!folder)
        return 0;
    const QHostAddress address(host); // null for a name
    int count = 0;
    while (const dirent *const entry = readdir(folder.get())) {
        const int descriptor = std::atoi(entry->d_name);
        if (descriptor <= 2 || !isPeer(descriptor, address, port))
            continue;
        setOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
        setOption(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, int(settings.idle.count()));
        setOption(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, int(settings.interval.count()));
        setOption(descriptor, IPPROTO_TCP, TCP_KEEPCNT, settings.probes);
        setOption(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT,
            int(std::chrono::milliseconds(settings.userTimeout).count()));
        ++count;
    }
    return count;
}

} // namespace davit::transport
