// Makes the kernel notice a peer that vanished. Qt before 6.11 has no knob for it, so the sockets
// are found from outside: all TCP descriptors of this process whose peer has the server's port (and
// address, where the host is a literal). Source: tcp(7); BEHAVIOURS.md C-35, case B11. Test:
// tst_deadpeer.
#pragma once

#include <QtCore/qstring.h>
#include <chrono>

namespace davit::transport {

struct KeepAliveSettings
{
    std::chrono::seconds idle{15};
    std::chrono::seconds interval{5};
    int probes = 4;
    std::chrono::seconds userTimeout{35};
};

// Tunes every connected TCP socket to host:port. Answers how many there were. Costs two system
// calls a descriptor: call it once a connection, not once a request. [thread-safe]
int tuneKeepAlive(const QString &host, quint16 port, const KeepAliveSettings &settings = {});

} // namespace davit::transport
