// A listening socket on 127.0.0.1 and the thread that accepts: what FaultProxy and WatchScript have
// in common. Contract:
//   - Sockets that were accepted belong to who took them; stop() ends the accepting alone.
//   - A second start() comes back at the port of the first.
// Tests: tst_faultproxy, tst_watchscript.
#pragma once

#include <davit/status.h>

#include <atomic>
#include <functional>
#include <thread>

namespace davit::testing {

class Listener
{
public:
    // Takes a connection, on the listener's thread; owns the descriptor.
    using Accepted = std::function<void(int fd)>;
    // How long a thread that waits for a socket does not look around.
    static constexpr int kLookAroundMs = 10;

    // `name` opens the sentence of an error.
    Listener(const QString &name, Accepted accepted);
    ~Listener();
    Q_DISABLE_COPY_MOVE(Listener)

    // Nothing when it listens already. InvalidConfiguration when it cannot. [host-thread]
    Status start();
    // Waits for the thread. [host-thread]
    void stop();
    // True from the beginning of stop() until the next start(). [thread-safe]
    bool isStopping() const { return m_isStopping; }
    // 0 before the first start(). [thread-safe]
    quint16 port() const { return m_port; }

    // Lets the next close() of a socket send a reset.
    static void resetOnClose(int fd);
    // False when the other side is gone.
    static bool sendAll(int fd, const char *bytes, std::size_t size);

private:
    void run();

    const QString m_name;
    const Accepted m_accepted;
    int m_fd = -1;
    std::atomic<quint16> m_port{0};
    std::atomic<bool> m_isStopping{false};
    std::thread m_thread;
};

} // namespace davit::testing
