// The small caches beside the informer's store: the overlay of one's own writes, the one that
// forgets, the one that tells all. Rules S-12, S-13.
#include "fakes.h"

#include <cache/expirationcache.h>
#include <cache/mutationcache.h>
#include <cache/reflector.h>
#include <cache/undeltastore.h>

using namespace fakes;
using namespace davit::cache;

namespace {

ObjectKey keyOf(const char *name)
{
    return {u"n"_s, QString::fromLatin1(name)};
}

struct Overlay
{
    testing::ManualClock clock;
    std::shared_ptr<ThreadSafeStore> store = std::make_shared<ThreadSafeStore>();
    MutationCache cache;
    explicit Overlay(MutationCache::Additions additions = MutationCache::Additions::Shown)
        : cache(store, clock, additions)
    {
        const IndexValues bySize = [](const Object &o) {
            return std::optional(QStringList{o["spec"_L1]["size"_L1].toText()});
        };
        QVERIFY(store->addIndexers({{u"bySize"_s, bySize}}).isOk());
        store->publish();
    }
    void stored(const char *object, int size = 1)
    {
        store->put(widget(QString::fromLatin1(object), {}, size));
        store->publish();
    }
    void wrote(const char *object, int size = 1)
    {
        cache.mutate(widget(QString::fromLatin1(object), {}, size));
    }
    QString shown(const char *name) { return text(cache.find(keyOf(name))); }
};

} // namespace

class tst_OtherCaches : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void s12_newerShows_data();
    void s12_newerShows();
    void s12_additions_data();
    void s12_additions();
    void s12_indexes();
    void s12_timeToLive();
    void s12_leastRecentlyUsedGo();
    void s13_expiration();
    void s13_undelta();
};

void tst_OtherCaches::s12_newerShows_data()
{
    QTest::addColumn<QByteArray>("stored");
    QTest::addColumn<QByteArray>("written");
    QTest::addColumn<QString>("shown");
    QTest::newRow("S-12: the write is newer")
        << QByteArray("n/a@5") << QByteArray("n/a@7") << "n/a@7";
    QTest::newRow("S-12: the watch is as far")
        << QByteArray("n/a@7") << QByteArray("n/a@7") << "n/a@7";
    QTest::newRow("S-12: the watch is further")
        << QByteArray("n/a@9") << QByteArray("n/a@7") << "n/a@9";
    QTest::newRow("S-12: as numbers, not as texts")
        << QByteArray("n/a@9") << QByteArray("n/a@10") << "n/a@10";
    QTest::newRow("not to be compared: the store")
        << QByteArray("n/a@x") << QByteArray("n/a@7") << "n/a@x";
}

void tst_OtherCaches::s12_newerShows()
{
    QFETCH(const QByteArray, stored);
    QFETCH(const QByteArray, written);
    Overlay overlay;
    overlay.stored(stored);
    overlay.wrote(written);
    QTEST(overlay.shown("a"), "shown");
    overlay.stored("n/a@20");
    QCOMPARE(overlay.shown("a"), u"n/a@20"_s);
    QCOMPARE(overlay.shown("stranger"), u"null"_s);
}

void tst_OtherCaches::s12_additions_data()
{
    QTest::addColumn<bool>("isShown");
    QTest::newRow("S-12: objects that the store lacks") << true;
    QTest::newRow("only those it has") << false;
}

void tst_OtherCaches::s12_additions()
{
    QFETCH(const bool, isShown);
    using Additions = MutationCache::Additions;
    Overlay overlay(isShown ? Additions::Shown : Additions::Hidden);
    overlay.wrote("n/new@7", 3);
    QCOMPARE(overlay.shown("new"), isShown ? u"n/new@7"_s : u"null"_s);
    QCOMPARE(texts(overlay.cache.byIndex(u"bySize"_s, u"3"_s)),
        isShown ? L({"n/new@7"}) : QStringList());
    QVERIFY(overlay.cache.byIndex(u"unknown"_s, u"3"_s).isEmpty());
}

void tst_OtherCaches::s12_indexes()
{
    Overlay overlay;
    overlay.stored("n/a@1", 3);
    overlay.stored("n/b@2", 4);
    overlay.wrote("n/a@5", 3);
    overlay.wrote("n/c@6", 3);
    overlay.wrote("n/d@7", 9);
    QCOMPARE(texts(overlay.cache.byIndex(u"bySize"_s, u"3"_s)), L({"n/a@5", "n/c@6"}));
    QCOMPARE(texts(overlay.cache.byIndex(u"bySize"_s, u"4"_s)), L({"n/b@2"}));
}

void tst_OtherCaches::s12_timeToLive()
{
    Overlay overlay;
    overlay.stored("n/a@1");
    overlay.wrote("n/a@5");
    overlay.wrote("n/b@6");
    overlay.clock.advance(5min - 1ns);
    QCOMPARE(overlay.shown("a"), u"n/a@5"_s);
    overlay.clock.advance(1ns);
    QCOMPARE(overlay.shown("a"), u"n/a@1"_s);
    QCOMPARE(overlay.shown("b"), u"null"_s);
}

void tst_OtherCaches::s12_leastRecentlyUsedGo()
{
    Overlay overlay;
    overlay.wrote("n/first@1");
    overlay.wrote("n/second@2");
    QCOMPARE(overlay.shown("first"), u"n/first@1"_s); // used
    for (int i = 0; i < MutationCache::kMaxObjects - 1; ++i)
        overlay.wrote(qPrintable(QStringLiteral("n/w%1@3").arg(i)));
    QCOMPARE(overlay.shown("first"), u"n/first@1"_s);
    QCOMPARE(overlay.shown("second"), u"null"_s);
}

void tst_OtherCaches::s13_expiration()
{
    testing::ManualClock clock;
    ExpirationCache cache(clock, 10s);
    cache.put(widget(u"n/a@1"));
    clock.advance(6s);
    cache.put(widget(u"n/b@2"));
    clock.advance(4s);
    QCOMPARE(texts(cache.list()), L({"n/a@1", "n/b@2"})); // as old as may be
    clock.advance(1s);
    QCOMPARE(text(cache.find(keyOf("a"))), u"null"_s);
    QCOMPARE(text(cache.find(keyOf("b"))), u"n/b@2"_s);
    cache.put(widget(u"n/b@3")); // begins anew
    clock.advance(10s);
    QCOMPARE(texts(cache.list()), L({"n/b@3"}));
    cache.replace({widget(u"n/c@4")});
    QCOMPARE(texts(cache.list()), L({"n/c@4"}));
    cache.remove(keyOf("c"));
    QCOMPARE(texts(cache.list()), QStringList());
}

void tst_OtherCaches::s13_undelta()
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource source;
    QList<QStringList> pushed;
    UndeltaStore store([&](const QList<Object> &all) { pushed += texts(all); });
    ReflectorOptions options;
    options.initialSync = InitialSync::List;
    Reflector reflector(source, store, executor, clock, options);
    reflector.start();
    source.answerList(widgets({"a@1", "b@2"}), u"10"_s);
    executor.runAll();
    source.openAndSend({happened(Type::Modified, widget(u"a@11")), bookmark(u"12"_s),
        happened(Type::Deleted, widget(u"b@13"))});
    QVERIFY(store.resync().isOk());
    QCOMPARE(pushed, QList<QStringList>({L({"a@1", "b@2"}), L({"a@11", "b@2"}), L({"a@11"})}));
    reflector.stop();
    executor.runAll();
}

QTEST_GUILESS_MAIN(tst_OtherCaches)
#include "tst_othercaches.moc"
