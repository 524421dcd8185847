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
            waiting(missingReason);
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
        m_lines.addStop(QStringLiteral("stop controllers of ") + pluginId);
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
    priv::LogBackend &log() override { return m_lines; }
    // What was logged as an error, and which controllers were stopped, in their order.
    // [thread-safe]
    QStringList errorsAndStops() const { return m_lines.errorsAndStops(); }
    priv::MetricsBackend &metrics() override { return m_registry; }

    QStringList linesSeen() { return m_lines.seen(); }

    bool areKindsMissing = false;
    QString missingReason = QStringLiteral("the cluster does not serve it");
    QHash<QString, fake::View *> views; // of living informers of plugins that run
    QStringList controllers;
    QStringList stopped;
    QStringList closed; // calls: "plugin limit"
    QStringList forgotten;
    QHash<QString, QStringList> abandoned; // also what is in flight
    bool areStopsLost = false; // stopControllers() never tells

private:
    // Plugins log on their own threads.
    class SharedLines final : public priv::LogBackend
    {
    public:
        bool isEnabled(LogLevel level) const noexcept override
        {
            return level == LogLevel::Error || m_lines.isEnabled(level);
        }
        void write(LogLevel level, const QString &logger, const char *message,
            const LogField *fields, qsizetype count) noexcept override
        {
            const std::lock_guard lock(m_mutex);
            if (level == LogLevel::Error)
                m_errorsAndStops.append(QString::fromLatin1(message));
            if (m_lines.isEnabled(level))
                m_lines.write(level, logger, message, fields, count);
        }
        void addStop(const QString &line)
        {
            const std::lock_guard lock(m_mutex);
            m_errorsAndStops.append(line);
        }
        QStringList errorsAndStops() const
        {
            const std::lock_guard lock(m_mutex);
            return m_errorsAndStops;
        }
        QStringList seen() const
        {
            const std::lock_guard lock(m_mutex);
            return m_lines.seen;
        }

    private:
        mutable std::mutex m_mutex;
        QStringList m_errorsAndStops; // GUARDED_BY(m_mutex)
        fake::Lines m_lines; // GUARDED_BY(m_mutex)
    };
    std::mutex m_mutex;
    std::vector<std::function<void()>> m_waiting;
    fake::StoppedClock m_clock;
    SharedLines m_lines;
    fake::Registry m_registry;
};

} // namespace davit::pluginhost
