#include "clientcontract.h"
#include "controlplane.h"

#include <QTest>

class tst_ClientReal : public ClientContract
{
    Q_OBJECT
protected:
    QString startServer() override
    {
        if (m_server.start(ControlPlane::ControllerManager::No))
            return m_server.kubeconfigPath();
        qWarning("%s", qPrintable(m_server.errorText()));
        return QString();
    }

private:
    ControlPlane m_server;
};

QTEST_GUILESS_MAIN(tst_ClientReal)
#include "tst_clientreal.moc"
