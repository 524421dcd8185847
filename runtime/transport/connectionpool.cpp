#include "connectionpool.h"

#include <algorithm>
#include <utility>

namespace davit::transport {
namespace {

int slotsOf(Channel channel)
{
    switch (channel) {
    case Channel::Watch:
        return 5; // of Qt's six connections one stays free for the next reopen
    case Channel::List:
        return 4;
    case Channel::Call:
    case Channel::Lease:
        break;
    }
    return 6;
}

} // namespace

ConnectionPool::ConnectionPool(Factory factory, ManagerListener listener)
    : m_factory(std::move(factory)), m_listener(std::move(listener))
{ }

ConnectionPool::~ConnectionPool() = default;

void ConnectionPool::enqueue(Channel channel, Waiter &waiter)
{
    m_waiting[size_t(channel)].push_back(&waiter);
    serve(channel);
}

void ConnectionPool::forget(Waiter &waiter)
{
    for (auto &queue : m_waiting)
        queue.erase(std::remove(queue.begin(), queue.end(), &waiter), queue.end());
}

void ConnectionPool::release(Manager &manager)
{
    const Channel channel = manager.channel;
    --manager.running;
    dropIfUnused(manager);
    serve(channel);
}

void ConnectionPool::retire(Manager &manager)
{
    const Channel channel = manager.channel;
    manager.isRetired = true;
    dropIfUnused(manager);
    serve(channel);
}

void ConnectionPool::retireAll()
{
    for (const auto &manager : m_managers)
        manager->isRetired = true;
    for (size_t i = m_managers.size(); i-- > 0;)
        dropIfUnused(*m_managers[i]);
}

ConnectionPool::Manager *ConnectionPool::findOrMake(Channel channel)
{
    for (const auto &manager : m_managers) {
        if (manager->channel != channel || manager->isRetired)
            continue;
        if (manager->running < slotsOf(channel)) {
            tellUse(ManagerUse::Hit);
            return manager.get();
        }
        if (channel != Channel::Watch)
            return nullptr;
    }
    auto made = std::make_unique<Manager>();
    made->qnam = m_factory();
    made->channel = channel;
    m_managers.push_back(std::move(made));
    tellUse(ManagerUse::Miss);
    tellCount();
    return m_managers.back().get();
}

void ConnectionPool::tellUse(ManagerUse use) const
{
    if (m_listener.onUse)
        m_listener.onUse(use);
}

void ConnectionPool::tellCount() const
{
    if (m_listener.onCount)
        m_listener.onCount(int(m_managers.size()));
}

void ConnectionPool::dropIfUnused(Manager &manager)
{
    if (manager.running > 0 || (!manager.isRetired && manager.channel != Channel::Watch))
        return;
    const auto found = std::find_if(m_managers.begin(), m_managers.end(),
        [&](const std::unique_ptr<Manager> &entry) { return entry.get() == &manager; });
    (*found)->qnam.release()->deleteLater(); // a signal of one of its replies may be under way
    m_managers.erase(found);
    tellCount();
}

void ConnectionPool::serve(Channel channel)
{
    auto &queue = m_waiting[size_t(channel)];
    while (!queue.empty()) {
        Manager *const manager = findOrMake(channel);
        if (!manager)
            return;
        Waiter &waiter = *queue.front();
        queue.pop_front();
        ++manager->running;
        waiter.onManager(*manager);
    }
}

} // namespace davit::transport
