// Services that start nothing: kinds are served when told to, controllers are written down.
#pragma once

#include "../unit/sdk/fakebackends.h"

#include "pluginhost/pluginservices.h"

#include <mutex>

namespace davit::pluginhost {

class FakeServices final : public PluginServices
{
public:
    void resolve(const Gvk &, std::function<void()> done,
        std::function<void(const QString &)> waiting) override
    {
        if (areKindsMissing) {
            waiting(QStringLiteral("the cluster does not serve it"));
            m_waiting.push_back(std::move(done));
        } else {
            done();
        }
    }
    void serveKinds()
    {
        areKindsMissing = false;
        for (const auto &done : std::exchange(m_waiting, {}))
            done();
    }
    Status makeInformer(const PluginIdentity &plugin, const InformerRequest &request,
        std::unique_ptr<priv::InformerBackend> *backend) override
    {
        auto view = std::make_unique<fake::View>(request, *plugin.faults);
        const std::lock_guard lock(m_mutex);
        views.insert(plugin.id, view.get());
        *backend = std::move(view);
        return {};
    }
    Status makeLister(const PluginIdentity &, const InformerRequest &request,
        priv::ListerBackend **backend) override
    {
        *backend = new fake::ListerOf(request.gvk());
        return {};
    }
    priv::ClientBackend *makeClient(const PluginIdentity &) override { return new fake::Calls; }
    priv::EventBackend *makeEvents(const PluginIdentity &) override { return new fake::Events; }
    Status startController(
        const PluginIdentity &plugin, std::unique_ptr<priv::ControllerSpec> spec) override
    {
        const std::lock_guard lock(m_mutex);
        controllers.append(plugin.id + u'/' + spec->name);
        return {};
    }
    void stopControllers(const QString &pluginId, std::chrono::nanoseconds,
        std::function<void(const QStringList &)> done) override
    {
        stopped.append(pluginId);
        m_errors.add(QStringLiteral("stop controllers of ") + pluginId);
        if (!areStopsLost)
            done(abandoned.value(pluginId));
    }
    QStringList inFlight(const QString &pluginId) const override
    {
        return abandoned.value(pluginId);
    }
    void closeCalls(const QString &pluginId, std::chrono::nanoseconds limit,
        std::function<void()> done) override
    {
        closed.append(QStringLiteral("%1 %2 s").arg(pluginId).arg(limit / std::chrono::seconds(1)));
        done();
    }
    void forget(const QString &pluginId) override { forgotten.append(pluginId); }
    priv::ClockBackend &clock() override { return m_clock; }
    priv::LogBackend &log() override { return m_errors; }
    // What was logged as an error, and which controllers were stopped, in their order.
    // [thread-safe]
    QStringList errorsAndStops() const { return m_errors.all(); }
    priv::MetricsBackend &metrics() override { return m_registry; }

    bool areKindsMissing = false;
    QHash<QString, fake::View *> views; // of living informers of plugins that run
    QStringList controllers;
    QStringList stopped;
    QStringList closed; // calls: "plugin limit"
    QStringList forgotten;
    QHash<QString, QStringList> abandoned; // also what is in flight
    bool areStopsLost = false; // stopControllers() never tells

private:
    class Errors final : public priv::LogBackend
    {
    public:
        bool isEnabled(LogLevel level) const noexcept override { return level == LogLevel::Error; }
        void write(LogLevel, const QString &, const char *message, const LogField *,
            qsizetype) noexcept override
        {
            add(QString::fromLatin1(message));
        }
        void add(const QString &line)
        {
            const std::lock_guard lock(m_mutex);
            m_lines.append(line);
        }
        QStringList all() const
        {
            const std::lock_guard lock(m_mutex);
            return m_lines;
        }

    private:
        mutable std::mutex m_mutex;
        QStringList m_lines; // GUARDED_BY(m_mutex)
    };
    std::mutex m_mutex;
    std::vector<std::function<void()>> m_waiting;
    fake::StoppedClock m_clock;
    Errors m_errors;
    fake::Registry m_registry;
};

} // namespace davit::pluginhost
