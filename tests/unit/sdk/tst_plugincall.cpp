#include "fakebackends.h"

#include <QTest>
#include <new>
#include <stdexcept>

using namespace davit;

namespace {
using Throwing = void (*)();
}
Q_DECLARE_METATYPE(Throwing)

class tst_PluginCall : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void throws_data();
    void throws();
    void returns();
};

namespace {

// A type that the guard cannot know, but by its base.
struct OwnError : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

int dig(int depth)
{
    if (depth == 0)
        throw OwnError("deep");
    return dig(depth - 1) + 1;
}

void throwBadAlloc()
{
    throw std::bad_alloc();
}

void throwInt()
{
    throw 7;
}

void throwOwn()
{
    throw OwnError("héllo");
}

void throwDeep()
{
    dig(1000);
}

} // namespace

void tst_PluginCall::throws_data()
{
    QTest::addColumn<Throwing>("function");
    QTest::addColumn<QString>("fault");
    QTest::newRow("B40 bad_alloc") << &throwBadAlloc << QStringLiteral("slot|k|std::bad_alloc");
    QTest::newRow("B40 an int") << &throwInt
                                << QStringLiteral("slot|k|something that is no std::exception");
    QTest::newRow("B40 own type, UTF-8") << &throwOwn << QStringLiteral("slot|k|héllo");
    QTest::newRow("B40 1000 frames deep") << &throwDeep << QStringLiteral("slot|k|deep");
}

void tst_PluginCall::throws()
{
    QFETCH(const Throwing, function);
    QFETCH(const QString, fault);
    fake::Faults faults;
    int depthInside = 0;
    const bool isGood = priv::pluginCall(faults, "slot", QStringLiteral("k"), [&] {
        depthInside = faults.depth;
        function();
    });
    QVERIFY(!isGood);
    QCOMPARE(depthInside, 1);
    QCOMPARE(faults.depth, 0);
    QCOMPARE(faults.seen, QStringList{fault});
}

void tst_PluginCall::returns()
{
    fake::Faults faults;
    int answer = 0;
    QVERIFY(priv::pluginCall(faults, "slot", QStringLiteral("k"), [&] { answer = 42; }));
    QCOMPARE(answer, 42);
    QCOMPARE(faults.depth, 0);
    QVERIFY(faults.seen.isEmpty());
}

QTEST_GUILESS_MAIN(tst_PluginCall)
#include "tst_plugincall.moc"
