// The kinds that plugins wait for: each is looked for until the cluster serves it, then known.
// Contract: a kind that is not served, or whose discovery fails, is looked for again every 10 s
// (M-9); whoever waits is told why each time. Test: tst_run.
#pragma once

#include <client/restmapper.h>

#include <functional>
#include <map>

namespace davit::host {

class Kinds
{
public:
    // Asks the cluster once; RestMapper::resolve.
    using Ask = std::function<void(const Gvk &, client::RestMapper::Done)>;

    // Borrowed things outlive this.
    Kinds(Ask ask, support::Executor &executor, support::TimeSource &time);
    ~Kinds();
    Q_DISABLE_COPY_MOVE(Kinds)

    // `done` once, when it is served; `waiting` each time that it is not. On any thread.
    // [thread-safe]
    void resolve(const Gvk &gvk, std::function<void()> done,
        std::function<void(const QString &reason)> waiting);
    // KindNotServed unless resolve() found it. [thread-safe]
    Result<transport::Resource> find(const Gvk &gvk) const;

private:
    struct Core;
    const std::shared_ptr<Core> m_core;
};

} // namespace davit::host
