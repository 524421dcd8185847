// The tools of this folder before they are believed: the control plane comes back on its data, the
// writer keeps its books, and the checker sees one dropped event.
#include "apiconnection.h"
#include "controlplane.h"
#include "convergence.h"
#include "loadthread.h"

#include <QJsonDocument>
#include <QNetworkAccessManager>
#include <QTest>

using namespace Qt::StringLiterals;

using convergence::Heard;
using convergence::World;

class tst_Harness : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void replay_data();
    void replay();
    void differences_data();
    void differences();
    void writerSurvivesAKill();
    void restored();
};

static Heard added(const char *key, const char *uid, const char *version)
{
    return {Heard::Kind::Added, QString::fromLatin1(key), {},
        {QString::fromLatin1(uid), QString::fromLatin1(version)}};
}
static Heard updated(const char *key, const char *uid, const char *from, const char *to)
{
    return {Heard::Kind::Updated, QString::fromLatin1(key),
        {QString::fromLatin1(uid), QString::fromLatin1(from)},
        {QString::fromLatin1(uid), QString::fromLatin1(to)}};
}
static Heard deleted(const char *key, const char *uid, const char *version)
{
    return {Heard::Kind::Deleted, QString::fromLatin1(key),
        {QString::fromLatin1(uid), QString::fromLatin1(version)}, {}};
}

void tst_Harness::replay_data()
{
    QTest::addColumn<std::vector<Heard>>("heard");
    QTest::addColumn<QStringList>("faults");
    using H = std::vector<Heard>;
    QTest::newRow("a whole life, twice") << H{added("n/a", "u1", "1"),
        updated("n/a", "u1", "1", "2"), deleted("n/a", "u1", "3"), added("n/a", "u2", "4")}
                                         << QStringList();
    QTest::newRow("equal version after a relist")
        << H{added("n/a", "u1", "5"), updated("n/a", "u1", "5", "5")} << QStringList();
    QTest::newRow("added twice") << H{added("n/a", "u1", "1"), added("n/a", "u1", "2")}
                                 << QStringList{u"n/a was added as u1@2 while u1@1 was there"_s};
    QTest::newRow("updated before added")
        << H{updated("n/a", "u1", "1", "2")}
        << QStringList{u"n/a was updated and had never been added"_s};
    QTest::newRow("an update is missing between")
        << H{added("n/a", "u1", "1"), updated("n/a", "u1", "2", "3")}
        << QStringList{u"n/a was updated from u1@2, but the last that was told is u1@1"_s};
    QTest::newRow("back in time") << H{added("n/a", "u1", "10"), updated("n/a", "u1", "10", "9")}
                                  << QStringList{u"n/a went back from u1@10 to u1@9"_s};
    QTest::newRow("deleted, never added") << H{
        deleted("n/a", "u1", "1")} << QStringList{u"n/a was deleted and had never been added"_s};
    QTest::newRow("another uid is deleted") << H{added("n/a", "u1", "1"),
        deleted("n/a", "u2", "2")} << QStringList{u"n/a was deleted as u2@2, but u1@1 was there"_s};
}

void tst_Harness::replay()
{
    QFETCH(const std::vector<Heard>, heard);
    QStringList faults;
    convergence::replay(heard, &faults);
    QTEST(faults, "faults");
}

void tst_Harness::differences_data()
{
    QTest::addColumn<World>("want");
    QTest::addColumn<World>("got");
    QTest::addColumn<QStringList>("found");
    const World one{{u"n/a"_s, {u"u1"_s, u"1"_s}}};
    const World newer{{u"n/a"_s, {u"u1"_s, u"2"_s}}};
    const World again{{u"n/a"_s, {u"u2"_s, u"1"_s}}};
    QTest::newRow("equal") << one << one << QStringList();
    QTest::newRow("missing") << one << World() << QStringList{u"n/a is missing"_s};
    QTest::newRow("too many") << World() << one << QStringList{u"n/a is there and should not be"_s};
    QTest::newRow("older version") << newer << one << QStringList{u"n/a is u1@1, not u1@2"_s};
    QTest::newRow("another uid") << one << again << QStringList{u"n/a is u2@1, not u1@1"_s};
    const auto listed = [](const char *item) {
        bool ok = false;
        return convergence::worldOfList(QByteArray(R"({"items":[)") + item + "]}", &ok);
    };
    const World told = listed(
        R"({"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"1"},"data":{"x":"1"}})");
    const World mixed = listed(
        R"({"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"1"},"data":{"x":"2"}})");
    QTest::newRow("other content under the same version")
        << told << mixed
        << QStringList{u"n/a is u@1#%1, not u@1#%2"_s.arg(
               QLatin1String(mixed.first().content), QLatin1String(told.first().content))};
    const World dressed = listed(
        R"({"kind":"X","apiVersion":"v1","data":{"x":"1"},"metadata":{"managedFields":[{}],"name":"a","namespace":"n","resourceVersion":"1","uid":"u"}})");
    QTest::newRow("what lists and caches leave out") << told << dressed << QStringList();
}

void tst_Harness::differences()
{
    QFETCH(const World, want);
    QFETCH(const World, got);
    QTEST(convergence::differences(want, got), "found");
}

void tst_Harness::writerSurvivesAKill()
{
    ControlPlane controlPlane;
    QVERIFY2(controlPlane.start(ControlPlane::ControllerManager::No),
        qPrintable(controlPlane.errorText()));
    const ApiConnection connection(controlPlane.folder(), controlPlane.apiServerPort());

    LoadThread load(new LoadWriter(connection, "default", 100));
    const LoadWriter &writer = load.writer();
    load.begin(LoadWriter::Work::CreateAll, 0, 400);
    QTRY_VERIFY_WITH_TIMEOUT(load.isOver(), 60000);
    QCOMPARE(load.failure(), QString());
    QCOMPARE(writer.writes(), 100);

    load.begin(LoadWriter::Work::Churn, 600, 400);
    QTRY_VERIFY_WITH_TIMEOUT(writer.writes() > 200, 60000);
    QVERIFY(controlPlane.killApiServer());
    QTRY_VERIFY_WITH_TIMEOUT(writer.lostAnswers() > 0, 60000);
    QVERIFY2(controlPlane.restartApiServer(), qPrintable(controlPlane.errorText()));
    QTRY_VERIFY_WITH_TIMEOUT(load.isOver(), 60000);
    QCOMPARE(load.failure(), QString());
    QCOMPARE(writer.writes(), 600);
    qInfo("%.0f writes/s", writer.ratePerSecond());

    QNetworkAccessManager manager;
    int status = 0;
    const QByteArray json
        = connection.get(manager, "/api/v1/namespaces/default/configmaps", &status);
    QCOMPARE(status, 200);
    bool ok = false;
    const World world = convergence::worldOfList(json, &ok);
    QVERIFY(ok);
    QVERIFY2(world.size() > 50 && world.size() <= 101, qPrintable(QString::number(world.size())));
}

void tst_Harness::restored()
{
    ControlPlane controlPlane;
    QVERIFY2(controlPlane.start(ControlPlane::ControllerManager::No),
        qPrintable(controlPlane.errorText()));
    const auto create = [&](const char *name) {
        return controlPlane.kubectl(
            {u"create"_s, u"configmap"_s, QString::fromLatin1(name)}, nullptr);
    };
    const auto version = [&] { // of the whole list
        QByteArray output;
        controlPlane.kubectl({u"get"_s, u"--raw"_s, u"/api/v1/configmaps?limit=1"_s}, &output);
        return QJsonDocument::fromJson(output)[u"metadata"][u"resourceVersion"]
            .toString()
            .toLongLong();
    };
    QCOMPARE(create("kept"), 0);
    QVERIFY2(controlPlane.backup(), qPrintable(controlPlane.errorText()));
    for (int i = 0; i < 50; ++i) // more than the server writes on its own when it starts
        QCOMPARE(create(qPrintable(u"lost-%1"_s.arg(i))), 0);
    const qlonglong before = version();
    QVERIFY2(controlPlane.restore(), qPrintable(controlPlane.errorText()));
    const qlonglong after = version();
    QVERIFY2(after > 0 && after < before, qPrintable(u"%1 after %2"_s.arg(after).arg(before)));
    QCOMPARE(create("kept"), 1); // exists
    QCOMPARE(create("lost-0"), 0);
}

QTEST_GUILESS_MAIN(tst_Harness)
#include "tst_harness.moc"
