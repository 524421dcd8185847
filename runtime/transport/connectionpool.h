// Which QNetworkAccessManager serves which exchange. Qt opens six connections to a host and lets
// further requests starve in silence, so the counting is ours (case B61):
//   - calls, lists and leases: one manager each with 6, 4 and 6 exchanges at a time; the others
//   wait here, in order.
//   - watches: shards of five, made on demand and dropped when empty.
//   - a manager never changes its credentials: Qt's connection cache ignores them. It is retired,
//   what runs on it goes on, and new exchanges get a new one. So is one whose peer did not answer.
// All of it is [io-thread]. Test: tst_connectionpool; tst_qnamtransport, manyWatches.
#pragma once

#include "transport.h"
#include "transportcounts.h"

#include <QtNetwork/qnetworkaccessmanager.h>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace davit::transport {

class ConnectionPool
{
public:
    struct Manager
    {
        std::unique_ptr<QNetworkAccessManager> qnam;
        Channel channel;
        int running = 0;
        bool isRetired = false;
    };
    class Waiter
    {
    public:
        virtual ~Waiter() = default;
        // `manager` is kept by the pool until release().
        virtual void onManager(Manager &manager) = 0;
    };
    using Factory = std::function<std::unique_ptr<QNetworkAccessManager>()>;

    explicit ConnectionPool(Factory factory, ManagerListener listener = {});
    ~ConnectionPool();
    Q_DISABLE_COPY_MOVE(ConnectionPool)

    // Calls onManager() at once, or when another exchange of the channel ends.
    void enqueue(Channel channel, Waiter &waiter);
    // A waiter that has no manager yet is not served any more.
    void forget(Waiter &waiter);
    // The exchange on this manager ended.
    void release(Manager &manager);
    // New exchanges get another manager.
    void retire(Manager &manager);
    void retireAll();

private:
    Manager *findOrMake(Channel channel); // null: all slots of the channel are taken
    void tellUse(ManagerUse use) const;
    void tellCount() const;
    void dropIfUnused(Manager &manager);
    void serve(Channel channel);

    const Factory m_factory;
    const ManagerListener m_listener;
    std::vector<std::unique_ptr<Manager>> m_managers;
    std::array<std::deque<Waiter *>, 4> m_waiting; // by Channel
};

} // namespace davit::transport
