// The programs from which people learn this machinery, each under its usual name and complete: what
// is written by hand elsewhere with client-go, written by hand here.
#include "factorybench.h"

#include <cache/deltafifo.h>
#include <cache/realfifo.h>
#include <cache/reflector.h>
#include <workqueue/ratelimitingqueue.h>

#include <QtCore/qcoreapplication.h>
#include <QtCore/qtextstream.h>
#include <thread>

using namespace fakes;
using namespace davit::cache;

namespace {

const Gvk kPod{QString(), u"v1"_s, u"Pod"_s};
const transport::Resource kPods{kPod, u"pods"_s, true};

// "apps/one@1", as a Pod with an annotation and a phase.
Object pod(const char *name, const char *users = "", const char *phase = "Pending")
{
    const QStringList at = QString::fromLatin1(name).split(u'@');
    return fromJson(
        QStringLiteral(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"%1",)"
                       R"("name":"%2","resourceVersion":"%3","annotations":)"
                       R"({"users":"%4"}},"status":{"phase":"%5"}})")
            .arg(at[0].section(u'/', 0, 0), at[0].section(u'/', 1), at.value(1),
                QLatin1StringView(users), QLatin1StringView(phase))
            .toUtf8());
}

} // namespace

class tst_LearningPrograms : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void sharedInformerFactoryThatPrintsPods();
    void indexerByUser();
    void reflectorAndDeltaFifoByHand();
    void newIndexerInformer();
    void queueInformerLister();
};

// NewSharedInformerFactory, Core().V1().Pods().Informer(), AddEventHandler, Start.
void tst_LearningPrograms::sharedInformerFactoryThatPrintsPods()
{
    FactoryBench bench(false);
    QString printed;
    QTextStream out(&printed);
    std::unique_ptr<priv::InformerBackend> backend;
    QVERIFY(bench.factory->makeInformer(kPods, kPod, bench.faults, &backend).isOk());
    Informer informer(*backend.release());
    QObject::connect(&informer, &Informer::added, &informer,
        [&](const Object &o) { out << "pod added: " << toString(o.key()) << '\n'; });
    QObject::connect(
        &informer, &Informer::updated, &informer, [&](const Object &before, const Object &after) {
            const auto phase
                = [](const Object &o) { return o["status"_L1]["phase"_L1].toString(); };
            out << "pod updated: " << toString(after.key()) << ", " << phase(before) << " -> "
                << phase(after) << '\n';
        });
    QObject::connect(&informer, &Informer::deleted, &informer,
        [&](const Object &o) { out << "pod deleted: " << toString(o.key()) << '\n'; });
    QObject::connect(&informer, &Informer::synced, &informer, [&] { out << "synced\n"; });
    bench.factory->start();
    bench.run();
    ScriptedSource &server = *bench.sources.front().second;
    server.answerList({pod("default/web-1@1")}, u"10"_s);
    bench.run();
    QCoreApplication::sendPostedEvents();
    server.openAndSend({happened(Type::Added, pod("default/web-2@11")),
        happened(Type::Modified, pod("default/web-2@12", "", "Running")),
        happened(Type::Deleted, pod("default/web-1@13"))});
    bench.run();
    QCoreApplication::sendPostedEvents();
    QCOMPARE(printed,
        u"pod added: default/web-1\n"
        "synced\n"
        "pod added: default/web-2\n"
        "pod updated: default/web-2, Pending -> Running\n"
        "pod deleted: default/web-1\n"_s);
}

// NewIndexer(MetaNamespaceKeyFunc, Indexers{"byUser": ...}); ByIndex("byUser", "ernie").
void tst_LearningPrograms::indexerByUser()
{
    ThreadSafeStore indexer;
    const IndexValues byUser = [](const Object &o) {
        return std::optional(o["metadata"_L1]["annotations"_L1]["users"_L1].toString().split(
            u',', Qt::SkipEmptyParts));
    };
    QVERIFY(indexer.addIndexers({{u"byUser"_s, byUser}}).isOk());
    indexer.put(pod("/one", "ernie,bert"));
    indexer.put(pod("/two", "bert,oscar"));
    indexer.put(pod("/tre", "ernie,elmo"));
    indexer.publish();
    const auto snapshot = indexer.snapshot();
    QCOMPARE(texts(snapshot->byIndex(u"byUser"_s, u"ernie"_s)), L({"one", "tre"}));
    QCOMPARE(snapshot->indexValues(u"byUser"_s), L({"bert", "elmo", "ernie", "oscar"}));
    indexer.remove(pod("/tre").key());
    indexer.publish();
    QCOMPARE(texts(indexer.snapshot()->byIndex(u"byUser"_s, u"ernie"_s)), L({"one"}));
    QCOMPARE(texts(snapshot->byIndex(u"byUser"_s, u"ernie"_s)), L({"one", "tre"})); // as it was
}

// NewReflector(lw, &Pod{}, NewDeltaFIFO(MetaNamespaceKeyFunc, store), 0); for { fifo.Pop(process)
// }.
// NOLINTNEXTLINE(readability-function-size): a program as people write it
void tst_LearningPrograms::reflectorAndDeltaFifoByHand()
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource server;
    class Store final : public KnownObjects
    {
    public:
        std::map<QString, Object> objects;
        std::vector<ObjectKey> keys() const override
        {
            std::vector<ObjectKey> all;
            for (const auto &[key, object] : objects)
                all.push_back(object.key());
            return all;
        }
        Object find(const ObjectKey &key) const override
        {
            const auto found = objects.find(toString(key));
            return found == objects.end() ? Object() : found->second;
        }
    } store;
    DeltaFifoOptions queue;
    queue.known = &store;
    DeltaFifo fifo(queue);
    ReflectorOptions options;
    options.expectedGvk = kPod;
    options.initialSync = InitialSync::List;
    Reflector reflector(server, fifo, executor, clock, options);
    QStringList seen;
    const auto popAll = [&] {
        while (!fifo.keys().empty()) {
            const Status popped
                = fifo.pop([&](const std::vector<Delta> &deltas, bool isInInitialList, Status *) {
                      for (const Delta &delta : deltas) {
                          const QString key = toString(delta.key);
                          seen += deltaTypeName(delta.type) + u' ' + key
                              + (isInInitialList ? u" (initial)"_s : QString());
                          if (delta.type == DeltaType::Deleted)
                              store.objects.erase(key);
                          else
                              store.objects[key] = delta.object;
                      }
                      return DeltaFifo::Outcome::Done;
                  });
            QVERIFY(popped.isOk());
        }
    };
    reflector.start();
    server.answerList({pod("a/x@1"), pod("a/y@2")}, u"10"_s);
    executor.runAll();
    QVERIFY(!fifo.hasSynced());
    popAll();
    QVERIFY(fifo.hasSynced());
    server.openAndSend({happened(Type::Modified, pod("a/x@11")),
        happened(Type::Modified, pod("a/x@12")), errorEvent(ErrorCode::Expired)});
    popAll();
    clock.advance(2s, &executor);
    server.answerList({pod("a/x@12")}, u"20"_s); // y went unseen
    executor.runAll();
    popAll();
    QCOMPARE(seen,
        L({"Replaced a/x (initial)", "Replaced a/y (initial)", "Updated a/x", "Updated a/x",
            "Replaced a/x", "Deleted a/y"}));
    QCOMPARE(store.objects.size(), 1u);
    reflector.stop();
    executor.runAll();
}

// NewIndexerInformer(lw, &Pod{}, 0, handlers, Indexers{}): an indexer and a controller of one's
// own, nothing shared: a queue, a reflector that fills it, and a loop that stores and tells.
// NOLINTNEXTLINE(readability-function-size): a program as people write it
void tst_LearningPrograms::newIndexerInformer()
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource server;
    ThreadSafeStore indexer;
    RealFifo queue((RealFifoOptions()));
    ReflectorOptions options;
    options.expectedGvk = kPod;
    options.initialSync = InitialSync::List;
    Reflector reflector(server, queue, executor, clock, options);
    QStringList told;
    const auto upsert = [&](const Object &object) {
        const Object before = indexer.put(object);
        told += before.isNull() ? u"add "_s + text(object)
                                : u"update "_s + text(before) + u" > "_s + text(object);
    };
    const RealFifo::Process process = [&](std::span<const Delta> deltas, bool) {
        for (const Delta &delta : deltas) {
            if (delta.type == DeltaType::ReplacedAll) {
                for (const Object &known : indexer.snapshot()->list()) {
                    const bool isListed = std::any_of(delta.items->begin(), delta.items->end(),
                        [&](const Object &item) { return item.key() == known.key(); });
                    if (!isListed)
                        told += u"delete "_s + text(indexer.remove(known.key()));
                }
                for (const Object &item : *delta.items)
                    upsert(item);
            } else if (delta.type == DeltaType::Deleted) {
                indexer.remove(delta.key);
                told += u"delete "_s + text(delta.object);
            } else if (delta.type == DeltaType::Added || delta.type == DeltaType::Updated) {
                upsert(delta.object);
            }
        }
        indexer.publish();
        return Status::ok();
    };
    const auto processLoop = [&] {
        executor.runAll();
        Status status;
        while (queue.tryPopBatch(process, &status))
            QVERIFY(status.isOk());
    };
    reflector.start();
    server.answerList({pod("a/x@1"), pod("b/y@2")}, u"10"_s);
    QVERIFY(!queue.hasSynced());
    processLoop();
    QVERIFY(queue.hasSynced());
    QCOMPARE(texts(indexer.snapshot()->byIndex(QString(kNamespaceIndex), u"b"_s)), L({"b/y@2"}));
    server.openAndSend({happened(Type::Modified, pod("a/x@11")),
        happened(Type::Deleted, pod("b/y@12")), errorEvent(ErrorCode::Expired)});
    processLoop();
    clock.advance(2s, &executor);
    server.answerList({pod("c/z@15")}, u"20"_s);
    processLoop();
    QCOMPARE(told,
        L({"add a/x@1", "add b/y@2", "update a/x@1 > a/x@11", "delete b/y@12", "delete a/x@11",
            "add c/z@15"}));
    QCOMPARE(stored(indexer), L({"c/z@15"}));
    reflector.stop();
    executor.runAll();
}

// The workqueue example: an informer that puts keys in a rate-limited queue, workers that take
// them, read the lister and act; errors come back later, five times at most.
// NOLINTNEXTLINE(readability-function-size): a program as people write it
void tst_LearningPrograms::queueInformerLister()
{
    FactoryBench bench;
    workqueue::RateLimitingQueue queue(bench.clock, bench.executor);
    std::unique_ptr<priv::InformerBackend> backend;
    QVERIFY(bench.factory->makeInformer(kPods, kPod, bench.faults, &backend).isOk());
    Informer informer(*backend.release());
    const auto enqueue = [&](const Object &object) { queue.add({object.key(), {}}); };
    QObject::connect(&informer, &Informer::added, &informer, enqueue);
    QObject::connect(&informer, &Informer::updated, &informer,
        [&](const Object &, const Object &after) { enqueue(after); });
    QObject::connect(&informer, &Informer::deleted, &informer, enqueue);
    const Lister lister = informer.lister();

    std::mutex mutex;
    QStringList log;
    const auto reconcile = [&](const workqueue::WorkKey &key) {
        const Object now = lister.find(key.object);
        const std::lock_guard lock(mutex);
        log += toString(key.object) + (now.isNull() ? u" is gone"_s : u" is there"_s);
        return key.object.name != u"bad";
    };
    const auto worker = [&] {
        while (const std::optional<workqueue::WorkKey> key = queue.get()) {
            if (reconcile(*key) || queue.requeues(*key) >= 5)
                queue.forget(*key);
            else
                queue.addRateLimited(*key);
            if (!queue.done(*key).isOk())
                qFatal("done with what was not handed out");
        }
    };
    bench.run();
    ScriptedSource &server = *bench.sources.front().second;
    server.answerList({pod("a/good@1"), pod("a/bad@2")}, u"10"_s);
    bench.run();
    QCoreApplication::sendPostedEvents();
    QVERIFY(informer.hasSynced()); // workers wait for that
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; ++i)
        workers.emplace_back(worker);
    const auto settle = [&] { // the clock is the test's; workers are real
        do {
            while (queue.length() > 0 || queue.stats().processing > 0)
                std::this_thread::yield();
            bench.clock.advance(1s, &bench.executor);
        } while (queue.length() > 0 || queue.stats().processing > 0 || queue.waitingCount() > 0);
    };
    settle();
    server.openAndSend({happened(Type::Deleted, pod("a/good@11"))});
    bench.run();
    QCoreApplication::sendPostedEvents();
    settle();
    queue.shutDown();
    for (std::thread &one : workers)
        one.join();
    log.sort();
    QCOMPARE(log.count(u"a/bad is there"_s), 6); // once, and five retries
    QCOMPARE(log.count(u"a/good is there"_s), 1);
    QCOMPARE(log.count(u"a/good is gone"_s), 1);
}

QTEST_GUILESS_MAIN(tst_LearningPrograms)
#include "tst_learningprograms.moc"
