// Kinds that are waited for, and kinds that are served in another way later.
#include "host/kinds.h"
#include "testing/manualclock.h"

#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;

namespace {

const Gvk kWidget{u"demo.example"_s, u"v1"_s, u"Widget"_s};

struct Rig
{
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    Result<transport::Resource> answer = transport::kindNotServed(kWidget); // of the cluster
    int asked = 0;
    int found = 0;
    int waited = 0;
    QStringList changes;
    std::optional<host::Kinds> kinds{std::in_place,
        [this](const Gvk &, const client::RestMapper::Done &done) {
            ++asked;
            executor.post([done, answer = answer] { done(answer); });
        },
        executor, clock};

    void resolve()
    {
        kinds->resolve(
            kWidget, [this] { ++found; }, [this](const QString &) { ++waited; });
        executor.runAll();
    }
    void groupsChanged(const QString &group)
    {
        kinds->groupsChanged({group}, [this](const Gvk &gvk, const transport::Resource &now) {
            changes += gvk.kind + u' ' + now.plural;
        });
        executor.runAll();
    }
    void lookAgain()
    {
        kinds->lookAgain(
            kWidget, [this](const transport::Resource &now) { changes += now.plural; });
        executor.runAll();
    }
};

} // namespace

class tst_Kinds : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void waits();
    void leavesNoTimer();
    void again_data();
    void again();
    void groupsChanged_data();
    void groupsChanged();
    void cutPauses();
    void newsOnTheWay_data();
    void newsOnTheWay();
};

void tst_Kinds::waits() // M-9
{
    Rig rig;
    rig.resolve();
    QCOMPARE(rig.waited, 1);
    QVERIFY(!rig.kinds->find(kWidget).isOk());
    rig.answer = transport::Resource{kWidget, u"widgets"_s, true};
    rig.clock.advance(11s, &rig.executor);
    QCOMPARE(rig.found, 1);
    QCOMPARE(rig.kinds->find(kWidget).value().plural, u"widgets"_s);
    rig.clock.advance(60s, &rig.executor);
    QCOMPARE(rig.asked, 2);
    QCOMPARE(rig.clock.pendingTimers(), 0);
}

// Its executor may go with it.
void tst_Kinds::leavesNoTimer()
{
    Rig rig;
    rig.resolve();
    rig.lookAgain();
    QCOMPARE(rig.clock.pendingTimers(), 2);
    rig.kinds.reset();
    QCOMPARE(rig.clock.pendingTimers(), 0);
}

void tst_Kinds::again_data()
{
    QTest::addColumn<QString>("plural"); // when it is back
    QTest::addColumn<bool>("isNamespaced");
    QTest::addColumn<QStringList>("changes");
    QTest::newRow("as it was") << u"widgets"_s << true << QStringList();
    QTest::newRow("another plural") << u"gizmos"_s << true << QStringList{u"gizmos"_s};
    QTest::newRow("another scope") << u"widgets"_s << false << QStringList{u"widgets"_s};
}

void tst_Kinds::again()
{
    QFETCH(const QString, plural);
    QFETCH(const bool, isNamespaced);
    Rig rig;
    rig.answer = transport::Resource{kWidget, u"widgets"_s, true};
    rig.resolve();
    rig.answer = transport::kindNotServed(kWidget);
    rig.lookAgain();
    rig.lookAgain(); // it is looked for already
    QCOMPARE(rig.asked, 2);
    QCOMPARE(rig.kinds->find(kWidget).value().plural, u"widgets"_s); // until there is another
    rig.answer = transport::Resource{kWidget, plural, isNamespaced};
    rig.clock.advance(11s, &rig.executor);
    QTEST(rig.changes, "changes");
    QCOMPARE(rig.kinds->find(kWidget).value().plural, plural);
    QTEST(rig.kinds->find(kWidget).value().isNamespaced, "isNamespaced");
    rig.lookAgain();
    QCOMPARE(rig.asked, 4);
}

// M-9: who waits is answered at once, and what was found is followed.
void tst_Kinds::groupsChanged_data()
{
    QTest::addColumn<QString>("before"); // plural; empty: not served
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("group");
    QTest::addColumn<int>("asked"); // by the news
    QTest::addColumn<int>("found");
    QTest::addColumn<QStringList>("changes");
    const QString ours = u"demo.example"_s;
    const QString gizmos = u"Widget gizmos"_s;
    QTest::newRow("it comes") << QString() << u"widgets"_s << ours << 1 << 1 << QStringList();
    QTest::newRow("not yet") << QString() << QString() << ours << 1 << 0 << QStringList();
    QTest::newRow("another group's news")
        << QString() << u"widgets"_s << u"other.example"_s << 0 << 0 << QStringList();
    QTest::newRow("it changes") << u"widgets"_s << u"gizmos"_s << ours << 1 << 1
                                << QStringList{gizmos};
    QTest::newRow("nothing of it changes")
        << u"widgets"_s << u"widgets"_s << ours << 1 << 1 << QStringList();
    QTest::newRow("it goes") << u"widgets"_s << QString() << ours << 1 << 1 << QStringList();
}

void tst_Kinds::groupsChanged()
{
    QFETCH(const QString, before);
    QFETCH(const QString, after);
    QFETCH(const QString, group);
    const auto answer = [](const QString &plural) {
        return plural.isEmpty() ? Result<transport::Resource>(transport::kindNotServed(kWidget))
                                : transport::Resource{kWidget, plural, true};
    };
    Rig rig;
    rig.answer = answer(before);
    rig.resolve();
    rig.answer = answer(after);
    rig.asked = 0;
    rig.groupsChanged(group);
    QTEST(rig.asked, "asked");
    QTEST(rig.found, "found");
    QTEST(rig.changes, "changes");
    // What is still not there is looked for as before.
    rig.answer = answer(u"gizmos"_s);
    rig.clock.advance(11s, &rig.executor);
    QCOMPARE(rig.found, 1);
    QCOMPARE(rig.clock.pendingTimers(), 0);
    if (!before.isEmpty() && after.isEmpty())
        QCOMPARE(rig.changes, QStringList{u"Widget gizmos"_s});
}

// A pause that ended already, and whose look waits for the executor, is not looked for twice.
void tst_Kinds::cutPauses()
{
    Rig rig;
    rig.resolve();
    rig.clock.advance(11s); // posted, and not run
    rig.groupsChanged(u"demo.example"_s);
    QCOMPARE(rig.asked, 2);
    QCOMPARE(rig.clock.pendingTimers(), 1);
}

void tst_Kinds::newsOnTheWay_data()
{
    QTest::addColumn<QString>("group");
    QTest::addColumn<int>("asked");
    QTest::addColumn<int>("found");
    QTest::newRow("M-9 its own") << u"demo.example"_s << 2 << 1;
    QTest::newRow("another group's") << u"other.example"_s << 1 << 0;
}

// An answer of before the news is none: it is not believed for ten seconds.
void tst_Kinds::newsOnTheWay()
{
    QFETCH(const QString, group);
    Rig rig;
    rig.kinds->resolve(
        kWidget, [&] { ++rig.found; }, [&](const QString &) { ++rig.waited; });
    rig.answer = transport::Resource{kWidget, u"widgets"_s, true};
    rig.groupsChanged(group);
    QTEST(rig.asked, "asked");
    QTEST(rig.found, "found");
    QCOMPARE(rig.waited, 1 - rig.found);
}

QTEST_GUILESS_MAIN(tst_Kinds)
#include "tst_kinds.moc"
