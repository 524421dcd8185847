// "davit check" with the flags of "davit run" that say which Lease: what its holder needs beside
// the rights of the plugins.
#include "../transport/tlsfixture.h"
#include "troubledserver.h"

#include <testing/embeddedapiserver.h>

#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

class tst_CheckElection : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void election_data();
    void election();
    void missingNamespace();
};

void tst_CheckElection::election_data()
{
    QTest::addColumn<Trouble>("trouble");
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("text"); // its beginning
    const QStringList elected{u"--leader-elect"_s, u"--leader-elect-resource-namespace=ops"_s};
    const auto denied = [](const char *word) {
        Trouble trouble;
        trouble.denied = word;
        return trouble;
    };
    Trouble silent;
    silent.rightStatus = 403;
    QTest::newRow("nobody is elected")
        << denied("leases") << QStringList(elected[1]) << 0 << QString();
    QTest::newRow("all of them") << Trouble() << elected << 0 << u"ok: has all of its 5 rights"_s;
    QTest::newRow("nothing about leases")
        << denied("leases") << elected << 5
        << u"FAIL: may not get, update leases of coordination.k8s.io named davit in namespace ops; "
           "grant it (kubectl create role -n ops NAME --verb=get,update "
           "--resource=leases.coordination.k8s.io --resource-name=davit, then bind that to bob)\n"
           "FAIL: may not create leases of coordination.k8s.io in namespace ops; grant it (kubectl "
           "create role -n ops NAME --verb=create --resource=leases.coordination.k8s.io, then bind "
           "that to bob)"_s;
    QTest::newRow("not this one")
        << denied("other") << elected + QStringList{u"--leader-elect-resource-name=other"_s} << 5
        << u"FAIL: may not get, update leases of coordination.k8s.io named other in "_s;
    QTest::newRow("no update")
        << denied("update") << elected << 5
        << u"FAIL: may not update leases of coordination.k8s.io named davit in namespace ops; "_s;
    QTest::newRow("no Events about it")
        << denied("events") << elected << 5
        << u"FAIL: may not create, patch events in namespace ops; grant it (kubectl create role -n "
           "ops NAME --verb=create,patch --resource=events, then bind that to bob)"_s;
    QTest::newRow("it may not ask")
        << silent << elected << 5 << u"FAIL: the server does not say what this user may do: 403"_s;
    Trouble deleted;
    deleted.leaseStatus = 403;
    deleted.lease = R"({"details":{"causes":[{"reason":"NamespaceTerminating"}]}})";
    QTest::newRow("the namespace is being deleted")
        << deleted << elected << 2
        << u"ok: has all of its 5 rights\nFAIL: the namespace ops of the Lease is being deleted, "
           u"so "
           "no process can lead; create it anew when it is gone, or name another with "
           "--leader-elect-resource-namespace"_s;
    Trouble refusing;
    refusing.leaseStatus = 403;
    refusing.lease = "no";
    QTest::newRow("a try is refused: the rights tell")
        << refusing << elected << 0 << u"ok: has all of its 5 rights"_s;
    QTest::newRow("no namespace") << Trouble() << elected.first(1) << 2
                                  << u"FAIL: --leader-elect: kubeconfig "_s;
    QTest::newRow("no name for a Lease")
        << Trouble() << elected + QStringList{u"--leader-elect-resource-name=A/b"_s} << 2
        << u"FAIL: "_s;
}

void tst_CheckElection::election()
{
    QFETCH(const Trouble, trouble);
    QFETCH(const QStringList, flags);
    QFETCH(const int, exitCode);
    QFETCH(const QString, text);
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    const QTemporaryDir dir;
    const QTemporaryDir plugins; // there are none
    const QString path
        = writeKubeconfig(dir, "https://127.0.0.1:" + QByteArray::number(server.port()), "token: t",
            QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"));
    const Outcome outcome = davitWith(
        QStringList{u"check"_s, u"--kubeconfig"_s, path, u"--plugin-dir"_s, plugins.path()}
        + flags);
    QVERIFY2(outcome.exitCode == exitCode, qPrintable(outcome.out + outcome.errors));
    const QString found = finding(outcome, u"election"_s);
    QVERIFY2(found.startsWith(text) && found.isEmpty() == text.isEmpty(), qPrintable(outcome.out));
}

void tst_CheckElection::missingNamespace()
{
    testing::EmbeddedApiServer server;
    QVERIFY(server.start().isOk());
    const QTemporaryDir dir;
    const QString path = dir.filePath(u"kubeconfig"_s);
    QVERIFY(server.writeKubeconfig(path).isOk());
    QStringList arguments{u"check"_s, u"--kubeconfig"_s, path, u"--leader-elect"_s};
    const Outcome there
        = davitWith(arguments + QStringList{u"--leader-elect-resource-namespace=default"_s});
    QVERIFY2(there.exitCode == 0, qPrintable(there.out));
    const Outcome missing
        = davitWith(arguments + QStringList{u"--leader-elect-resource-namespace=ops"_s});
    QVERIFY2(missing.exitCode == 2, qPrintable(missing.out));
    QCOMPARE(finding(missing, u"election"_s),
        u"ok: has all of its 5 rights\nFAIL: the namespace ops of the Lease does not exist, so no "
        "process can lead; create it (kubectl create namespace ops), or name another with "
        "--leader-elect-resource-namespace"_s);
    const QByteArray leases = server.request("GET", "/apis/coordination.k8s.io/v1/leases").body;
    QVERIFY2(leases.contains("\"items\":[]"), leases.constData()); // it was a try
}

QTEST_GUILESS_MAIN(tst_CheckElection)
#include "tst_checkelection.moc"
