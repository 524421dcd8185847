// A reflector over a scripted source and a store that writes down what it is told.
#pragma once

#include "fakes.h"

namespace fakes {

// Writes down what the reflector tells its store.
class RecordingStore final : public cache::ReflectorStore
{
public:
    QStringList told;
    QStringList items; // of the last list
    cache::Transform transformer;
    QString refused; // name of an object that is not taken in
    bool refusesLists = false;
    cache::ListOrigin origin = cache::ListOrigin::Unset;
    int resyncs = 0;
    bool failsResync = false;

    Status add(const Object &o) override { return take(u"A ", o); }
    Status update(const Object &o) override { return take(u"U ", o); }
    Status remove(const Object &o) override { return take(u"D ", o); }
    Status replace(
        std::vector<Object> objects, const QString &version, cache::ListOrigin from) override
    {
        if (refusesLists)
            return Status(ErrorCode::InvalidArgument, QStringLiteral("refused"));
        items.clear();
        for (Object &object : objects) {
            if (transformer)
                static_cast<void>(transformer(&object));
            items += text(object);
        }
        origin = from;
        told += QStringLiteral("R %1 @%2").arg(objects.size()).arg(version);
        return Status::ok();
    }
    Status resync() override
    {
        ++resyncs;
        return failsResync ? Status(ErrorCode::InternalError, QStringLiteral("no")) : Status::ok();
    }
    void bookmark(const QString &version) override { told += QStringLiteral("B ") + version; }
    const cache::Transform *transform() const override
    {
        return transformer ? &transformer : nullptr;
    }

private:
    Status take(QStringView what, const Object &o)
    {
        if (o.name() == refused)
            return Status(ErrorCode::InvalidArgument, QStringLiteral("refused"));
        told += what.toString() + text(o);
        return Status::ok();
    }
};

struct ReflectorBench
{
    fake::Lines lines;
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource source;
    RecordingStore store;
    QList<Error> roundErrors;
    cache::ReflectorOptions options;
    std::unique_ptr<cache::Reflector> reflector;

    ReflectorBench()
    {
        options.name = QStringLiteral("demo.example/v1 Widget");
        options.expectedGvk = kWidget;
        options.initialSync = cache::InitialSync::List;
        options.random = [] { return 0.0; };
        options.onRoundError = [this](const Error &e) { roundErrors += e; };
        options.log = Logger(lines, QStringLiteral("cache"));
    }
    void start()
    {
        reflector = std::make_unique<cache::Reflector>(source, store, executor, clock, options);
        reflector->start();
        executor.runAll();
    }
    // A reflector that has listed `items` and whose watch is open.
    void startWatching(Texts items, const QString &version)
    {
        start();
        source.answerList(widgets(items), version);
        executor.runAll();
        source.open();
    }
    void advance(std::chrono::nanoseconds span)
    {
        clock.advance(span, &executor);
        executor.runAll();
    }
    void run() { executor.runAll(); }
    QString version() const { return reflector->lastSyncResourceVersion(); }
    ~ReflectorBench()
    {
        reflector.reset();
        executor.runAll();
    }
};

using ReflectorScript = std::function<void(ReflectorBench &)>;

} // namespace fakes
Q_DECLARE_METATYPE(fakes::ReflectorScript)

namespace fakes {

// Tables of scripts and what the source is asked by them.
inline void addRequestColumns()
{
    QTest::addColumn<bool>("usesWatchList");
    QTest::addColumn<ReflectorScript>("script");
    QTest::addColumn<QStringList>("requests");
    QTest::addColumn<int>("roundErrors");
}

inline void addRequestRow(const char *name, bool usesWatchList, const ReflectorScript &script,
    const QStringList &requests, int roundErrors)
{
    QTest::newRow(name) << usesWatchList << script << requests << roundErrors;
}

inline void playRequestRow()
{
    QFETCH(const bool, usesWatchList);
    QFETCH(const ReflectorScript, script);
    QFETCH(const int, roundErrors);
    ReflectorBench bench;
    bench.options.initialSync = usesWatchList ? cache::InitialSync::Auto : cache::InitialSync::List;
    bench.start();
    script(bench);
    if (QTest::currentTestFailed())
        return;
    QTEST(bench.source.requests(), "requests");
    QCOMPARE(bench.roundErrors.size(), roundErrors);
}

} // namespace fakes
