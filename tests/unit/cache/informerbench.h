// A shared informer over a scripted source, with one listener.
#pragma once

#include "fakes.h"

namespace fakes {

struct InformerBench
{
    fake::Lines lines;
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource *source = new ScriptedSource; // the informer's
    cache::SharedInformerOptions options;
    std::unique_ptr<cache::SharedInformer> informer;
    std::shared_ptr<RecordingListener> listener = std::make_shared<RecordingListener>();

    InformerBench()
    {
        options.reflector.name = u"demo.example/v1 Widget"_s;
        options.reflector.expectedGvk = kWidget;
        options.reflector.initialSync = cache::InitialSync::List;
        options.reflector.random = [] { return 0.0; };
        options.reflector.onRoundError = [](const Error &) {};
        options.reflector.log = Logger(lines, u"cache"_s);
    }
    cache::SharedInformer &make()
    {
        informer = std::make_unique<cache::SharedInformer>(
            std::unique_ptr<cache::ListerWatcher>(source), executor, clock, options);
        return *informer;
    }
    // Synced on `items`, with the listener on from the beginning; what it heard is forgotten.
    void sync(Texts items, const QString &version)
    {
        if (!informer)
            make();
        QVERIFY(informer->addListener(listener).isOk());
        informer->start();
        run();
        source->answerList(widgets(items), version);
        run();
        source->open();
        listener->heard.clear();
    }
    void relist(std::vector<Object> items, const QString &version)
    {
        source->send({errorEvent(ErrorCode::Expired)});
        clock.advance(40s, &executor);
        run();
        source->answerList(std::move(items), version);
        run();
        source->open();
    }
    void send(std::vector<codec::WatchEvent> events)
    {
        source->send(std::move(events));
        run();
    }
    void run() { executor.runAll(); }
    QStringList heard() { return std::exchange(listener->heard, {}); }
    ~InformerBench()
    {
        if (!informer)
            delete source;
        else
            informer->stop();
        executor.runAll();
        informer.reset();
    }
};

using InformerScript = std::function<void(InformerBench &)>;

} // namespace fakes
Q_DECLARE_METATYPE(fakes::InformerScript)
