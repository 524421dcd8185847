// The kinds that plugins wait for: each is looked for until the cluster serves it, then known.
// Contract: a kind that is not served, or whose discovery fails, is looked for again every 10 s
// (M-9), and at once when its group has changed; whoever waits is told why each time. What was
// found stays until lookAgain() finds another. Test: tst_kinds; tst_run.
#pragma once

#include <client/restmapper.h>

#include <functional>
#include <set>

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
    // A kind that was found is not served there any more: looks for it as resolve() does, until it
    // is served again. `changed` once, when it has another resource then. [thread-safe]
    void lookAgain(const Gvk &gvk, std::function<void(const transport::Resource &now)> changed);
    // Something of these groups was installed, changed or removed: who waits for a kind of theirs
    // is answered at once, and kinds that were found are looked for again, as lookAgain() does. An
    // answer that was on its way does not count. [thread-safe]
    void groupsChanged(const std::set<QString> &groups,
        const std::function<void(const Gvk &gvk, const transport::Resource &now)> &changed);
    // As it was found last; KindNotServed unless resolve() found it. [thread-safe]
    Result<transport::Resource> find(const Gvk &gvk) const;

private:
    struct Core;
    const std::shared_ptr<Core> m_core;
};

} // namespace davit::host
