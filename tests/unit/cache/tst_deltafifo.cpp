// The classic queue, by the rules; and a reflector that feeds one read by hand.
#include "blockingcall.h"
#include "queuefixtures.h"

#include <cache/deltafifo.h>
#include <cache/reflector.h>

using namespace fakes;
using namespace davit::cache;
using Outcome = DeltaFifo::Outcome;

namespace {

struct Queue
{
    Known known;
    std::unique_ptr<DeltaFifo> fifo;
    explicit Queue(DeltaFifoOptions options = {}, bool hasKnown = true)
    {
        options.known = hasKnown ? &known : nullptr;
        fifo = std::make_unique<DeltaFifo>(std::move(options));
    }
    // One key, its deltas in a line.
    QString pop(Outcome outcome = Outcome::Done)
    {
        QStringList line;
        const Status status
            = fifo->pop([&](const std::vector<Delta> &deltas, bool isInitial, Status *) {
                  for (const Delta &delta : deltas)
                      line += deltaText(delta);
                  if (isInitial)
                      line += u"!"_s;
                  return outcome;
              });
        return status.isOk() ? line.join(u", ") : errorCodeName(status.error().code()).toString();
    }
    QStringList waiting() const
    {
        QStringList all;
        for (const ObjectKey &key : fifo->keys()) {
            QStringList line;
            for (const Delta &delta : fifo->deltas(key))
                line += deltaText(delta);
            all += line.join(u", ");
        }
        return all;
    }
    void add(QStringView o) { QVERIFY(fifo->add(widget(o)).isOk()); }
    void update(QStringView o) { QVERIFY(fifo->update(widget(o)).isOk()); }
    void remove(QStringView o) { QVERIFY(fifo->remove(widget(o)).isOk()); }
    void removeUnseen(QStringView o)
    {
        const Object object = widget(o);
        QVERIFY(fifo->removeUnseen(object.key(), object).isOk());
    }
    void replace(Texts o)
    {
        QVERIFY(fifo->replace(widgets(o), u"9"_s, ListOrigin::Ordinary).isOk());
    }
};
using Script = std::function<void(Queue &)>;

} // namespace
Q_DECLARE_METATYPE(Script)

class tst_DeltaFifo : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void waiting_data();
    void waiting();
    void synced_data();
    void synced();
    void q31_countsBeforeProcessing();
    void q31a_requeue();
    void errorIsHandedOn();
    void q16_changeWakes();
    void q31_popHoldsTheLock();
    void closeWakes();
    void transforms();
    void itemsAsSync();
    void keyFunction();
    void reflectorReadByHand();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_DeltaFifo::waiting_data()
{
    QTest::addColumn<Script>("script");
    QTest::addColumn<QStringList>("waiting");
    const auto row = [](const char *name, const Script &script, Texts waiting) {
        QTest::newRow(name) << script << L(waiting);
    };
    row("Q-27: deltas a key, keys in order",
        [](Queue &q) {
            q.add(u"a@1");
            q.add(u"b@2");
            q.update(u"a@3");
        },
        {"A a@1, U a@3", "A b@2"});
    row("T48: deleted, then deleted unseen",
        [](Queue &q) {
            q.add(u"a@1");
            q.remove(u"a@2");
            q.removeUnseen(u"a@1");
        },
        {"A a@1, D a@2"});
    row("T48: deleted unseen, then deleted",
        [](Queue &q) {
            q.add(u"a@1");
            q.removeUnseen(u"a@1");
            q.remove(u"a@2");
        },
        {"A a@1, D a@2"});
    row("Q-28: of two observed ones the older",
        [](Queue &q) {
            q.add(u"a@1");
            q.remove(u"a@2");
            q.remove(u"a@3");
        },
        {"A a@1, D a@2"});
    row("Q-28: only the last two",
        [](Queue &q) {
            q.add(u"a@1");
            q.remove(u"a@2");
            q.add(u"a@3");
            q.remove(u"a@4");
        },
        {"A a@1, D a@2, A a@3, D a@4"});
    row("Q-28: updates are never merged",
        [](Queue &q) {
            q.update(u"a@1");
            q.update(u"a@1");
        },
        {"U a@1, U a@1"});
    row("Q-29: a stranger's deletion is dropped",
        [](Queue &q) {
            q.remove(u"x@1");
            q.removeUnseen(u"y@1");
        },
        {});
    row("Q-29: a known one's is not",
        [](Queue &q) {
            q.known.objects = widgets({"x@1"});
            q.remove(u"x@2");
        },
        {"D x@2"});
    row("Q-30: items, then what is queued, then what is known",
        [](Queue &q) {
            q.known.objects = widgets({"old@1", "stays@2"});
            q.add(u"queued@3");
            q.replace({"stays@2", "new@4"});
        },
        {"A queued@3, D T(queued, queued@3)", "R stays@2", "R new@4", "D T(old, old@1)"});
    row("Q-30: not what is deleted already",
        [](Queue &q) {
            q.add(u"a@1");
            q.remove(u"a@2");
            q.replace({});
        },
        {"A a@1, D a@2"});
    row("Q-32: resync of what is known and does not wait",
        [](Queue &q) {
            q.known.objects = widgets({"a@1", "b@2"});
            q.update(u"a@3");
            QVERIFY(q.fifo->resync().isOk());
        },
        {"U a@3", "S b@2"});
    row("bookmarks do not exist here", [](Queue &q) { q.fifo->bookmark(u"7"_s); }, {});
}

void tst_DeltaFifo::waiting()
{
    QFETCH(const Script, script);
    Queue queue;
    script(queue);
    QTEST(queue.waiting(), "waiting");
}

void tst_DeltaFifo::synced_data()
{
    QTest::addColumn<Script>("script");
    QTest::addColumn<int>("pops");
    QTest::newRow("T34: duplicates count once") << Script([](Queue &q) {
        q.replace({"a@1", "a@2"});
    }) << 1;
    QTest::newRow("two keys") << Script([](Queue &q) { q.replace({"a@1", "b@2"}); }) << 2;
    QTest::newRow("tombstones count") << Script([](Queue &q) {
        q.known.objects = widgets({"old@1"});
        q.replace({"a@1"});
    }) << 2;
    QTest::newRow("T35: an event before any list") << Script([](Queue &q) { q.add(u"a"); }) << 0;
    QTest::newRow("an empty list") << Script([](Queue &q) { q.replace({}); }) << 0;
}

void tst_DeltaFifo::synced()
{
    QFETCH(const Script, script);
    QFETCH(const int, pops);
    Queue queue;
    QVERIFY(!queue.fifo->hasSynced());
    script(queue);
    for (int i = 0; i < pops; ++i) {
        QVERIFY(!queue.fifo->hasSynced());
        QVERIFY(queue.pop().endsWith(u'!'));
    }
    QVERIFY(queue.fifo->hasSynced());
}

void tst_DeltaFifo::q31_countsBeforeProcessing()
{
    Queue queue;
    queue.replace({"a@1"});
    QVERIFY(queue.pop(Outcome::Requeue).endsWith(u'!'));
    QVERIFY(queue.fifo->hasSynced()); // counted when popped, though it came back
}

void tst_DeltaFifo::q31a_requeue()
{
    Queue queue;
    queue.add(u"a@1");
    queue.add(u"b@2");
    QCOMPARE(queue.pop(Outcome::Requeue), u"A a@1"_s);
    QCOMPARE(queue.waiting(), L({"A b@2", "A a@1"}));
    Delta stale;
    stale.type = DeltaType::Added;
    stale.key = {{}, u"b"_s};
    stale.object = widget(u"b@1");
    queue.fifo->addIfNotPresent(stale.key, {stale}); // newer ones wait
    QCOMPARE(queue.pop(), u"A b@2"_s);
    queue.fifo->addIfNotPresent(stale.key, {stale});
    QCOMPARE(queue.waiting(), L({"A a@1", "A b@1"}));
}

void tst_DeltaFifo::errorIsHandedOn()
{
    Queue queue;
    queue.add(u"a");
    const Status status = queue.fifo->pop([](const std::vector<Delta> &, bool, Status *status) {
        *status = Status(ErrorCode::InternalError, u"mine"_s);
        return Outcome::Done;
    });
    QCOMPARE(status.error().message(), u"mine"_s);
    QVERIFY(queue.waiting().isEmpty()); // nothing is queued again by itself
}

void tst_DeltaFifo::q16_changeWakes()
{
    Queue queue;
    QString got;
    BlockingCall consumer([&] { got = queue.pop(); });
    const bool hasBlocked = consumer.blocks();
    queue.add(u"a@1");
    consumer.join();
    QVERIFY(hasBlocked);
    QCOMPARE(got, u"A a@1"_s);
}

// No change comes between what is processed and what the consumer makes of it.
void tst_DeltaFifo::q31_popHoldsTheLock()
{
    Queue queue;
    queue.add(u"a@1");
    std::optional<BlockingCall> producer;
    bool hasBlocked = false;
    const Status status = queue.fifo->pop([&](const std::vector<Delta> &, bool, Status *) {
        producer.emplace([&] { queue.add(u"a@2"); });
        hasBlocked = producer->blocks();
        return Outcome::Done;
    });
    producer->join();
    QVERIFY(status.isOk());
    QVERIFY(hasBlocked);
    QCOMPARE(queue.waiting(), L({"A a@2"}));
}

void tst_DeltaFifo::closeWakes()
{
    Queue queue;
    QString got;
    BlockingCall consumer([&] { got = queue.pop(); });
    const bool hasBlocked = consumer.blocks();
    queue.fifo->close();
    consumer.join();
    QVERIFY(hasBlocked);
    QCOMPARE(got, u"Canceled"_s);
    queue.add(u"a@1"); // producers are not refused
    QCOMPARE(queue.pop(), u"A a@1"_s);
    QCOMPARE(queue.pop(), u"Canceled"_s);
}

void tst_DeltaFifo::transforms()
{
    QStringList seen;
    DeltaFifoOptions options;
    options.transform = [&](Object *object) {
        seen += text(*object);
        return object->name() == u"bad" ? Status(ErrorCode::InvalidArgument, u"bad"_s)
                                        : Status::ok();
    };
    Queue queue(std::move(options));
    queue.known.objects = widgets({"known@1"});
    queue.add(u"a@1");
    QVERIFY(!queue.fifo->add(widget(u"bad@2")).isOk());
    QVERIFY(queue.fifo->resync().isOk());
    queue.removeUnseen(u"known@1");
    QCOMPARE(seen, L({"a@1", "bad@2"})); // neither Sync nor tombstone
    QCOMPARE(queue.waiting(), L({"A a@1", "S known@1, D T(known, known@1)"}));
}

void tst_DeltaFifo::itemsAsSync()
{
    DeltaFifoOptions options;
    options.emitsReplaced = false;
    Queue queue(std::move(options), false);
    queue.replace({"a@1"});
    QCOMPARE(queue.waiting(), L({"S a@1"}));
    QVERIFY(queue.fifo->resync().isOk()); // nothing is known: nothing happens
    QCOMPARE(queue.waiting(), L({"S a@1"}));
}

void tst_DeltaFifo::keyFunction()
{
    DeltaFifoOptions options;
    options.keyFunction = [](const Object &object, ObjectKey *key) {
        if (object.name() == u"none")
            return Status(ErrorCode::InvalidArgument, u"no key"_s);
        *key = {{}, u"all"_s};
        return Status::ok();
    };
    Queue queue(std::move(options));
    queue.add(u"a@1");
    queue.add(u"b@2");
    QVERIFY(!queue.fifo->add(widget(u"none@3")).isOk());
    QVERIFY(!queue.fifo->replace(widgets({"none@3"}), u"9"_s, ListOrigin::Ordinary).isOk());
    QCOMPARE(queue.waiting(), L({"A a@1, A b@2"}));
}

// The program from which people learn this machinery: a reflector, a queue, a loop, a store.
void tst_DeltaFifo::reflectorReadByHand()
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource source;
    Queue queue;
    ReflectorOptions options;
    options.initialSync = InitialSync::List;
    Reflector reflector(source, *queue.fifo, executor, clock, options);
    const auto consume = [&] {
        while (!queue.fifo->keys().empty()) {
            std::vector<Object> &store = queue.known.objects;
            static_cast<void>(
                queue.fifo->pop([&](const std::vector<Delta> &deltas, bool, Status *) {
                    for (const Delta &delta : deltas) {
                        std::erase_if(store, [&](const Object &o) { return o.key() == delta.key; });
                        if (delta.type != DeltaType::Deleted)
                            store.push_back(delta.object);
                    }
                    return Outcome::Done;
                }));
        }
        return texts(QList<Object>(queue.known.objects.begin(), queue.known.objects.end()));
    };
    reflector.start();
    executor.runAll();
    source.answerList(widgets({"a@1", "b@2"}), u"10"_s);
    executor.runAll();
    QCOMPARE(consume(), L({"a@1", "b@2"}));
    QVERIFY(queue.fifo->hasSynced());
    source.openAndSend(
        {happened(Type::Modified, widget(u"a@11")), happened(Type::Deleted, widget(u"b@12")),
            happened(Type::Added, widget(u"c@13")), errorEvent(ErrorCode::Expired)});
    QCOMPARE(consume(), L({"a@11", "c@13"}));
    clock.advance(40s, &executor);
    source.answerList(widgets({"c@13", "d@14"}), u"20"_s);
    executor.runAll();
    QCOMPARE(consume(), L({"c@13", "d@14"})); // a's deletion was inferred
    reflector.stop();
    executor.runAll();
}

QTEST_GUILESS_MAIN(tst_DeltaFifo)
#include "tst_deltafifo.moc"
