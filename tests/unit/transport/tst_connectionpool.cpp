// Which manager serves which exchange, and what of that is told.
#include "transport/connectionpool.h"

#include <QTest>

using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

namespace {

struct Exchanges final : ConnectionPool::Waiter
{
    void onManager(ConnectionPool::Manager &manager) override { managers.push_back(&manager); }
    std::vector<ConnectionPool::Manager *> managers;
};

struct Bench
{
    QStringList told; // "hit", "miss", "3 managers"
    ConnectionPool pool{[] { return std::make_unique<QNetworkAccessManager>(); },
        ManagerListener{
            [this](ManagerUse use) { told << (use == ManagerUse::Hit ? u"hit"_s : u"miss"_s); },
            [this](int managers) { told << u"%1 managers"_s.arg(managers); }}};
    Exchanges exchanges;

    void begin(Channel channel, int count = 1)
    {
        for (int i = 0; i < count; ++i)
            pool.enqueue(channel, exchanges);
    }
    QStringList take() { return std::exchange(told, {}); }
};

} // namespace

class tst_ConnectionPool : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void uses_data();
    void uses();
    void ends();
    void retired();
};

void tst_ConnectionPool::uses_data()
{
    QTest::addColumn<Channel>("channel");
    QTest::addColumn<int>("exchanges");
    QTest::addColumn<QStringList>("told");
    const QString hit = u"hit"_s;
    const QString miss = u"miss"_s;
    const QString one = u"1 managers"_s;
    const QString two = u"2 managers"_s;
    QTest::newRow("a call") << Channel::Call << 1 << QStringList{miss, one};
    QTest::newRow("two calls") << Channel::Call << 2 << QStringList{miss, one, hit};
    QTest::newRow("seven calls: one waits")
        << Channel::Call << 7 << QStringList{miss, one, hit, hit, hit, hit, hit};
    QTest::newRow("B61 seven watches: two shards")
        << Channel::Watch << 7 << QStringList{miss, one, hit, hit, hit, hit, miss, two, hit};
}

void tst_ConnectionPool::uses()
{
    QFETCH(const Channel, channel);
    QFETCH(const int, exchanges);
    Bench bench;
    bench.begin(channel, exchanges);
    QTEST(bench.told, "told");
}

// A call's manager stays, with its connections; a shard of watches goes with its last one.
void tst_ConnectionPool::ends()
{
    Bench bench;
    bench.begin(Channel::Call);
    bench.begin(Channel::Watch);
    bench.take();
    bench.pool.release(*bench.exchanges.managers.at(0));
    QCOMPARE(bench.take(), QStringList());
    bench.pool.release(*bench.exchanges.managers.at(1));
    QCOMPARE(bench.take(), QStringList{u"1 managers"_s});
    bench.begin(Channel::Call);
    QCOMPARE(bench.take(), QStringList{u"hit"_s});
}

// C-42: of new certificates; what runs on the old ones goes on.
void tst_ConnectionPool::retired()
{
    Bench bench;
    bench.begin(Channel::Call);
    bench.take();
    bench.pool.retireAll();
    QCOMPARE(bench.take(), QStringList());
    bench.begin(Channel::Call);
    QCOMPARE(bench.take(), QStringList({u"miss"_s, u"2 managers"_s}));
    bench.pool.release(*bench.exchanges.managers.at(0));
    QCOMPARE(bench.take(), QStringList{u"1 managers"_s});
}

QTEST_GUILESS_MAIN(tst_ConnectionPool)
#include "tst_connectionpool.moc"
