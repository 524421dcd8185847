// One stream of small events, twenty handlers, each on a thread of its own as plugins have them.
#include "micro.h"
#include "processfigures.h"

#include <cache/sharedinformerfactory.h>
#include <davit/informer.h>
#include <davit/priv/plugincall.h>
#include <support/timesource.h>

#include <QtCore/qelapsedtimer.h>
#include <QtCore/qthread.h>
#include <QtCore/qthreadpool.h>
#include <atomic>
#include <cstdio>

namespace bench {

using namespace davit;

namespace {

constexpr int kHandlers = 20;
constexpr int kObjects = 1000;
constexpr int kEvents = 100000;
constexpr int kAtOnce = 20; // events in one piece of the stream

const Gvk kWidget{QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};

QByteArray line(const char *type, int key, int version)
{
    return QByteArray(R"({"type":")") + type
        + R"(","object":{"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"w)"
        + QByteArray::number(key) + R"(","namespace":"team-a","uid":"u)" + QByteArray::number(key)
        + R"(","resourceVersion":")" + QByteArray::number(version) + R"("},"spec":{"size":1}}})"
        + '\n';
}

class Stream final : public cache::ListerWatcher
{
public:
    std::unique_ptr<cache::Operation> list(
        const transport::ListOptions &, support::Executor &, cache::ListSink &) override
    {
        return nullptr;
    }
    std::unique_ptr<cache::Operation> watch(const transport::ListOptions &,
        support::Executor &executor, cache::WatchSink &sink) override
    {
        m_executor = &executor;
        m_sink = &sink;
        QByteArray bytes;
        for (int key = 0; key < kObjects; ++key)
            bytes += line("ADDED", key, key + 1);
        bytes += R"({"type":"BOOKMARK","object":{"apiVersion":"demo.example/v1","kind":"Widget",)"
                 R"("metadata":{"resourceVersion":"1000","annotations":)"
                 R"({"k8s.io/initial-events-end":"true"}}}})"
                 "\n";
        executor.post([this] { m_sink->onWatchOpened(); });
        send(bytes);
        return std::make_unique<cache::Operation>();
    }
    void send(const QByteArray &bytes)
    {
        m_executor->post(
            [this, bytes] { m_sink->onWatchEvents(m_decoder.feed(bytes), bytes.size()); });
    }

private:
    support::Executor *m_executor = nullptr;
    cache::WatchSink *m_sink = nullptr;
    codec::WatchDecoder m_decoder{{}};
};

class NoFaults final : public priv::FaultSink
{
public:
    void fault(const char *, const QString &, const QString &) noexcept override { }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }
};

class NoTransport final : public transport::Transport
{
public:
    std::unique_ptr<transport::Exchange> start(
        const transport::Request &, support::Executor &, transport::ResponseSink &) override
    {
        return nullptr;
    }
    QString serverName() const override { return QStringLiteral("nowhere"); }
};

struct Handler
{
    QThread thread;
    Informer *informer = nullptr; // lives in the thread
    std::atomic<int> added = 0;
    std::atomic<int> updated = 0;

    bool start(cache::SharedInformerFactory &factory, NoFaults &faults)
    {
        std::unique_ptr<priv::InformerBackend> backend;
        if (!factory
                 .makeInformer({kWidget, QStringLiteral("widgets"), true}, InformerRequest(kWidget),
                     faults, &backend)
                 .isOk())
            return false;
        informer = new Informer(*backend.release());
        QObject::connect(informer, &Informer::added, informer, [this] { ++added; });
        QObject::connect(informer, &Informer::updated, informer, [this] { ++updated; });
        QObject::connect(&thread, &QThread::finished, informer, &QObject::deleteLater);
        informer->moveToThread(&thread);
        thread.start();
        return true;
    }
    ~Handler()
    {
        thread.quit();
        thread.wait();
    }
};

void waitFor(const std::vector<std::unique_ptr<Handler>> &handlers,
    std::atomic<int> Handler::*count, int wanted)
{
    for (const auto &handler : handlers) {
        while (((*handler).*count).load() < wanted)
            QThread::usleep(200);
    }
}

} // namespace

void printFanOut()
{
    QThreadPool pool;
    NoTransport nowhere;
    NoFaults faults;
    Stream *stream = nullptr;
    cache::FactoryOptions options;
    options.source = [&](const cache::WatchScope &) {
        auto made = std::make_unique<Stream>();
        stream = made.get();
        return made;
    };
    cache::SharedInformerFactory factory(nowhere, pool, support::systemTimeSource(), options);
    std::vector<std::unique_ptr<Handler>> handlers;
    for (int i = 0; i < kHandlers; ++i) {
        handlers.push_back(std::make_unique<Handler>());
        if (!handlers.back()->start(factory, faults))
            return;
    }
    factory.start();
    waitFor(handlers, &Handler::added, kObjects);
    std::vector<QByteArray> pieces;
    for (int i = 0; i < kEvents; ++i) {
        if (i % kAtOnce == 0)
            pieces.emplace_back();
        pieces.back() += line("MODIFIED", i % kObjects, kObjects + 1 + i);
    }
    const double before = cpuSeconds();
    QElapsedTimer timer;
    timer.start();
    for (const QByteArray &piece : pieces)
        stream->send(piece);
    waitFor(handlers, &Handler::updated, kEvents);
    const double seconds = double(timer.nsecsElapsed()) / 1e9;
    const double cpu = cpuSeconds() - before;
    std::printf("%d handlers, small events: %.0f events/s, %.2f us of CPU an event, %.0f ns a "
                "delivery\n",
        kHandlers, kEvents / seconds, cpu * 1e6 / kEvents, cpu * 1e9 / kEvents / kHandlers);
    factory.shutdown();
}

} // namespace bench
