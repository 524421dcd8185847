// cancel() on the futures of a Client: what is not sent yet is not sent, what runs is ended.
#include "clientrig.h"

#include <QTest>

using namespace davit;
using namespace davit::client;
using namespace clientrig;

namespace {

template <typename Reply> void cancelIt(Fixture &f, QFuture<Reply> reply, bool isSent, bool *isTold)
{
    reply.then([](const Reply &) {}).onCanceled([isTold] { *isTold = true; });
    if (isSent)
        f.discover();
    reply.cancel();
    if (!isSent)
        f.discover();
    f.clock.advance(RestClient::kCancelLook, &f.executor);
    QVERIFY(reply.isFinished());
    QVERIFY(reply.isCanceled());
    QCOMPARE(reply.resultCount(), 0);
}

} // namespace

class tst_Cancellation : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void future_data();
    void future();
    void inTheQueue();
};

void tst_Cancellation::future_data()
{
    QTest::addColumn<QString>("verb");
    QTest::addColumn<bool>("isSent"); // when it is canceled
    QTest::addColumn<QStringList>("calls");
    const auto row = [](const char *name, const char *verb, bool isSent, const char *call) {
        QTest::newRow(name) << QString::fromLatin1(verb) << isSent
                            << (call ? QStringList{QString::fromLatin1(call)} : QStringList());
    };
    row("a read that waits for its kind", "get", false, nullptr);
    row("a write that waits for its kind is not sent", "delete", false, nullptr);
    row("a read on the wire", "get", true, "p get 0");
    row("a list on the wire", "list", true, "p list 0");
    row("a write on the wire", "delete", true, "p delete 0");
}

void tst_Cancellation::future()
{
    QFETCH(const QString, verb);
    QFETCH(const bool, isSent);
    Fixture f;
    bool isTold = false;
    if (verb == QLatin1StringView("list"))
        cancelIt(f, f.client.list(kConfigMap), isSent, &isTold);
    else if (verb == QLatin1StringView("delete"))
        cancelIt(f, f.client.remove(kConfigMap, kX), isSent, &isTold);
    else
        cancelIt(f, f.client.get(kConfigMap, kX), isSent, &isTold);
    QVERIFY(isTold);
    QCOMPARE(f.server.exchanges.size(), isSent ? size_t(2) : size_t(1));
    if (isSent)
        QVERIFY(f.server.isEnded(1));
    QTEST(f.calls.lines, "calls");
}

void tst_Cancellation::inTheQueue() // of the executor, and others are left alone
{
    Fixture f;
    const QFuture<ObjectReply> read = f.client.get(kConfigMap, kX);
    f.discover();
    QFuture<BodyReply> raw = f.client.getRaw("/api/v1/namespaces/team-a/configmaps/x");
    QFuture<ObjectReply> write = f.client.remove(kConfigMap, kX);
    raw.cancel();
    write.cancel();
    f.executor.runAll();
    QVERIFY(raw.isFinished() && write.isFinished());
    QCOMPARE(f.server.exchanges.size(), size_t(2));
    f.clock.advance(RestClient::kCancelLook * 3, &f.executor);
    QVERIFY(!read.isFinished());
    f.server.answer(1, 200, kJson);
    f.executor.runAll();
    QVERIFY(read.result().isOk());
}

QTEST_GUILESS_MAIN(tst_Cancellation)
#include "tst_cancellation.moc"
