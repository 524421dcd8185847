#include "../../bench/podgenerator.h"

#include <davit/priv/poolaccess.h>

#include <QTest>
#include <random>

using namespace davit;
using priv::PoolAccess;
using priv::PoolStats;
using priv::poolStats;

namespace {

constexpr QLatin1StringView kSpec("spec");

Object decoded(const QByteArray &json)
{
    priv::ObjectDecoder decoder;
    Object object;
    const Error error = decoder.decode(json, {}, &object);
    if (error.isError())
        qFatal("%s", qUtf8Printable(error.message()));
    return object;
}

QByteArray freshText(const char *what)
{
    return QByteArray("a text of ") + what + " that no other test interns";
}

} // namespace

class tst_Pool : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_before = poolStats(); }
    void cleanup();
    void equalPartsAreOneBlock();
    void countsComeAndGo();
    void updateSharesItsSpec();
    void sizes_data();
    void sizes();
    void deepReleaseNeedsNoStack();
    void wideRelease();
    void exclusiveBytes();
    void handles();
    void trimGivesBack();
    void freedBlocksAreUsedAgain();
    void churn();

private:
    PoolStats m_before;
};

// Whatever a test did, nothing of it is left.
void tst_Pool::cleanup()
{
    const PoolStats after = poolStats();
    QCOMPARE(after.liveBlocks, m_before.liveBlocks);
    QCOMPARE(after.liveBytes, m_before.liveBytes);
}

void tst_Pool::equalPartsAreOneBlock()
{
    const QByteArray part = R"({"text":")" + freshText("equal parts") + R"(","n":[1,2,3,4,5]})";
    const Object first = decoded(R"({"a":)" + part + R"(,"b":)" + part + '}');
    const PoolStats one = poolStats();
    const Object second = decoded(R"({ "a" : )" + part + R"( , "b" : )" + part + '}');
    QCOMPARE(PoolAccess::peek(first), PoolAccess::peek(second));
    QCOMPARE(poolStats().liveBlocks, one.liveBlocks);
    const Object third = decoded(R"({"x":)" + part + '}');
    QCOMPARE(poolStats().liveBlocks, one.liveBlocks + 2); // its root and the name "x"
}

void tst_Pool::countsComeAndGo()
{
    const QByteArray json = R"({"text":")" + freshText("counts") + "\"}";
    Object first = decoded(json);
    const std::uint64_t handle = PoolAccess::peek(first);
    Object second = decoded(json);
    const Value text = first[QLatin1StringView("text")];
    first = Object();
    second = Object();
    QCOMPARE(text.toUtf8(), freshText("counts"));
    QCOMPARE(PoolAccess::peek(decoded(json)), handle); // it lives by the value alone
}

void tst_Pool::updateSharesItsSpec()
{
    bench::PodGenerator pods(7);
    const Object before = decoded(pods.next());
    const PoolStats one = poolStats();
    const Object after = decoded(pods.update());
    QVERIFY(before != after);
    QVERIFY(before[kSpec] == after[kSpec]);
    QVERIFY(poolStats().liveBlocks <= one.liveBlocks + 8); // root, metadata, status, conditions ...
    QVERIFY(poolStats().liveBytes <= one.liveBytes + 600);
}

void tst_Pool::sizes_data()
{
    QTest::addColumn<int>("bytes");
    for (const int bytes : {1, 11, 12, 13, 31, 32, 243, 244, 245, 500, 1000, 4083, 4084, 4085, 8179,
             8180, 8181, 16372, 16373, 100000, 1048563, 1048564, 1048565, 3000000, 16000000})
        QTest::newRow(QByteArray::number(bytes)) << bytes;
}

// Strings around the borders of size classes, pages and segments.
void tst_Pool::sizes()
{
    QFETCH(const int, bytes);
    QByteArray text(bytes, 'x');
    for (qsizetype i = 0; i < text.size(); ++i)
        text[i] = char('g' + i % 20);
    std::vector<Object> objects;
    for (int i = 0; i < 3; ++i) {
        text[0] = char('A' + i);
        objects.push_back(decoded("{\"a\":[\"" + text + "\"]}"));
    }
    objects.erase(objects.begin() + 1);
    text[0] = 'D';
    objects.push_back(decoded("{\"a\":[\"" + text + "\"]}"));
    QCOMPARE(objects.back()[QLatin1StringView("a")].at(0).toUtf8(), text);
    text[0] = 'A';
    QCOMPARE(objects.front()[QLatin1StringView("a")].at(0).toUtf8(), text);
    const PoolStats stats = poolStats();
    QVERIFY(stats.mappedBytes >= stats.liveBytes + stats.wastedBytes + stats.freeBytes);
}

void tst_Pool::deepReleaseNeedsNoStack()
{
    QByteArray json = "{\"deep\":\"" + freshText("depth") + "\"}";
    for (int i = 0; i < 1000; ++i)
        json = "{\"level with a long name\":" + json + ",\"n\":" + QByteArray::number(i) + '}';
    Object object = decoded(json);
    QVERIFY(poolStats().liveBlocks >= m_before.liveBlocks + 300);
    object = Object();
}

void tst_Pool::wideRelease()
{
    QByteArray json = "{\"a\":[0";
    for (int i = 0; i < 20000; ++i)
        json += ",\"wide element number " + QByteArray::number(i) + '"';
    Object object = decoded(json + "]}");
    QVERIFY(poolStats().liveBlocks >= m_before.liveBlocks + 20000);
    object = Object();
}

void tst_Pool::exclusiveBytes()
{
    bench::PodGenerator pods(8);
    const QByteArray json = pods.next();
    const Object alone = decoded(json);
    const std::uint64_t aloneBytes = priv::exclusiveBytes(alone);
    QVERIFY(aloneBytes > 4000); // no other Pod of its template is there
    QVERIFY(aloneBytes <= poolStats().liveBytes - m_before.liveBytes);
    const Object copy = alone;
    QCOMPARE(priv::exclusiveBytes(alone), aloneBytes);
    const Object updated = decoded(pods.update());
    QVERIFY(priv::exclusiveBytes(alone) < 700);
    QVERIFY(priv::exclusiveBytes(updated) < 700);
    Object own;
    QVERIFY(Object::fromJson(json, &own).isOk());
    QVERIFY(priv::exclusiveBytes(own) > 4000);
    QCOMPARE(priv::exclusiveBytes(Object()), std::uint64_t(0));
}

void tst_Pool::handles()
{
    Object object = decoded(R"({"a":")" + freshText("handles") + "\"}");
    const std::uint64_t handle = PoolAccess::release(std::move(object));
    {
        const Object shared = PoolAccess::share(handle);
        QCOMPARE(shared[QLatin1StringView("a")].toUtf8(), freshText("handles"));
    }
    const std::uint64_t second = PoolAccess::release(PoolAccess::share(handle));
    QCOMPARE(second, handle);
    PoolAccess::drop(second);
    const Object adopted = PoolAccess::adopt(handle);
    QVERIFY(!adopted.isNull());
    PoolAccess::drop(0);
    QVERIFY(PoolAccess::share(0).isNull());
}

void tst_Pool::trimGivesBack()
{
    const auto fill = [] {
        std::vector<Object> objects;
        bench::PodGenerator pods(9);
        for (int i = 0; i < 500; ++i)
            objects.push_back(decoded(pods.next()));
        return objects;
    };
    std::vector<Object> objects = fill();
    const PoolStats full = poolStats();
    objects.clear();
    const PoolStats freed = poolStats();
    QVERIFY(freed.freeBytes > m_before.freeBytes + 500000);
    priv::trimPool();
    const PoolStats trimmed = poolStats();
    QVERIFY(trimmed.freeBytes < freed.freeBytes / 4);
    QVERIFY(trimmed.mappedBytes <= full.mappedBytes);
    objects = fill(); // and it works on
    QCOMPARE(poolStats().liveBlocks, full.liveBlocks);
}

void tst_Pool::freedBlocksAreUsedAgain()
{
    const auto round = [] { return decoded("{\"k\":[\"" + QByteArray(100, 'q') + "\",1,2,3]}"); };
    round();
    const PoolStats first = poolStats();
    for (int i = 0; i < 1000; ++i)
        round();
    QCOMPARE(poolStats().freeBytes, first.freeBytes);
    QCOMPARE(poolStats().mappedBytes, first.mappedBytes);
}

// After any history the pool holds what a fresh one would hold.
void tst_Pool::churn()
{
    constexpr std::size_t kLive = 150;
    bench::PodGenerator pods(11);
    std::mt19937 random(12);
    std::vector<Object> live(kLive);
    for (Object &object : live)
        object = decoded(pods.next());
    for (int i = 0; i < 1500; ++i) {
        Object &object = live[random() % kLive];
        object = decoded(i % 3 == 0 ? pods.next() : pods.update());
        if (i % 500 == 499)
            priv::trimPool();
    }
    const PoolStats churned = poolStats();
    QList<QByteArray> texts;
    for (const Object &object : live)
        texts.append(object.toJson());
    live.clear();
    QCOMPARE(poolStats().liveBlocks, m_before.liveBlocks);
    for (const QByteArray &text : texts)
        live.push_back(decoded(text));
    QCOMPARE(poolStats().liveBlocks, churned.liveBlocks);
    QCOMPARE(poolStats().liveBytes, churned.liveBytes);
}

QTEST_GUILESS_MAIN(tst_Pool)
#include "tst_pool.moc"
