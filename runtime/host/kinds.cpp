#include "kinds.h"

#include <QtCore/qset.h>
#include <map>
#include <mutex>

namespace davit::host {

namespace {
constexpr auto kPause = std::chrono::milliseconds(10'100); // RestMapper keeps a "no" for 10 s
}

struct Kinds::Core : std::enable_shared_from_this<Core>
{
    Core(Ask question, support::Executor &where, support::TimeSource &clock)
        : ask(std::move(question)), executor(where), time(clock)
    { }

    void look(
        const Gvk &gvk, std::function<void()> done, std::function<void(const QString &)> waiting)
    {
        ask(gvk,
            [self = shared_from_this(), gvk, done, waiting](
                const Result<transport::Resource> &answer) {
                self->answered(gvk, answer, done, waiting);
            });
    }

    void answered(const Gvk &gvk, const Result<transport::Resource> &answer,
        const std::function<void()> &done, const std::function<void(const QString &)> &waiting)
    {
        {
            const std::lock_guard lock(mutex);
            if (isClosed)
                return;
            if (answer.isOk())
                known.insert(gvk, answer.value());
        }
        if (answer.isOk())
            return done();
        waiting(answer.error().message());
        const std::lock_guard lock(mutex);
        if (isClosed)
            return;
        const quint64 pause = ++lastPause;
        pauses[pause] = time.callAfter(
            kPause, executor, [self = weak_from_this(), pause, gvk, done, waiting] {
                const std::shared_ptr<Core> core = self.lock();
                if (!core)
                    return;
                {
                    const std::lock_guard lock(core->mutex);
                    core->pauses.erase(pause);
                }
                core->look(gvk, done, waiting);
            });
    }

    // The executor need not live longer.
    void close()
    {
        std::map<quint64, support::TimeSource::TimerId> pausing;
        {
            const std::lock_guard lock(mutex);
            isClosed = true;
            pausing.swap(pauses);
        }
        for (const auto &[pause, timer] : pausing)
            time.cancel(timer);
    }

    const Ask ask;
    support::Executor &executor;
    support::TimeSource &time;
    mutable std::mutex mutex;
    QHash<Gvk, transport::Resource> known; // GUARDED_BY(mutex)
    QSet<Gvk> again; // are looked for again; GUARDED_BY(mutex)
    std::map<quint64, support::TimeSource::TimerId>
        pauses; // until the next look; GUARDED_BY(mutex)
    quint64 lastPause = 0; // GUARDED_BY(mutex)
    bool isClosed = false; // GUARDED_BY(mutex)
};

Kinds::Kinds(Ask ask, support::Executor &executor, support::TimeSource &time)
    : m_core(std::make_shared<Core>(std::move(ask), executor, time))
{ }

Kinds::~Kinds()
{
    m_core->close();
}

void Kinds::resolve(
    const Gvk &gvk, std::function<void()> done, std::function<void(const QString &)> waiting)
{
    m_core->look(gvk, std::move(done), std::move(waiting));
}

void Kinds::lookAgain(const Gvk &gvk, std::function<void(const transport::Resource &now)> changed)
{
    Core *const core = m_core.get(); // it is there when it calls
    transport::Resource before;
    {
        const std::lock_guard lock(core->mutex);
        if (core->again.contains(gvk))
            return;
        core->again.insert(gvk);
        before = core->known.value(gvk);
    }
    const auto found = [core, gvk, before, changed = std::move(changed)] {
        transport::Resource now;
        {
            const std::lock_guard lock(core->mutex);
            core->again.remove(gvk);
            now = core->known.value(gvk);
        }
        if (!(now == before))
            changed(now);
    };
    core->look(gvk, found, [](const QString &) {});
}

Result<transport::Resource> Kinds::find(const Gvk &gvk) const
{
    const std::lock_guard lock(m_core->mutex);
    const auto found = m_core->known.constFind(gvk);
    if (found != m_core->known.constEnd())
        return *found;
    return transport::kindNotServed(gvk);
}

} // namespace davit::host
