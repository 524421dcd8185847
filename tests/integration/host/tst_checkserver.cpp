// "davit check" with servers that begin to answer and do not come to an end.
#include "../transport/tlsfixture.h"
#include "troubledserver.h"

#include <QTest>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

class tst_CheckServer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void trickles_data();
    void trickles();
};

void tst_CheckServer::trickles_data()
{
    QTest::addColumn<QByteArray>("path"); // its end
    QTest::addColumn<QString>("topic");
    QTest::addColumn<QString>("text"); // SERVER stands for its address
    QTest::newRow("the version") << "/version"_ba << u"server"_s
                                 << u"FAIL: GET SERVER/version: no whole answer within 10 s; it "
                                    "began to answer: look at its load, and at what stands before "
                                    "it"_s;
    QTest::newRow("who we are") << "selfsubjectreviews"_ba << u"identity"_s
                                << u"FAIL: the server does not tell who we are: POST "
                                   "SERVER/apis/authentication.k8s.io/v1/selfsubjectreviews: no "
                                   "whole answer within 10 s; it began to answer: look at its "
                                   "load, and at what stands before it"_s;
    QTest::newRow("the kinds") << "/api/v1"_ba << u"kinds"_s
                               << u"FAIL: the server does not say what it serves: GET "
                                  "SERVER/api/v1: no whole answer within 10 s; look at its load, "
                                  "and at what stands before it"_s;
}

void tst_CheckServer::trickles()
{
    QFETCH(const QByteArray, path);
    QFETCH(const QString, topic);
    QFETCH(QString, text);
    Trouble trouble;
    trouble.cut = path;
    RawServer server([&](RawConnection &connection) { play(trouble, connection); }, serverTls());
    const QByteArray url = "https://127.0.0.1:" + QByteArray::number(server.port());
    const QTemporaryDir dir;
    const Outcome outcome = davitWith({u"check"_s, u"--plugin-dir"_s,
        QStringLiteral(DAVIT_BUILD_DIR "/plugins/replicator.so"), u"--kubeconfig"_s,
        writeKubeconfig(
            dir, url, "token: t", QStringLiteral(DAVIT_TEST_DATA "/cases/common-ca.pem"))});
    QCOMPARE(outcome.exitCode, 3);
    QCOMPARE(finding(outcome, topic), text.replace(u"SERVER"_s, QString::fromLatin1(url)));
}

QTEST_GUILESS_MAIN(tst_CheckServer)
#include "tst_checkserver.moc"
