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

    struct Look
    {
        Gvk gvk;
        std::function<void()> done;
        std::function<void(const QString &)> waiting;
        quint64 news = 0; // of its group, when it was asked
    };
    struct Pause
    {
        Look next;
        support::TimeSource::TimerId timer = 0;
    };

    void look(Look look)
    {
        {
            const std::lock_guard lock(mutex);
            look.news = news.value(look.gvk.group);
        }
        ask(look.gvk, [self = shared_from_this(), look](const Result<transport::Resource> &answer) {
            self->answered(look, answer);
        });
    }

    void answered(const Look &look, const Result<transport::Resource> &answer)
    {
        bool isOutdated = false;
        {
            const std::lock_guard lock(mutex);
            if (isClosed)
                return;
            isOutdated = look.news != news.value(look.gvk.group);
            if (!isOutdated && answer.isOk())
                known.insert(look.gvk, answer.value());
        }
        if (isOutdated)
            return this->look(look);
        if (answer.isOk())
            return look.done();
        look.waiting(answer.error().message());
        const std::lock_guard lock(mutex);
        if (isClosed)
            return;
        const quint64 pause = ++lastPause;
        pauses[pause] = {look, time.callAfter(kPause, executor, [self = weak_from_this(), pause] {
                             if (const std::shared_ptr<Core> core = self.lock())
                                 core->pauseEnded(pause);
                         })};
    }

    void pauseEnded(quint64 pause)
    {
        Look next;
        {
            const std::lock_guard lock(mutex);
            const auto ended = pauses.find(pause);
            if (ended == pauses.end())
                return; // it was cut short, and looked for
            next = ended->second.next;
            pauses.erase(ended);
        }
        look(next);
    }

    // Ends the pauses of kinds that `isIts` takes.
    void cutPauses(const std::function<bool(const Gvk &)> &isIts)
    {
        std::vector<Pause> cut;
        {
            const std::lock_guard lock(mutex);
            for (auto i = pauses.begin(); i != pauses.end();) {
                if (!isIts(i->second.next.gvk)) {
                    ++i;
                    continue;
                }
                cut.push_back(std::move(i->second));
                i = pauses.erase(i);
            }
        }
        for (const Pause &pause : cut) {
            time.cancel(pause.timer);
            look(pause.next);
        }
    }

    // The executor need not live longer.
    void close()
    {
        std::map<quint64, Pause> pausing;
        {
            const std::lock_guard lock(mutex);
            isClosed = true;
            pausing.swap(pauses);
        }
        for (const auto &[number, pause] : pausing)
            time.cancel(pause.timer);
    }

    const Ask ask;
    support::Executor &executor;
    support::TimeSource &time;
    mutable std::mutex mutex;
    QHash<Gvk, transport::Resource> known; // GUARDED_BY(mutex)
    QHash<QString, quint64> news; // by group; GUARDED_BY(mutex)
    QSet<Gvk> again; // are looked for again; GUARDED_BY(mutex)
    std::map<quint64, Pause> pauses; // until the next look; GUARDED_BY(mutex)
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
    m_core->look({gvk, std::move(done), std::move(waiting)});
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
    core->look({gvk, found, [](const QString &) {}});
}

void Kinds::groupsChanged(const std::set<QString> &groups,
    const std::function<void(const Gvk &gvk, const transport::Resource &now)> &changed)
{
    const auto isIts = [&groups](const Gvk &gvk) { return groups.contains(gvk.group); };
    QList<Gvk> found;
    {
        const std::lock_guard lock(m_core->mutex);
        for (const QString &group : groups)
            ++m_core->news[group];
        found = m_core->known.keys();
    }
    m_core->cutPauses(isIts);
    for (const Gvk &gvk : std::as_const(found))
        if (isIts(gvk))
            lookAgain(gvk, [changed, gvk](const transport::Resource &now) { changed(gvk, now); });
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
