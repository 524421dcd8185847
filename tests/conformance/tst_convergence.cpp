// A shared informer against a real API server that dies three times under load: in the end what its
// handler heard, what its store holds and what the server lists are the same world; and a checker
// that would not see a single dropped event is not believed.
#include "apiconnection.h"
#include "controlplane.h"
#include "informerrig.h"
#include "loadthread.h"

#include <testing/faultproxy.h>

#include <QNetworkAccessManager>
#include <QTest>
#include <optional>

using convergence::Heard;
using convergence::World;
using davit::testing::FaultProxy;

static constexpr int kObjects = 5000;
static constexpr int kWrites = 20000;
static constexpr int kRatePerSecond = 450; // asked for; at least 300 has to come out

// QtTest ends a function after five minutes unless told otherwise; ctest's own limit is what
// counts.
static const bool kIsPatient = qputenv("QTEST_FUNCTION_TIMEOUT", "900000");

class tst_Convergence : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void survivesKillsUnderLoad();
    void checkerSeesOneDroppedEvent_data();
    void checkerSeesOneDroppedEvent();
    void cleanupTestCase();

private:
    void startInformer();
    void churnUntil(int writes);
    void killAndRevive();
    void killBehindOurBack();
    World listed();

    ControlPlane m_controlPlane;
    std::optional<ApiConnection> m_connection;
    std::unique_ptr<davit::testing::FaultProxy> m_proxy;
    std::unique_ptr<LoadThread> m_load;

    std::unique_ptr<InformerRig> m_rig;
    World m_final; // the fresh list at the end
};

void tst_Convergence::initTestCase()
{
    QVERIFY2(m_controlPlane.start(ControlPlane::ControllerManager::No),
        qPrintable(m_controlPlane.errorText()));
    m_connection.emplace(m_controlPlane.folder(), m_controlPlane.apiServerPort());

    m_load = std::make_unique<LoadThread>(new LoadWriter(*m_connection, "default", kObjects));
    m_load->begin(LoadWriter::Work::CreateAll, 0, 2000);
    QTRY_VERIFY_WITH_TIMEOUT(m_load->isOver(), 240000);
    QCOMPARE(m_load->failure(), QString());
    startInformer();
}

void tst_Convergence::startInformer()
{
    m_proxy = std::make_unique<davit::testing::FaultProxy>(
        QStringLiteral("127.0.0.1"), m_controlPlane.apiServerPort());
    QVERIFY(m_proxy->start().isOk());
    m_rig = std::make_unique<InformerRig>(m_controlPlane.folder(), m_proxy->port());
    const davit::Status made
        = m_rig->watch({{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")},
            QStringLiteral("configmaps"), true});
    QVERIFY2(made.isOk(), qPrintable(made.error().message()));
    QTRY_VERIFY_WITH_TIMEOUT(m_rig->recorder().hasSynced(), 60000);
    QVERIFY(m_rig->recorder().stored().size() >= kObjects);
}

World tst_Convergence::listed()
{
    QNetworkAccessManager manager;
    int status = 0;
    bool ok = false;
    const QByteArray json = m_connection->get(manager, "/api/v1/configmaps", &status);
    World world = convergence::worldOfList(json, &ok);
    return status == 200 && ok ? world : World();
}

void tst_Convergence::churnUntil(int writes)
{
    QTRY_VERIFY_WITH_TIMEOUT(
        m_load->writer().writes() >= writes || !m_load->failure().isEmpty(), 240000);
    QCOMPARE(m_load->failure(), QString());
}

void tst_Convergence::killAndRevive()
{
    QVERIFY(m_controlPlane.killApiServer());
    QVERIFY2(m_controlPlane.restartApiServer(), qPrintable(m_controlPlane.errorText()));
}

// Our watch hears nothing while the writer goes on and the server dies and comes back; then the
// connection is reset, and what was held back is lost with it. The new server's history begins
// after the last version that we saw, so it has to answer 410.
void tst_Convergence::killBehindOurBack()
{
    const WitnessTransport &witness = m_rig->witness();
    const int expiredBefore = witness.expired();
    m_proxy->setMode(FaultProxy::Mode::HoldFromServer);
    churnUntil(m_load->writer().writes() + 1500);
    killAndRevive();
    m_proxy->breakConnections(FaultProxy::Break::Reset);
    m_proxy->setMode(FaultProxy::Mode::Pass);
    QTRY_VERIFY2_WITH_TIMEOUT(witness.expired() > expiredBefore,
        "the server never answered 410, so the relist was not tested", 60000);
}

void tst_Convergence::survivesKillsUnderLoad()
{
    m_load->begin(LoadWriter::Work::Churn, kWrites, kRatePerSecond);
    using Step = void (tst_Convergence::*)();
    const std::pair<int, Step> kills[] = {{3000, &tst_Convergence::killAndRevive},
        {8000, &tst_Convergence::killBehindOurBack}, {14000, &tst_Convergence::killAndRevive}};
    for (const auto &[writes, kill] : kills) {
        churnUntil(writes);
        (this->*kill)();
        if (QTest::currentTestFailed())
            return;
        qInfo("killed and back at %d writes, %.0f/s so far", m_load->writer().writes(),
            m_load->writer().ratePerSecond());
    }
    QTRY_VERIFY_WITH_TIMEOUT(m_load->isOver(), 240000);
    QCOMPARE(m_load->failure(), QString());
    qInfo("%d writes at %.0f/s, %d answers lost; %d lists, %d watches, %d times 410; %zu events "
          "heard",
        m_load->writer().writes(), m_load->writer().ratePerSecond(), m_load->writer().lostAnswers(),
        m_rig->witness().lists(), m_rig->witness().watches(), m_rig->witness().expired(),
        m_rig->recorder().heard().size());
    QVERIFY(m_load->writer().writes() >= kWrites);

    m_final = listed();
    QVERIFY(m_final.size() > kObjects / 2);
    // The last events are still under way; nobody writes any more.
    QTRY_COMPARE_WITH_TIMEOUT(
        convergence::differences(m_final, m_rig->recorder().stored()), QStringList(), 60000);
    QStringList faults;
    QTRY_COMPARE_WITH_TIMEOUT(
        convergence::differences(
            m_final, convergence::replay(m_rig->recorder().heard(), &(faults = QStringList()))),
        QStringList(), 60000);
    QCOMPARE(faults, QStringList());
    QVERIFY2(
        m_load->writer().ratePerSecond() >= 300, "the machine is too slow for this test to count");
}

void tst_Convergence::checkerSeesOneDroppedEvent_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("the last added") << int(Heard::Kind::Added);
    QTest::newRow("the last updated") << int(Heard::Kind::Updated);
    QTest::newRow("the last deleted") << int(Heard::Kind::Deleted);
}

void tst_Convergence::checkerSeesOneDroppedEvent()
{
    QFETCH(const int, kind);
    std::vector<Heard> heard = m_rig->recorder().heard();
    QStringList before;
    QVERIFY2(!m_final.isEmpty(), "there is no fresh list to compare with");
    QCOMPARE(convergence::differences(m_final, convergence::replay(heard, &before)), QStringList());
    const auto last = std::find_if(heard.rbegin(), heard.rend(),
        [kind](const Heard &event) { return int(event.kind) == kind; });
    QVERIFY2(last != heard.rend(), "the load had no such event");
    heard.erase(std::next(last).base());
    QStringList faults;
    const World world = convergence::replay(heard, &faults);
    const QStringList found = faults + convergence::differences(m_final, world);
    QVERIFY2(!found.isEmpty(), "one event was dropped and the checker saw nothing");
}

void tst_Convergence::cleanupTestCase()
{
    m_rig.reset();
    m_proxy.reset();
    m_load.reset();
}

QTEST_GUILESS_MAIN(tst_Convergence)
#include "tst_convergence.moc"
