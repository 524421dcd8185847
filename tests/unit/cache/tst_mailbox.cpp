// What waits for a plugin: the merging rules of Delivery::Latest, each a row; synced accounting;
// wake-ups. Floods over the whole path are in tst_delivery.
#include "fakes.h"

#include <cache/mailbox.h>
#include <davit/priv/controllerspec.h>

#include <QtCore/qcoreapplication.h>
#include <QtCore/qcoreevent.h>
#include <QtCore/qset.h>
#include <QtTest>
#include <random>
#include <thread>

using namespace fakes;
using namespace davit::cache;
using davit::priv::Notification;
using Kind = Notification::Kind;

namespace {

// From the short form: "+a@1!", "~a@1>a@2", "-a@2?".
Notification notification(const QString &text)
{
    Notification n;
    QString rest = text.mid(1);
    if (text.startsWith(u'+')) {
        n.isInInitialList = rest.endsWith(u'!');
        rest.remove(u'!');
    } else if (text.startsWith(u'~')) {
        n.kind = Kind::Updated;
        const qsizetype at = rest.indexOf(u'>');
        n.before = widget(rest.left(at));
        rest = rest.mid(at + 1);
    } else {
        n.kind = Kind::Deleted;
        n.isFinalStateUnknown = rest.endsWith(u'?');
        rest.remove(u'?');
    }
    n.object = widget(rest);
    return n;
}

QString text(const Notification &n)
{
    switch (n.kind) {
    case Kind::Added:
        return u'+' + fakes::text(n.object) + (n.isInInitialList ? u"!"_s : QString());
    case Kind::Updated:
        return u'~' + fakes::text(n.before) + u'>' + fakes::text(n.object);
    case Kind::Deleted:
        return u'-' + fakes::text(n.object) + (n.isFinalStateUnknown ? u"?"_s : QString());
    case Kind::Synced:
        break;
    }
    return u"synced"_s;
}

std::vector<Notification> notifications(const QStringList &texts)
{
    std::vector<Notification> all;
    for (const QString &one : texts)
        all.push_back(notification(one));
    return all;
}

// Takes and handles all that waits.
QStringList take(Mailbox &mailbox)
{
    QStringList all;
    for (auto batch = mailbox.take(); !batch.empty(); batch = mailbox.take()) {
        for (const Notification &n : batch) {
            all += text(n);
            mailbox.handled(n);
        }
    }
    return all;
}

// Puts them, as one batch or each by itself. "taken": all that waits is handed out and handled
// there; "stored": the first list is. At the end, too, all that waits is handed out.
QStringList play(Mailbox &mailbox, const QStringList &put, bool isOneBatch)
{
    QStringList taken;
    QStringList batch;
    for (const QString &one : put) {
        const bool isStep = one == u"taken" || one == u"stored";
        if (!isStep)
            batch += one;
        if (isStep || !isOneBatch)
            mailbox.put(notifications(std::exchange(batch, {})));
        if (one == u"taken")
            taken += take(mailbox);
        else if (one == u"stored")
            mailbox.partSynced();
    }
    mailbox.put(notifications(batch));
    return taken + take(mailbox);
}

class Receiver final : public QObject
{
public:
    int wakeUps = 0;
    std::function<void()> onWakeUp;

protected:
    bool event(QEvent *event) override
    {
        if (event->type() != QEvent::Type(davit::priv::wakeUpEventType()))
            return QObject::event(event);
        ++wakeUps;
        if (onWakeUp)
            onWakeUp();
        return true;
    }
};

} // namespace

class tst_Mailbox : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void latest_data();
    void latest();
    void latestOfController_data();
    void latestOfController();
    void everyEvent();
    void synced_data();
    void synced();
    void wakeUps();
    void t64_closed_data();
    void t64_closed();
    void portions_data();
    void portions();
    void latestAgainstModel();
    void handoverBetweenThreads_data();
    void handoverBetweenThreads();
};

void tst_Mailbox::latest_data()
{
    QTest::addColumn<QStringList>("put");
    QTest::addColumn<QStringList>("taken");
    const auto row = [](const char *name, Texts put, Texts taken) {
        QTest::newRow(name) << L(put) << L(taken);
    };
    row("added", {"+a@1"}, {"+a@1"});
    row("added, updated: added, the newest", {"+a@1", "~a@1>a@2", "~a@2>a@3"}, {"+a@3"});
    row("isInInitialList survives merging", {"+a@1!", "~a@1>a@2"}, {"+a@2!"});
    row("updated, updated: before is what was delivered", {"~a@1>a@2", "~a@2>a@3"}, {"~a@1>a@3"});
    row("updated, deleted: deleted", {"~a@1>a@2", "-a@3"}, {"-a@3"});
    row("updated, deleted unseen: deleted unseen", {"~a@1>a@2", "-a@2?"}, {"-a@2?"});
    row("added, deleted, never seen: nothing", {"+a@1", "-a@2"}, {});
    row("added, updated, deleted: nothing", {"+a@1", "~a@1>a@2", "-a@3"}, {});
    row("deleted, added with another uid: both, in order", {"-a@2#1?", "+a@3#2"},
        {"-a@2?", "+a@3"});
    row("updated, deleted, added: both", {"~a@1#1>a@2#1", "-a@3#1", "+a@4#2"}, {"-a@3", "+a@4"});
    row("deleted, added, updated: deleted, added", {"-a@2#1", "+a@3#2", "~a@3#2>a@4#2"},
        {"-a@2", "+a@4"});
    row("deleted, added, deleted: the first deletion", {"-a@2#1", "+a@3#2", "-a@4#2"}, {"-a@2"});
    row("and again: at most two", {"-a@2#1", "+a@3#2", "-a@4#2", "+a@5#3", "~a@5#3>a@6#3"},
        {"-a@2", "+a@6"});
    row("added, deleted, added: added", {"+a@1#1", "-a@2#1", "+a@3#2"}, {"+a@3"});
    row("deleted twice: the observed one", {"-a@2?", "-a@3"}, {"-a@3"});
    row("deleted twice: not the inferred one", {"-a@3", "-a@2?"}, {"-a@3"});
    row("keys in the order in which they began to wait", {"+a@1", "+b@2", "~a@1>a@3", "+c@4"},
        {"+a@3", "+b@2", "+c@4"});
    row("same name in two namespaces", {"+n/a@1", "+m/a@2"}, {"+n/a@1", "+m/a@2"});
    row("before is the last state that this handler was given",
        {"+a@1", "~a@1>a@2", "taken", "~a@2>a@3", "~a@3>a@4"}, {"+a@2", "~a@2>a@4"});
    row("given, then deleted: deleted", {"+a@1", "taken", "~a@1>a@2", "-a@3"}, {"+a@1", "-a@3"});
    row("added, deleted, never seen: counts as handled for synced", {"+a@1!", "stored", "-a@2"},
        {"synced"});
    row("one of two, never seen: synced after the other", {"+a@1!", "+b@2!", "stored", "-a@3"},
        {"+b@2!", "synced"});
    row("added, updated: counts once for synced", {"+a@1!", "~a@1>a@2", "stored"},
        {"+a@2!", "synced"});
}

// What came and went before it was seen is gone for a reconciler that made it; all else is Latest.
void tst_Mailbox::latestOfController_data()
{
    QTest::addColumn<QStringList>("put");
    QTest::addColumn<QStringList>("taken");
    const auto row = [](const char *name, Texts put, Texts taken) {
        QTest::newRow(name) << L(put) << L(taken);
    };
    row("added, deleted, never seen: deleted", {"+a@1!", "-a@2"}, {"-a@2"});
    row("added, updated, deleted: deleted", {"+a@1", "~a@1>a@2", "-a@3"}, {"-a@3"});
    row("and added again: both", {"+a@1#1", "-a@2#1", "+a@3#2"}, {"-a@2", "+a@3"});
    row("and deleted again: one deletion", {"+a@1#1", "-a@2#1", "+a@3#2", "-a@4#2"}, {"-a@2"});
    row("added, updated: added, the newest", {"+a@1", "~a@1>a@2"}, {"+a@2"});
    row("updated, deleted: deleted", {"~a@1>a@2", "-a@3"}, {"-a@3"});
}

void tst_Mailbox::latestOfController()
{
    QFETCH(const QStringList, put);
    Mailbox mailbox(priv::kLatestOfController, 1);
    mailbox.put(notifications(put));
    QTEST(take(mailbox), "taken");
    QCOMPARE(mailbox.pending(), 0);
    mailbox.partSynced(); // an initial one that vanished counts as handled
    QVERIFY(mailbox.hasSynced());
}

void tst_Mailbox::latest()
{
    QFETCH(const QStringList, put);
    for (const bool isOneBatch : {false, true}) {
        Mailbox mailbox(Delivery::Latest, 1);
        QTEST(play(mailbox, put, isOneBatch), "taken");
        QCOMPARE(mailbox.pending(), 0);
        QCOMPARE(mailbox.hasSynced(), put.contains(u"stored"_s));
    }
}

void tst_Mailbox::everyEvent()
{
    const QStringList all = L({"+a@1!", "~a@1>a@2", "-a@3", "+a@4", "~a@4>a@5", "+b@6", "-a@5?"});
    for (const Delivery delivery : {Delivery::EveryEvent, Delivery::Unset}) {
        Mailbox mailbox(delivery, 1);
        mailbox.put(notifications(all));
        QCOMPARE(mailbox.pending(), all.size());
        QCOMPARE(take(mailbox), all);
    }
}

void tst_Mailbox::synced_data()
{
    QTest::addColumn<Delivery>("delivery");
    QTest::newRow("every event") << Delivery::EveryEvent;
    QTest::newRow("latest") << Delivery::Latest;
}

// I-23: after each initial addition has been handled, the dropped ones included.
void tst_Mailbox::synced()
{
    QFETCH(const Delivery, delivery);
    {
        Mailbox mailbox(delivery, 2);
        mailbox.put(notifications(L({"+a@1!", "+b@2!", "-b@3"})));
        mailbox.partSynced();
        std::vector<Notification> batch = mailbox.take();
        for (const Notification &n : batch)
            mailbox.handled(n);
        QVERIFY(!mailbox.hasSynced()); // the other part has not
        mailbox.put(notifications(L({"+c@4!"})));
        mailbox.partSynced();
        QVERIFY(!mailbox.hasSynced());
        batch = mailbox.take();
        QCOMPARE(batch.size(), 1u);
        QVERIFY(!mailbox.hasSynced()); // taken is not handled
        mailbox.handled(batch.front());
        QVERIFY(mailbox.hasSynced());
        QCOMPARE(take(mailbox), L({"synced"})); // once
        mailbox.put(notifications(L({"+d@5"})));
        QCOMPARE(take(mailbox), L({"+d@5"}));
    }
    {
        Mailbox empty(delivery, 1); // an empty cluster
        QVERIFY(!empty.hasSynced());
        empty.partSynced();
        QVERIFY(empty.hasSynced());
        QCOMPARE(take(empty), L({"synced"}));
    }
    {
        Mailbox vanished(delivery, 1); // the only object went before it was seen
        vanished.put(notifications(L({"+a@1!"})));
        vanished.partSynced();
        vanished.put(notifications(L({"-a@2"})));
        QCOMPARE(take(vanished),
            delivery == Delivery::Latest ? L({"synced"}) : L({"+a@1!", "-a@2", "synced"}));
        QVERIFY(vanished.hasSynced());
    }
}

void tst_Mailbox::wakeUps()
{
    Mailbox mailbox(Delivery::EveryEvent, 1);
    mailbox.put(notifications(L({"+a@1"})));
    Receiver receiver;
    mailbox.setReceiver(&receiver); // something waits already
    mailbox.put(notifications(L({"+b@2"})));
    QCoreApplication::sendPostedEvents(&receiver);
    QCOMPARE(receiver.wakeUps, 1);
    mailbox.put(notifications(L({"+c@3"})));
    QCoreApplication::sendPostedEvents(&receiver);
    QCOMPARE(receiver.wakeUps, 1); // it was not emptied
    QCOMPARE(take(mailbox).size(), 3);
    mailbox.put({});
    QCoreApplication::sendPostedEvents(&receiver);
    QCOMPARE(receiver.wakeUps, 1);
    mailbox.put(notifications(L({"+d@4", "+e@5"})));
    QCoreApplication::sendPostedEvents(&receiver);
    QCOMPARE(receiver.wakeUps, 2);
    mailbox.take();
    mailbox.setReceiver(nullptr);
    mailbox.put(notifications(L({"+f@6"})));
    QCoreApplication::sendPostedEvents(&receiver);
    QCOMPARE(receiver.wakeUps, 2);
    QCOMPARE(take(mailbox), L({"+f@6"}));
}

void tst_Mailbox::t64_closed_data()
{
    QTest::addColumn<Delivery>("delivery");
    QTest::newRow("T64: every event") << Delivery::EveryEvent;
    QTest::newRow("T64: latest") << Delivery::Latest;
}

void tst_Mailbox::t64_closed()
{
    QFETCH(const Delivery, delivery);
    Mailbox mailbox(delivery, 1);
    mailbox.put(notifications(L({"+a@1!", "+b@2!"})));
    const auto inFlight = mailbox.take();
    mailbox.put(notifications(L({"+c@3", "+d@4"})));
    mailbox.close();
    QCOMPARE(mailbox.pending(), 0);
    for (const Notification &n : inFlight)
        mailbox.handled(n); // the one that runs ends
    mailbox.put(notifications(L({"+e@5"})));
    mailbox.partSynced();
    QCOMPARE(take(mailbox), QStringList());
}

void tst_Mailbox::portions_data()
{
    QTest::addColumn<Delivery>("delivery");
    QTest::addColumn<int>("keys");
    QTest::addColumn<QList<int>>("portions");
    QTest::newRow("latest: a portion is all") << Delivery::Latest << 64 << QList<int>{64};
    QTest::newRow("latest: more than a portion") << Delivery::Latest << 65 << QList<int>{64, 1};
    QTest::newRow("latest: many portions") << Delivery::Latest << 200 << QList<int>{64, 64, 64, 8};
    QTest::newRow("every event: all at once") << Delivery::EveryEvent << 200 << QList<int>{200};
}

// What is not taken yet goes on merging; an event comes for the next portion.
void tst_Mailbox::portions()
{
    QFETCH(const Delivery, delivery);
    QFETCH(const int, keys);
    QFETCH(const QList<int>, portions);
    Mailbox mailbox(delivery, 1);
    Receiver receiver;
    QList<int> taken;
    QStringList last;
    receiver.onWakeUp = [&] {
        const auto batch = mailbox.take();
        taken += int(batch.size());
        last += text(batch.back());
        for (const Notification &n : batch)
            mailbox.handled(n);
        if (delivery == Delivery::Latest && taken.size() < portions.size())
            mailbox.put(notifications({u"~k%1@1>k%1@2"_s.arg(keys - 1)})); // still merges
    };
    mailbox.setReceiver(&receiver);
    for (int key = 0; key < keys; ++key)
        mailbox.put(notifications({u"+k%1@1"_s.arg(key)}));
    for (int i = 0; i < 10; ++i)
        QCoreApplication::sendPostedEvents(&receiver);
    QCOMPARE(taken, portions);
    QCOMPARE(receiver.wakeUps, portions.size()); // none for nothing
    QCOMPARE(
        last.last(), portions.size() > 1 ? u"+k%1@2"_s.arg(keys - 1) : u"+k%1@1"_s.arg(keys - 1));
    mailbox.setReceiver(nullptr);
}

// Random histories: what is taken, replayed, gives what happened.
void tst_Mailbox::latestAgainstModel()
{
    std::mt19937 random(11);
    const auto pick = [&](int n) { return int(random() % quint32(n)); };
    Mailbox mailbox(Delivery::Latest, 1);
    std::map<int, Object> server;
    std::map<int, Object> replay;
    int version = 0;
    const auto drain = [&] {
        QSet<ObjectKey> added;
        for (const Notification &n : mailbox.take()) {
            const int key = n.object.name().mid(1).toInt();
            if (n.kind == Kind::Added) {
                QVERIFY(!replay.contains(key));
                replay[key] = n.object;
                QVERIFY(!added.contains(n.object.key()));
                added.insert(n.object.key());
            } else if (n.kind == Kind::Updated) {
                QVERIFY(replay.contains(key) && replay[key] == n.before);
                replay[key] = n.object;
            } else {
                QVERIFY(replay.contains(key) && replay[key].uid() == n.object.uid());
                replay.erase(key);
            }
            mailbox.handled(n);
        }
    };
    for (int step = 0; step < 5000; ++step) {
        const int key = pick(12);
        ++version;
        std::vector<Notification> one(1);
        if (!server.contains(key)) {
            server[key] = widget(QStringLiteral("k%1@%2#%2").arg(key).arg(version));
            one[0] = {Kind::Added, false, false, {}, server[key]};
        } else {
            const Object next
                = widget(QStringLiteral("k%1@%2#%3").arg(key).arg(version).arg(server[key].uid()));
            if (pick(3) == 0) {
                one[0] = {Kind::Deleted, false, pick(2) == 0, {}, next};
                server.erase(key);
            } else {
                one[0] = {Kind::Updated, false, false, server[key], next};
                server[key] = next;
            }
        }
        mailbox.put(std::move(one));
        QVERIFY(mailbox.pending() <= 24);
        if (pick(10) == 0)
            drain();
        if (QTest::currentTestFailed())
            return;
    }
    drain();
    QVERIFY(replay == server);
}

void tst_Mailbox::handoverBetweenThreads_data()
{
    synced_data();
}

// A strand puts, the plugin's thread takes on wake-up; nothing is lost, synced comes.
void tst_Mailbox::handoverBetweenThreads()
{
    QFETCH(const Delivery, delivery);
    constexpr int total = 5000;
    Mailbox mailbox(delivery, 1);
    Receiver receiver;
    qint64 last = 0;
    int count = 0;
    bool hasSynced = false;
    receiver.onWakeUp = [&] {
        for (const Notification &n : mailbox.take()) {
            hasSynced = hasSynced || n.kind == Kind::Synced;
            if (n.kind != Kind::Synced) {
                ++count;
                last = n.object.resourceVersion().toLongLong();
            }
            mailbox.handled(n);
        }
    };
    mailbox.setReceiver(&receiver);
    std::thread strand([&] {
        Object before = widget(u"a@1");
        std::vector<Notification> first(1);
        first[0] = {Kind::Added, true, false, {}, before};
        mailbox.put(std::move(first));
        mailbox.partSynced();
        for (int v = 2; v <= total; ++v) {
            const Object after = widget(QStringLiteral("a@%1").arg(v));
            std::vector<Notification> one(1);
            one[0] = {Kind::Updated, false, false, before, after};
            mailbox.put(std::move(one));
            before = after;
        }
    });
    while (last != total || !hasSynced)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    strand.join();
    QVERIFY(delivery == Delivery::EveryEvent ? count == total : count <= total);
    mailbox.setReceiver(nullptr);
}

QTEST_GUILESS_MAIN(tst_Mailbox)
#include "tst_mailbox.moc"
