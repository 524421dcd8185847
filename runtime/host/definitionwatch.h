// Hears of CustomResourceDefinitions that come, change or go, so that the kinds of plugins follow
// at once and not only when they are looked for the next time (M-9). Contract:
//   - One watch of their metadata alone, begun when the first group is wanted that Kubernetes
//   itself does not have; it is a view as a plugin's, on the shared informers.
//   - What was there at the first sync is no news. Groups that change are gathered for kGather,
//   since a definition changes several times until its kind is served.
//   - A server that refuses, or has no such resource, is told once in the log and asked again after
//   kAskRefusedAgain, since rights may come; one that does not answer, after kAskAgain.
// Source: Kubernetes API concepts; an object's name is "<plural>.<group>", which the API server
// checks. Test: tst_definitionwatch; tst_kindinstalled.
#pragma once

#include <davit/informer.h>
#include <davit/logging.h>
#include <davit/priv/backends.h>
#include <support/timesource.h>
#include <transport/resource.h>

#include <QtCore/qobject.h>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

namespace davit::pluginhost {
struct PluginMetadata;
}

namespace davit::host {

// True for groups whose kinds come by a CRD or an aggregated server; not for "*", by which a rule
// names none. [thread-safe]
bool isInstallable(const QString &group);
// Whether it declares kinds of such a group, or its client may reach them. [thread-safe]
bool namesInstallable(const pluginhost::PluginMetadata &metadata);

class DefinitionWatch final : public QObject
{
public:
    static constexpr std::chrono::milliseconds kGather{500};
    static constexpr std::chrono::seconds kAskAgain{10};
    static constexpr std::chrono::minutes kAskRefusedAgain{5};
    // As every server addresses them.
    static const transport::Resource &resource();

    struct Surroundings
    {
        // Asks the server for a list of one; the answer's error, or none, on any thread.
        std::function<void(std::function<void(const Error &)> answered)> probe;
        // As PluginServices::makeInformer().
        std::function<Status(const InformerRequest &request, priv::FaultSink &faults,
            std::unique_ptr<priv::InformerBackend> *backend)>
            makeInformer;
        // These groups have news; on the executor.
        std::function<void(const std::set<QString> &groups)> onChanged;
        support::Executor *executor = nullptr; // borrowed, as the time; of timers
        support::TimeSource *time = nullptr;
        Logger log;
    };

    explicit DefinitionWatch(Surroundings around);
    // Nothing calls back any more by then. [host-thread]
    ~DefinitionWatch() override;

    // Some plugin waits for a kind of this group, has it, or may ask for it. [host-thread]
    void want(const QString &group);
    // The informer on `gvk` had a round that failed. [thread-safe]
    void failed(const Gvk &gvk, const Error &error);

private:
    void ask();
    void askIn(std::chrono::seconds delay);
    void answered(const Error &error);
    void begin();
    void refused(const Error &error);
    void changed(const Object &definition);
    void tell();

    const Surroundings m_around;
    std::unique_ptr<priv::FaultSink> m_faults;
    std::unique_ptr<Informer> m_informer; // [host-thread]
    bool m_isWanted = false; // [host-thread]
    bool m_isRefused = false; // [host-thread]
    bool m_isWatchRefused = false; // though a list was allowed: the next list tells nothing
    std::mutex m_mutex;
    std::set<QString> m_groups; // with news; GUARDED_BY(m_mutex)
    support::TimeSource::TimerId m_timer = 0; // until they are told; GUARDED_BY(m_mutex)
    support::TimeSource::TimerId m_askTimer = 0; // GUARDED_BY(m_mutex)
};

} // namespace davit::host
