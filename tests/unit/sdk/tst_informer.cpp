#include "fakebackends.h"

#include <davit/informer.h>

#include <QTest>
#include <QtCore/qpointer.h>
#include <stdexcept>

using namespace davit;
using N = priv::Notification;

namespace {

const Gvk kSecret{QString(), QStringLiteral("v1"), QStringLiteral("Secret")};

N added(bool isInInitialList = false)
{
    N n;
    n.isInInitialList = isInInitialList;
    return n;
}

N of(N::Kind kind)
{
    N n;
    n.kind = kind;
    return n;
}

} // namespace

class tst_Informer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void signalsInOrder();
    void i21_throwingSlotIsReportedAndTheBatchGoesOn();
    void deletedInsideASlot();
    void eventLoopInsideASlot();
    void receiverIsCutAtDeath();
    void listerOutlivesTheInformer();
    void listerAsksItsBackend();
    void resyncPeriodOfARequest();
    void indexes();
};

void tst_Informer::signalsInOrder()
{
    fake::Faults faults;
    auto *view = new fake::View(kSecret, faults);
    Informer informer(*view);
    QStringList heard;
    connect(&informer, &Informer::added, this,
        [&](const Object &, bool initial) { heard << QStringLiteral("added %1").arg(initial); });
    connect(&informer, &Informer::updated, this, [&] { heard << QStringLiteral("updated"); });
    connect(&informer, &Informer::deleted, this,
        [&](const Object &, bool unknown) { heard << QStringLiteral("deleted %1").arg(unknown); });
    connect(&informer, &Informer::synced, this, [&] { heard << QStringLiteral("synced"); });
    N lost = of(N::Kind::Deleted);
    lost.isFinalStateUnknown = true;
    view->deliver({added(true), of(N::Kind::Synced), added(), of(N::Kind::Updated), lost});
    QVERIFY(heard.isEmpty()); // never inside the call
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard,
        QStringList({QStringLiteral("added 1"), QStringLiteral("synced"), QStringLiteral("added 0"),
            QStringLiteral("updated"), QStringLiteral("deleted 1")}));
    QCOMPARE(view->handledKinds, QList<int>({0, 3, 0, 1, 2}));
    QVERIFY(faults.seen.isEmpty());
}

void tst_Informer::i21_throwingSlotIsReportedAndTheBatchGoesOn()
{
    fake::Faults faults;
    auto *view = new fake::View(kSecret, faults);
    Informer informer(*view);
    int heard = 0;
    connect(&informer, &Informer::added, this, [&] {
        if (++heard == 2)
            throw std::runtime_error("slot broke");
    });
    view->deliver({added(), added(), added()});
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard, 3);
    QCOMPARE(view->handledKinds.size(), 3); // a throw counts as handled, synced is never stuck
    QCOMPARE(faults.seen, QStringList{QStringLiteral("slot added|v1 Secret|slot broke")});
}

void tst_Informer::deletedInsideASlot()
{
    fake::Faults faults;
    bool isDead = false;
    auto *view = new fake::View(kSecret, faults);
    view->whenDead = &isDead;
    QPointer<Informer> informer = new Informer(*view);
    int heard = 0;
    connect(informer, &Informer::added, this, [&] {
        ++heard;
        delete informer;
    });
    view->deliver({added(), added(), added()});
    QCoreApplication::sendPostedEvents();
    QCOMPARE(heard, 1);
    QVERIFY(isDead);
    QCOMPARE(faults.depth, 0);
}

// A slot that waits in an event loop of its own: what comes meanwhile is told after what came
// before.
void tst_Informer::eventLoopInsideASlot()
{
    fake::Faults faults;
    auto *view = new fake::View(kSecret, faults);
    Informer informer(*view);
    QStringList heard;
    connect(&informer, &Informer::added, this, [&](const Object &, bool isInitial) {
        heard << QStringLiteral("added");
        if (isInitial) { // the first one waits
            view->deliver({of(N::Kind::Deleted)});
            QCoreApplication::sendPostedEvents();
        }
        heard << QStringLiteral("returned");
    });
    connect(&informer, &Informer::updated, this, [&] { heard << QStringLiteral("updated"); });
    connect(&informer, &Informer::deleted, this, [&] { heard << QStringLiteral("deleted"); });
    view->deliver({added(true), of(N::Kind::Updated)});
    QCoreApplication::sendPostedEvents();
    QCoreApplication::sendPostedEvents(); // a round of the event loop each
    QCOMPARE(heard,
        QStringList({QStringLiteral("added"), QStringLiteral("returned"), QStringLiteral("updated"),
            QStringLiteral("deleted")}));
    QCOMPARE(view->handledKinds, QList<int>({0, 1, 2}));
}

void tst_Informer::receiverIsCutAtDeath()
{
    class Recording final : public QObject
    {
    } parent;
    fake::Faults faults;
    auto *view = new fake::View(kSecret, faults);
    auto *informer = new Informer(*view, &parent);
    QCOMPARE(view->receiver, informer);
    view->deliver({added()});
    delete informer; // the event that waits dies with its receiver
    QCoreApplication::sendPostedEvents();
    QVERIFY(faults.seen.isEmpty());
}

void tst_Informer::listerOutlivesTheInformer()
{
    fake::Faults faults;
    Lister lister;
    QCOMPARE(lister.count(), qsizetype(0));
    {
        Informer informer(*new fake::View(kSecret, faults));
        lister = informer.lister();
        QVERIFY(informer.request().gvk() == kSecret);
        QVERIFY(!informer.hasSynced());
    }
    QVERIFY(lister.gvk() == kSecret);
    QCOMPARE(lister.count(), qsizetype(3));
    QCOMPARE(fake::ListerOf::alive, 1);
    lister = Lister();
    QCOMPARE(fake::ListerOf::alive, 0);
}

void tst_Informer::listerAsksItsBackend()
{
    auto *backend = new fake::ListerOf(kSecret);
    const Lister lister(*backend);
    LabelSelector web;
    QVERIFY(LabelSelector::parse(u"app=web", &web).isOk());
    lister.list();
    QCOMPARE(backend->asked, QStringLiteral("-|-"));
    lister.list(web);
    QCOMPARE(backend->asked, QStringLiteral("-|app=web"));
    lister.inNamespace(QStringLiteral("a"), web);
    QCOMPARE(backend->asked, QStringLiteral("a|app=web"));
    QTest::ignoreMessage(QtWarningMsg, "index \"byNode\" of v1 Secret was never added");
    QVERIFY(lister.byIndex(QStringLiteral("byNode"), QStringLiteral("n1")).isEmpty());
    QList<Object> found{Object()};
    const Status unknown = lister.byIndex(QStringLiteral("byNode"), QStringLiteral("n1"), &found);
    QCOMPARE(unknown.error().code(), ErrorCode::InvalidArgument);
    QCOMPARE(
        unknown.error().message(), QStringLiteral("index \"byNode\" of v1 Secret was never added"));
    QVERIFY(found.isEmpty());
    QCOMPARE(lister.get({QStringLiteral("a"), QStringLiteral("b")}).error().message(),
        QStringLiteral("v1 Secret a/b is not in the cache"));
}

void tst_Informer::resyncPeriodOfARequest()
{
    using namespace std::chrono_literals;
    InformerRequest request(kSecret);
    QVERIFY(request.resyncPeriod() < 0ns); // the host's default
    const InformerRequest copy = request;
    request.resyncPeriod(5min);
    QVERIFY(request.resyncPeriod() == 5min);
    QVERIFY(copy.resyncPeriod() < 0ns);
}

void tst_Informer::indexes()
{
    fake::Faults faults;
    auto *view = new fake::View(kSecret, faults);
    Informer informer(*view);
    QVERIFY(informer
                .addIndexBy(QStringLiteral("one"),
                    [](const Object &) { return QStringList{QStringLiteral("v")}; })
                .isOk());
    QCOMPARE(view->indexes, QStringList{QStringLiteral("one")});
    QCOMPARE(view->lastIndex->values(Object()), QStringList{QStringLiteral("v")});
}

QTEST_GUILESS_MAIN(tst_Informer)
#include "tst_informer.moc"
