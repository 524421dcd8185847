#include "micro.h"

#include "processfigures.h"

#include <davit/clienttypes.h>
#include <davit/objectbuilder.h>
#include <davit/priv/poolaccess.h>
#include <davit/selector.h>
#include <support/timesource.h>
#include <workqueue/delayingqueue.h>
#include <workqueue/priorityqueue.h>

#include <QtCore/qthreadpool.h>
#include <algorithm>
#include <cstdio>
#include <malloc.h>
#include <support/strand.h>

namespace bench {

using namespace davit;

namespace {

// CPU of `count` calls, for each.
template <typename F> double nanosecondsEach(qint64 count, F &&call)
{
    const double before = cpuSeconds();
    for (qint64 i = 0; i < count; ++i)
        call(i);
    return (cpuSeconds() - before) * 1e9 / double(count);
}

constexpr qint64 kKeys = 100000;

void print(const char *what, double nanoseconds)
{
    std::printf("%-56s %12.1f ns\n", what, nanoseconds);
}

workqueue::WorkKey keyOf(qint64 i)
{
    return {{QStringLiteral("team-%1").arg(i % 50), QStringLiteral("service-%1-7d4b9c6f5d").arg(i)},
        {}};
}

// Heap that `add` takes for many keys that wait an hour.
template <typename F> void printWaitingKeys(const char *what, F &&add)
{
    const auto before = quint64(::mallinfo2().uordblks);
    for (qint64 i = 0; i < kKeys; ++i)
        add(keyOf(i), std::chrono::hours(1));
    const double bytes = double(quint64(::mallinfo2().uordblks) - before);
    std::printf("%-56s %12.1f MB\n", what, bytes / 1e6);
}

// `add` takes a key, `run` gets the next one and is done with it; false when there is none.
template <typename Add, typename Run>
void printTurns(
    const char *queue, const std::vector<workqueue::WorkKey> &keys, Add &&add, Run &&run)
{
    const QByteArray name(queue);
    print((name + ": add, get, done, one key at a time").constData(),
        nanosecondsEach(kKeys * 10, [&](qint64 i) {
            add(keys[std::size_t(i % kKeys)]);
            run();
        }));
    print((name + ": 100,000 added, then got and done, each").constData(),
        nanosecondsEach(10, [&](qint64) {
            for (const workqueue::WorkKey &key : keys)
                add(key);
            while (run()) { }
        }) / double(kKeys));
}

// The same object as it comes next: its version, a restart and what it reports differ.
Object nextVersion(const Object &pod)
{
    ObjectBuilder builder(pod);
    builder.set({QStringLiteral("metadata"), QStringLiteral("resourceVersion")},
        pod.resourceVersion() + QStringLiteral("1"));
    builder.setJson({QStringLiteral("status"), QStringLiteral("conditions")},
        R"([{"type":"Ready","status":"False","reason":"ContainersNotReady"}])");
    return priv::internObject(builder.build());
}

// Of two versions of one object: what an update handler and a reconciler compare.
qint64 printComparisons(const QList<Object> &all)
{
    std::vector<std::pair<Object, Object>> versions;
    for (qsizetype i = 0; i < std::min<qsizetype>(all.size(), 1000); ++i) {
        const Object &pod = all[i * 7919 % all.size()];
        versions.emplace_back(pod, nextVersion(pod));
    }
    const auto at = [&](qint64 i) -> const auto &
    {
        return versions[std::size_t(i) % versions.size()];
    };
    qint64 sum = 0;
    print("are two versions of an object equal",
        nanosecondsEach(1000000, [&](qint64 i) { sum += at(i).first == at(i).second ? 1 : 0; }));
    print("difference of two versions as a merge patch", nanosecondsEach(2000, [&](qint64 i) {
        sum += Patch::difference(at(i).first, at(i).second).body().size();
    }));
    print("is the spec of two versions equal", nanosecondsEach(1000000, [&](qint64 i) {
        const QLatin1StringView spec("spec");
        sum += at(i).first[spec] == at(i).second[spec] ? 1 : 0;
    }));
    return sum;
}

} // namespace

void printReads(const Lister &pods)
{
    const QList<Object> all = pods.list();
    if (all.size() < 2)
        return;
    const QString space = all.front().namespaceName();
    LabelSelector selector;
    const QString name = all.front().label(QLatin1StringView("app.kubernetes.io/name"));
    (void)LabelSelector::parse(QStringLiteral("app.kubernetes.io/name=") + name, &selector);
    qint64 found = 0;
    const auto at = [&all](qint64 i) -> const Object & { return all[i * 7919 % all.size()]; };
    print("list all, each object",
        nanosecondsEach(20, [&](qint64) { found = pods.list().size(); }) / double(all.size()));
    print("list one namespace, each object of it", nanosecondsEach(200, [&](qint64) {
        found = pods.inNamespace(space).size();
    }) / double(found));
    print("list by a label, each object of the cache", nanosecondsEach(10, [&](qint64) {
        found = pods.list(selector).size();
    }) / double(all.size()));
    qint64 sum = 0;
    std::vector<ObjectKey> keys;
    for (const Object &pod : all)
        keys.push_back(pod.key());
    print("find by key", nanosecondsEach(1000000, [&](qint64 i) {
        sum += pods.find(keys[std::size_t(i * 7919 % all.size())]).isNull() ? 1 : 0;
    }));
    print("read one field (status.phase, one object)", nanosecondsEach(1000000, [&](qint64) {
        sum += all.front()[QLatin1StringView("status")][QLatin1StringView("phase")].equals(
                   QLatin1StringView("Running"))
            ? 1
            : 0;
    }));
    print(
        "read one field (status.phase, objects at random)", nanosecondsEach(1000000, [&](qint64 i) {
            sum += at(i)[QLatin1StringView("status")][QLatin1StringView("phase")].equals(
                       QLatin1StringView("Running"))
                ? 1
                : 0;
        }));
    sum += printComparisons(all);
    std::printf("(%lld)\n", static_cast<long long>(sum)); // so that nothing is left out
}

void printQueue()
{
    std::vector<workqueue::WorkKey> keys;
    for (qint64 i = 0; i < kKeys; ++i)
        keys.push_back(keyOf(i));
    support::TimeSource &time = support::systemTimeSource();
    QThreadPool pool;
    support::Strand strand(pool);
    workqueue::WorkQueue classic(time);
    workqueue::PriorityQueue priority(time, strand, nullptr);
    const auto consumer = priority.attach();
    printTurns(
        "work queue", keys, [&](const workqueue::WorkKey &key) { classic.add(key); },
        [&] {
            const auto key = classic.tryGet();
            return key && classic.done(*key).isOk();
        });
    printTurns(
        "priority queue", keys, [&](const workqueue::WorkKey &key) { priority.add(key); },
        [&] {
            const auto item = priority.tryGet(consumer);
            return item && priority.done(item->key).isOk();
        });
    workqueue::DelayingQueue delayed(time, strand);
    workqueue::PriorityQueue later(time, strand, nullptr);
    printWaitingKeys("delaying queue: 100,000 distinct waiting keys",
        [&](const workqueue::WorkKey &key, auto delay) { delayed.addAfter(key, delay); });
    printWaitingKeys("priority queue: 100,000 distinct waiting keys",
        [&](const workqueue::WorkKey &key, auto delay) {
            workqueue::AddOptions options;
            options.after = delay;
            later.add(key, options);
        });
    delayed.shutDown();
    later.shutDown();
    strand.stop();
}

} // namespace bench
