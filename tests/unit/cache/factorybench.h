// A factory whose informers run on the test's executor over scripted sources, and plugins' views of
// them, emptied by hand.
#pragma once

#include "fakes.h"

#include <cache/sharedinformerfactory.h>
#include <davit/informer.h>
#include <davit/lister.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qthreadpool.h>

namespace fakes {

class Faults final : public priv::FaultSink
{
public:
    QStringList seen;
    void fault(const char *entry, const QString &subject, const QString &what) noexcept override
    {
        const std::lock_guard lock(m_mutex);
        seen += QLatin1StringView(entry) + u' ' + subject + u": "_s + what;
    }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }

private:
    std::mutex m_mutex;
};

class NoTransport final : public transport::Transport
{
public:
    std::unique_ptr<transport::Exchange> start(
        const transport::Request &, support::Executor &, transport::ResponseSink &) override
    {
        return nullptr;
    }
    QString serverName() const override { return u"nowhere"_s; }
};

inline const transport::Resource kWidgets{kWidget, QStringLiteral("widgets"), true};
inline const QByteArray kGreen = R"({"colour":"green"})";
inline const QByteArray kRed = R"({"colour":"red"})";

// A plugin's view, emptied by hand.
struct PluginView
{
    std::unique_ptr<priv::InformerBackend> backend;
    // "+n/a@1!", "~n/a@1>n/a@2", "-n/a@2?"; empty for synced.
    static QString line(const priv::Notification &n)
    {
        switch (n.kind) {
        case priv::Notification::Kind::Added:
            return u'+' + text(n.object) + (n.isInInitialList ? u"!"_s : QString());
        case priv::Notification::Kind::Updated:
            return u'~' + text(n.before) + u'>' + text(n.object);
        case priv::Notification::Kind::Deleted:
            return u'-' + text(n.object) + (n.isFinalStateUnknown ? u"?"_s : QString());
        case priv::Notification::Kind::Synced:
            break;
        }
        return {};
    }
    Lister lister() const { return Lister(backend->lister()); }
    QStringList heard()
    {
        QStringList all;
        for (auto batch = backend->takeBatch(); !batch.empty(); batch = backend->takeBatch()) {
            for (const priv::Notification &n : batch) {
                all += line(n);
                backend->handled(n);
            }
        }
        all.removeAll(QString());
        all.sort();
        return all;
    }
};

struct FactoryBench
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    QThreadPool pool;
    NoTransport nowhere;
    Faults faults;
    std::vector<std::pair<QString, ScriptedSource *>> sources; // every one that was made
    std::unique_ptr<cache::SharedInformerFactory> factory;

    explicit FactoryBench(bool isStarted = true, cache::FactoryOptions options = {})
    {
        options.executor = &executor;
        options.initialSync = [](const Gvk &) { return cache::InitialSync::List; };
        options.source = [this](const cache::WatchScope &scope) {
            auto made = std::make_unique<ScriptedSource>();
            sources.emplace_back(scope.toText().remove(toString(kWidget)).trimmed(), made.get());
            return made;
        };
        factory = std::make_unique<cache::SharedInformerFactory>(nowhere, pool, clock, options);
        if (isStarted)
            factory->start();
    }
    ~FactoryBench() { end(); }
    void end()
    {
        if (factory)
            factory->shutdown();
        executor.runAll();
        factory.reset();
        executor.runAll();
    }
    void run() { executor.runAll(); }
    PluginView view(const InformerRequest &request)
    {
        PluginView view;
        const Status status = factory->makeInformer(kWidgets, request, faults, &view.backend);
        if (!status.isOk())
            qFatal("%s", qUtf8Printable(status.error().message()));
        run();
        return view;
    }
    ScriptedSource &source(const QString &scope)
    {
        for (const auto &[name, made] : sources) {
            if (name == scope)
                return *made;
        }
        qFatal("no informer on \"%s\"", qUtf8Printable(scope));
    }
    // The list of an informer that was just asked for.
    void list(const QString &scope, std::vector<Object> items, const QString &version)
    {
        source(scope).answerList(std::move(items), version);
        run();
        source(scope).open();
    }
    void send(const QString &scope, std::vector<codec::WatchEvent> events)
    {
        source(scope).send(std::move(events));
        run();
    }
    QStringList running() const
    {
        QStringList all;
        for (const cache::ResourceState &state : factory->states())
            all += state.scope.toText().remove(toString(kWidget)).trimmed();
        all.sort();
        return all;
    }
};

inline InformerRequest everything()
{
    return InformerRequest(kWidget);
}
inline InformerRequest in(const char *space)
{
    return std::move(InformerRequest(kWidget).inNamespaces(L({space})));
}
inline InformerRequest green()
{
    return std::move(InformerRequest(kWidget).withLabels(u"colour=green"_s));
}

// n/a green, n/b red, m/c green with a tier; versions 1 to 3 behind `before`.
inline std::vector<Object> three(const QString &before = {})
{
    const auto at = [&](QStringView name, QStringView version) {
        return name.toString() + u'@' + before + version.toString();
    };
    return {widget(at(u"n/a", u"1"), kGreen, 1), widget(at(u"n/b", u"2"), kRed, 2),
        widget(at(u"m/c", u"3"), R"({"colour":"green","tier":"front"})", 3)};
}

} // namespace fakes
Q_DECLARE_METATYPE(davit::InformerRequest)
