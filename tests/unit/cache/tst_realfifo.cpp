// The production queue, rule by rule (Q-1 to Q-22).
#include "blockingcall.h"
#include "queuefixtures.h"

using namespace fakes;
using namespace davit::cache;

namespace {

using Story = std::function<void()>;

struct Queue
{
    Known known;
    RealFifo fifo;
    explicit Queue(bool isAtomic, std::size_t maxBatch = 1000, Transform transform = {})
        : fifo(options(isAtomic, maxBatch, std::move(transform)))
    { }
    RealFifoOptions options(bool isAtomic, std::size_t maxBatch, Transform transform)
    {
        RealFifoOptions made;
        made.isAtomic = isAtomic;
        made.emitsBookmarks = isAtomic;
        made.known = isAtomic ? nullptr : &known;
        made.maxBatch = maxBatch;
        made.transform = std::move(transform);
        return made;
    }
    QStringList popAll()
    {
        QStringList all;
        Status status;
        while (fifo.tryPopBatch(
            [&](std::span<const Delta> deltas, bool) {
                for (const Delta &delta : deltas)
                    all += deltaText(delta);
                return Status::ok();
            },
            &status)) { }
        return all;
    }
    // "R a!" and so on: each batch in one line, '!' for the initial list.
    QStringList popBatches()
    {
        QStringList all;
        Status status;
        while (fifo.tryPopBatch(
            [&](std::span<const Delta> deltas, bool isInitial) {
                QStringList batch;
                for (const Delta &delta : deltas)
                    batch += deltaText(delta);
                all += batch.join(u", ") + (isInitial ? u"!"_s : QString());
                return Status::ok();
            },
            &status)) { }
        return all;
    }
    void replace(Texts objects, const QString &version = QStringLiteral("9"))
    {
        QVERIFY(fifo.replace(widgets(objects), version, ListOrigin::Ordinary).isOk());
    }
    void pop()
    {
        QVERIFY(fifo.pop([](std::span<const Delta>, bool) { return Status::ok(); }).isOk());
    }
};

using Script = std::function<void(Queue &)>;

void add(Queue &q, QStringView object)
{
    QVERIFY(q.fifo.add(widget(object)).isOk());
}
void update(Queue &q, QStringView object)
{
    QVERIFY(q.fifo.update(widget(object)).isOk());
}
void remove(Queue &q, QStringView object)
{
    QVERIFY(q.fifo.remove(widget(object)).isOk());
}

void t38_syncedAfterProcessing()
{
    Queue queue(true);
    queue.replace({"a"});
    bool during = true;
    const Status status = queue.fifo.pop([&](std::span<const Delta>, bool isInitial) {
        during = queue.fifo.hasSynced();
        return isInitial ? Status::ok() : Status(ErrorCode::Unknown, QStringLiteral("Q-15"));
    });
    QVERIFY(status.isOk());
    QVERIFY(!during);
    QVERIFY(queue.fifo.hasSynced());
}

void t39_closeWakes()
{
    Queue queue(true);
    Status status;
    BlockingCall consumer([&] {
        status = queue.fifo.pop([](std::span<const Delta>, bool) { return Status::ok(); });
    });
    const bool hasBlocked = consumer.blocks();
    queue.fifo.close();
    consumer.join();
    QVERIFY(hasBlocked);
    QCOMPARE(status.error().code(), ErrorCode::Canceled);
}

void q16_changeWakes()
{
    Queue queue(true);
    QStringList seen;
    BlockingCall consumer([&] {
        static_cast<void>(queue.fifo.pop([&](std::span<const Delta> deltas, bool) {
            seen += deltaText(deltas.front());
            return Status::ok();
        }));
    });
    const bool hasBlocked = consumer.blocks();
    add(queue, u"a@1");
    consumer.join();
    QVERIFY(hasBlocked);
    QCOMPARE(seen, L({"A a@1"}));
}

void t40_restAfterClose()
{
    Queue queue(true);
    add(queue, u"a@1");
    queue.fifo.close();
    QStringList seen;
    const auto process = [&](std::span<const Delta> deltas, bool) {
        seen += deltaText(deltas.front());
        return Status::ok();
    };
    QVERIFY(queue.fifo.pop(process).isOk());
    QCOMPARE(queue.fifo.pop(process).error().code(), ErrorCode::Canceled);
    QCOMPARE(seen, L({"A a@1"}));
}

void t44_keyless()
{
    RealFifoOptions options;
    options.keyFunction = [](const Object &object, ObjectKey *key) {
        if (!object.name().startsWith(u"bad"))
            *key = object.key();
        return Status::ok(); // its key is found missing only at the pop
    };
    RealFifo fifo(options);
    for (const QStringView name : {u"ok1", u"ok2", u"bad3", u"bad4"})
        QVERIFY(fifo.add(widget(name)).isOk());
    QStringList batches;
    Status status;
    while (fifo.tryPopBatch(
        [&](std::span<const Delta> deltas, bool) {
            QStringList names;
            for (const Delta &delta : deltas)
                names += delta.object.name();
            batches += names.join(u' ');
            return Status::ok();
        },
        &status)) { }
    QCOMPARE(batches, L({"ok1 ok2 bad3", "bad4"}));
}

void t49_transformFails()
{
    Queue queue(true, 1000, [](Object *object) {
        return object->name() == u"b" ? Status(ErrorCode::InvalidArgument, QStringLiteral("b"))
                                      : Status::ok();
    });
    QVERIFY(
        !queue.fifo.replace(widgets({"a", "b"}), QStringLiteral("1"), ListOrigin::Ordinary).isOk());
    QVERIFY(!queue.fifo.add(widget(u"b")).isOk());
    QCOMPARE(queue.fifo.depth(), 0);
    QVERIFY(queue.fifo.hasSynced()); // Q-4: the add populated it before it failed
}

void q7_transformedOnce()
{
    int calls = 0;
    Queue queue(true, 1000, [&](Object *) {
        ++calls;
        return Status::ok();
    });
    queue.replace({"a", "b"});
    add(queue, u"c");
    QVERIFY(queue.fifo.removeUnseen({{}, QStringLiteral("a")}, widget(u"a")).isOk());
    QVERIFY(queue.fifo.resync().isOk());
    QCOMPARE(calls, 3); // not for the tombstone, not for the resync
}

void q17_errorIsHandedOn()
{
    Queue queue(true);
    add(queue, u"a");
    const Status status = queue.fifo.pop([](std::span<const Delta>, bool) {
        return Status(ErrorCode::InternalError, QStringLiteral("mine"));
    });
    QCOMPARE(status.error().message(), QStringLiteral("mine"));
    QCOMPARE(queue.fifo.depth(), 0);
}

void q26a_itemWithoutName()
{
    fake::Lines lines;
    RealFifoOptions options;
    options.log = Logger(lines, QStringLiteral("cache"));
    RealFifo fifo(options);
    std::vector<Object> items = widgets({"a@1", "b@2"});
    items.insert(items.begin() + 1,
        fromJson(R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"namespace":"n",)"
                 R"("uid":"u3","resourceVersion":"3"},"spec":{"password":"p"}})"));
    QVERIFY(fifo.replace(items, QStringLiteral("9"), ListOrigin::Ordinary).isOk());
    QStringList taken;
    QVERIFY(fifo.pop([&](std::span<const Delta> deltas, bool) {
                    taken += deltaText(deltas.front());
                    return Status::ok();
                })
                .isOk());
    QCOMPARE(taken, L({"RA[a@1 b@2]@9"}));
    QCOMPARE(lines.seen,
        L({"2|cache|an item of a list is left out|error=queue demo.example/v1 Widget: it has no "
           "name (namespace \"n\", uid \"u3\", version \"3\")"}));
}

void readable()
{
    int calls = 0;
    RealFifoOptions options;
    options.onReadable = [&] { ++calls; };
    RealFifo fifo(options);
    QVERIFY(fifo.add(widget(u"a")).isOk());
    QVERIFY(fifo.add(widget(u"b")).isOk());
    QCOMPARE(calls, 1);
    QVERIFY(fifo.popBatch([](std::span<const Delta>, bool) { return Status::ok(); }).isOk());
    fifo.bookmark(QStringLiteral("4"));
    QCOMPARE(calls, 2);
}

} // namespace
Q_DECLARE_METATYPE(Script)

class tst_RealFifo : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void entries_data();
    void entries();
    void q2_check_data();
    void q2_check();
    void t33_synced_data();
    void t33_synced();
    void t41_batches_data();
    void t41_batches();
    void stories_data();
    void stories();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_RealFifo::entries_data()
{
    QTest::addColumn<bool>("isAtomic");
    QTest::addColumn<Script>("script");
    QTest::addColumn<QStringList>("entries");
    const auto row
        = [](const char *name, bool isAtomic, const Script &script, const QStringList &entries) {
              QTest::newRow(name) << isAtomic << script << entries;
          };
    row(
        "T27", false,
        [](Queue &q) {
            add(q, u"foo@2");
            q.replace({});
        },
        L({"A foo@2", "D T(foo, foo@2)"}));
    row(
        "T28", false,
        [](Queue &q) {
            add(q, u"foo");
            remove(q, u"foo");
            q.replace({});
        },
        L({"A foo", "D foo"}));
    row(
        "T29", false,
        [](Queue &q) {
            add(q, u"foo@2");
            remove(q, u"foo@2");
            add(q, u"foo@3");
            q.replace({});
        },
        L({"A foo@2", "D foo@2", "A foo@3", "D T(foo, foo@3)"}));
    row(
        "T30", false,
        [](Queue &q) {
            add(q, u"foo");
            q.replace({"foo"});
            q.replace({"foo"});
            q.replace({});
        },
        L({"A foo", "R foo", "R foo", "D T(foo, foo)"}));
    row(
        "T31", false,
        [](Queue &q) {
            q.known.objects = widgets({"foo@5", "bar@6", "baz@7"});
            remove(q, u"baz@10");
            q.replace({"foo@5"});
        },
        L({"D baz@10", "D T(bar, bar@6)", "R foo@5"}));
    row(
        "Q-9: what is known and not found has a tombstone without an object", false,
        [](Queue &q) {
            q.known.objects = widgets({"foo@5", "bar@6", "baz@7"});
            q.known.lost = u"bar"_s;
            q.replace({"foo@5"});
        },
        L({"D T(bar, null)", "D T(baz, baz@7)", "R foo@5"}));
    row(
        "T32", false,
        [](Queue &q) {
            q.known.objects = widgets({"foo@5"});
            update(q, u"foo@6");
            QVERIFY(q.fifo.resync().isOk());
        },
        L({"U foo@6"}));
    row(
        "Q-10: resync of what is known", false,
        [](Queue &q) {
            q.known.objects = widgets({"foo@5", "bar@6"});
            QVERIFY(q.fifo.resync().isOk());
        },
        L({"S foo@5", "S bar@6"}));
    row(
        "Q-8: an atomic list is one entry", true,
        [](Queue &q) {
            add(q, u"foo@1");
            q.replace({"a@2", "b@3"});
        },
        L({"A foo@1", "RA[a@2 b@3]@9"}));
    row(
        "Q-10: an atomic resync is one entry", true,
        [](Queue &q) { QVERIFY(q.fifo.resync().isOk()); }, L({"SA"}));
    row(
        "T37", true, [](Queue &q) { q.fifo.bookmark(QStringLiteral("5")); }, L({"B 5"}));
    row(
        "Q-5: deletes are queued, known or not", true, [](Queue &q) { remove(q, u"x@1"); },
        L({"D x@1"}));
    row(
        "Q-3: nothing is merged", true,
        [](Queue &q) {
            add(q, u"a@1");
            update(q, u"a@2");
            update(q, u"a@3");
            remove(q, u"a@4");
        },
        L({"A a@1", "U a@2", "U a@3", "D a@4"}));
    row(
        "Q-6: a tombstone needs no object", true,
        [](Queue &q) {
            QVERIFY(q.fifo.removeUnseen({QStringLiteral("ns"), QStringLiteral("a")}, {}).isOk());
        },
        L({"D T(ns/a, null)"}));
}

void tst_RealFifo::entries()
{
    QFETCH(const bool, isAtomic);
    QFETCH(const Script, script);
    Queue queue(isAtomic);
    script(queue);
    QTEST(queue.popAll(), "entries");
}

void tst_RealFifo::q2_check_data()
{
    QTest::addColumn<bool>("isAtomic");
    QTest::addColumn<bool>("hasKnown");
    QTest::addColumn<bool>("emitsBookmarks");
    QTest::addColumn<bool>("isLegal");
    QTest::newRow("atomic") << true << false << true << true;
    QTest::newRow("atomic without bookmarks") << true << false << false << true;
    QTest::newRow("item by item") << false << true << false << true;
    QTest::newRow("Q-2: atomic with known objects") << true << true << true << false;
    QTest::newRow("Q-2: item by item without known objects") << false << false << false << false;
    QTest::newRow("Q-2: item by item with bookmarks") << false << true << true << false;
}

void tst_RealFifo::q2_check()
{
    QFETCH(const bool, hasKnown);
    Known known;
    RealFifoOptions options;
    options.isAtomic = *static_cast<bool *>(QTest::qData("isAtomic", QMetaType::Bool));
    options.known = hasKnown ? &known : nullptr;
    options.emitsBookmarks = *static_cast<bool *>(QTest::qData("emitsBookmarks", QMetaType::Bool));
    QTEST(RealFifo::check(options).isOk(), "isLegal");
}

void tst_RealFifo::t33_synced_data()
{
    QTest::addColumn<bool>("isAtomic");
    QTest::addColumn<Script>("script");
    QTest::addColumn<int>("popsToSync"); // -1: never
    QTest::newRow("T33") << false << Script([](Queue &q) { q.replace({"a@1", "b@2"}); }) << 2;
    QTest::newRow("T34") << false << Script([](Queue &q) { q.replace({"a@1", "a@2"}); }) << 2;
    QTest::newRow("T35") << false << Script([](Queue &q) { add(q, u"a"); }) << 0;
    QTest::newRow("T36") << true << Script([](Queue &q) { q.replace({}); }) << 1;
    QTest::newRow("T37") << true << Script([](Queue &q) { q.fifo.bookmark(QStringLiteral("5")); })
                         << -1;
    QTest::newRow("Q-11: earlier bookmarks count") << true << Script([](Queue &q) {
        q.fifo.bookmark(QStringLiteral("5"));
        q.replace({"a@1"});
    }) << 2;
    QTest::newRow("Q-11: a list after an event counts nothing") << true << Script([](Queue &q) {
        add(q, u"a");
        q.replace({"a@1"});
    }) << 0;
    QTest::newRow("Q-14: item by item, empty")
        << false << Script([](Queue &q) { q.replace({}); }) << 0;
}

void tst_RealFifo::t33_synced()
{
    QFETCH(const bool, isAtomic);
    QFETCH(const Script, script);
    QFETCH(const int, popsToSync);
    Queue queue(isAtomic);
    QVERIFY(!queue.fifo.hasSynced());
    script(queue);
    for (int pops = 0; pops < popsToSync; ++pops) {
        QVERIFY(!queue.fifo.hasSynced());
        queue.pop();
    }
    queue.fifo.depth() > 0 && popsToSync < 0 ? queue.pop() : void();
    QCOMPARE(queue.fifo.hasSynced(), popsToSync >= 0);
}

void tst_RealFifo::t41_batches_data()
{
    QTest::addColumn<bool>("isAtomic");
    QTest::addColumn<int>("maxBatch");
    QTest::addColumn<Script>("script");
    QTest::addColumn<QStringList>("batches");
    QTest::newRow("T41") << false << 2 << Script([](Queue &q) {
        q.replace({"1", "2"});
        update(q, u"3");
        update(q, u"4");
    }) << L({"R 1, R 2!", "U 3, U 4"});
    QTest::newRow("T42") << false << 2 << Script([](Queue &q) {
        q.replace({"1", "2", "3"});
        update(q, u"4");
    }) << L({"R 1, R 2!", "R 3!", "U 4"});
    QTest::newRow("T43") << false << 1000 << Script([](Queue &q) {
        q.replace({"1"});
        update(q, u"1@2");
        update(q, u"1@3");
    }) << L({"R 1!", "U 1@2", "U 1@3"});
    QTest::newRow("Q-20: relists, resyncs and bookmarks alone")
        << true << 1000 << Script([](Queue &q) {
               q.replace({"1"});
               add(q, u"2@2");
               add(q, u"3@3");
               q.fifo.bookmark(QStringLiteral("5"));
               QVERIFY(q.fifo.resync().isOk());
               add(q, u"4@6");
           })
        << L({"RA[1]@9!", "A 2@2, A 3@3", "B 5", "SA", "A 4@6"});
}

void tst_RealFifo::t41_batches()
{
    QFETCH(const bool, isAtomic);
    QFETCH(const int, maxBatch);
    QFETCH(const Script, script);
    Queue queue(isAtomic, std::size_t(maxBatch));
    script(queue);
    QTEST(queue.popBatches(), "batches");
}

void tst_RealFifo::stories_data()
{
    QTest::addColumn<Story>("story");
    QTest::newRow("T38: synced only after the work") << Story(t38_syncedAfterProcessing);
    QTest::newRow("T39: closing wakes a pop") << Story(t39_closeWakes);
    QTest::newRow("Q-16: a change wakes a pop") << Story(q16_changeWakes);
    QTest::newRow("T40: what is left after closing") << Story(t40_restAfterClose);
    QTest::newRow("T44: entries without a key") << Story(t44_keyless);
    QTest::newRow("T49: a transformer that fails") << Story(t49_transformFails);
    QTest::newRow("Q-7: what is transformed") << Story(q7_transformedOnce);
    QTest::newRow("Q-17: an error is handed on") << Story(q17_errorIsHandedOn);
    QTest::newRow("Q-26a, S-7: an item without a name") << Story(q26a_itemWithoutName);
    QTest::newRow("one wake-up while it is not empty") << Story(readable);
}

void tst_RealFifo::stories()
{
    QFETCH(const Story, story);
    story();
}

QTEST_GUILESS_MAIN(tst_RealFifo)
#include "tst_realfifo.moc"
