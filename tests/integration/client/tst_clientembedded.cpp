#include "clientcontract.h"
#include "testing/embeddedapiserver.h"

#include <QTemporaryDir>
#include <QTest>

class tst_ClientEmbedded : public ClientContract
{
    Q_OBJECT
protected:
    QString startServer() override
    {
        const QString path = m_folder.filePath(QStringLiteral("kubeconfig"));
        const bool isUp = m_server.start().isOk() && m_server.writeKubeconfig(path).isOk();
        return isUp ? path : QString();
    }
    bool endsAtOnce() const override { return true; }

private:
    QTemporaryDir m_folder;
    davit::testing::EmbeddedApiServer m_server;
};

QTEST_GUILESS_MAIN(tst_ClientEmbedded)
#include "tst_clientembedded.moc"
