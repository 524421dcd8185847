// Twenty minutes of churn: resident memory stays flat after the first, and what lives at the end is
// what a fresh pool would hold. DAVIT_CHURN_SECONDS shortens it for a try by hand.
#include "../../bench/podgenerator.h"

#include <davit/priv/poolaccess.h>

#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <malloc.h>
#include <optional>
#include <random>
#include <unistd.h>

using namespace davit;

namespace {

constexpr std::size_t kLive = 5000;

double residentMiB()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no /proc");
    const QByteArrayList fields = file.readAll().split(' ');
    return fields.at(1).toDouble() * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

} // namespace

class tst_PoolChurn : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void residentStaysFlat();

private:
    void step();

    bench::PodGenerator m_pods{21};
    std::mt19937 m_random{22};
    std::optional<priv::ObjectDecoder> m_decoder{std::in_place};
    std::vector<Object> m_live = std::vector<Object>(kLive);
};

// New objects, updates, deletions and bursts, as a busy cluster has them.
void tst_PoolChurn::step()
{
    const unsigned kind = m_random() % 1000;
    if (kind == 0) { // a namespace goes, and comes back
        const std::size_t first = m_random() % kLive;
        for (std::size_t i = first; i < std::min(first + 500, kLive); ++i)
            m_live[i] = Object();
        return;
    }
    Object &object = m_live[m_random() % kLive];
    const QByteArray json = kind < 400 ? m_pods.next() : m_pods.update();
    if (m_decoder->decode(json, {}, &object).isError())
        qFatal("the generator's JSON is wrong");
}

void tst_PoolChurn::residentStaysFlat()
{
    const int seconds = qEnvironmentVariableIntValue("DAVIT_CHURN_SECONDS");
    const qint64 total = (seconds > 0 ? seconds : 1200) * 1000;
    const std::uint64_t before = priv::poolStats().liveBlocks;
    for (Object &object : m_live)
        QVERIFY(!m_decoder->decode(m_pods.next(), {}, &object).isError());
    QElapsedTimer timer;
    timer.start();
    double afterMinute = 0;
    qint64 steps = 0;
    for (; timer.elapsed() < total; ++steps) {
        step();
        if (steps % 20000 == 0)
            priv::trimPool();
        if (afterMinute == 0 && timer.elapsed() >= std::min<qint64>(60000, total / 5)) {
            malloc_trim(0);
            afterMinute = residentMiB();
        }
    }
    malloc_trim(0);
    const double atEnd = residentMiB();
    qInfo("%lld steps; resident %.1f MiB after a minute, %.1f MiB at the end", steps, afterMinute,
        atEnd);
    QVERIFY(atEnd <= afterMinute * 1.05);

    m_decoder.emplace(); // the old one remembers names
    const priv::PoolStats churned = priv::poolStats();
    QList<QByteArray> texts;
    for (const Object &object : m_live)
        texts.append(object.toJson());
    m_live.clear();
    QCOMPARE(priv::poolStats().liveBlocks, before);
    for (const QByteArray &text : texts) {
        Object object;
        QVERIFY(text.isEmpty() || !m_decoder->decode(text, {}, &object).isError());
        m_live.push_back(object);
    }
    m_decoder.reset();
    QCOMPARE(priv::poolStats().liveBlocks, churned.liveBlocks);
    QCOMPARE(priv::poolStats().liveBytes, churned.liveBytes);
}

QTEST_GUILESS_MAIN(tst_PoolChurn)
#include "tst_poolchurn.moc"
