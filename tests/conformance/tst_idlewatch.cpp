// A watch without events is held for five minutes and not opened again. Too long for CI.
#include "controlplane.h"
#include "informerrig.h"

#include <QTest>

using namespace std::chrono_literals;

// QtTest ends a function after five minutes unless told otherwise; ctest's own limit is what
// counts.
static const bool kIsPatient = qputenv("QTEST_FUNCTION_TIMEOUT", "900000");

class tst_IdleWatch : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fiveMinutes();
};

void tst_IdleWatch::fiveMinutes()
{
    ControlPlane controlPlane;
    QVERIFY2(controlPlane.start(ControlPlane::ControllerManager::No),
        qPrintable(controlPlane.errorText()));
    const auto create = [&](const QString &name) {
        QByteArray output;
        return controlPlane.kubectl(
            {QStringLiteral("create"), QStringLiteral("secret"), QStringLiteral("generic"), name},
            &output);
    };
    RigOptions options;
    // One in a hundred asks the server to end it within these five minutes.
    options.factory.tweak = [](const davit::Gvk &, davit::transport::ListOptions *asked) {
        if (asked->timeoutSeconds)
            asked->timeoutSeconds = 600;
    };
    InformerRig rig(
        InformerRig::configOf(controlPlane.folder(), controlPlane.apiServerPort()), options);
    const davit::Status made = rig.watch(
        {{{}, QStringLiteral("v1"), QStringLiteral("Secret")}, QStringLiteral("secrets"), true});
    QVERIFY2(made.isOk(), qPrintable(made.error().message()));
    QTRY_VERIFY_WITH_TIMEOUT(rig.recorder().hasSynced(), 60000);
    // After a streaming list its watch goes on; after a LIST one is opened: either way one.
    QTRY_COMPARE_WITH_TIMEOUT(rig.witness().watches(), 1, 10000);
    // A server sends no bookmarks of a kind before its own watch of etcd has heard of one: until
    // then an idle watch is silent, and opened again after 90 s.
    auto heard = rig.recorder().heard().size();
    QCOMPARE(create(QStringLiteral("early")), 0);
    QTRY_COMPARE_WITH_TIMEOUT(rig.recorder().heard().size(), heard + 1, 10000);
    QTest::qWait(std::chrono::milliseconds(5min).count());
    const davit::cache::ReflectorState state = rig.states().at(0).reflector;
    QVERIFY2(rig.witness().watches() == 1,
        qPrintable(QStringLiteral("%1 watches, %2 failed rounds, %3")
                       .arg(rig.witness().watches())
                       .arg(state.failedRounds)
                       .arg(state.lastError.message())));
    QCOMPARE(rig.witness().expired(), 0);

    // It has been alive all the time: an event still arrives.
    heard = rig.recorder().heard().size();
    QCOMPARE(create(QStringLiteral("late")), 0);
    QTRY_COMPARE_WITH_TIMEOUT(rig.recorder().heard().size(), heard + 1, 10000);
    QCOMPARE(rig.witness().watches(), 1);
}

QTEST_GUILESS_MAIN(tst_IdleWatch)
#include "tst_idlewatch.moc"
