#include "informerrig.h"

#include <support/timesource.h>
#include <transport/qnamtransport.h>

#include <QtCore/qfile.h>

static QByteArray readAll(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

InformerRig::InformerRig(const QString &folder, quint16 port)
{
    davit::transport::ClusterConfig config;
    config.source = QStringLiteral("tests/conformance");
    config.server = QUrl(QStringLiteral("https://127.0.0.1:%1").arg(port));
    config.caPem = readAll(folder + QStringLiteral("/ca.crt"));
    config.clientCertificatePem = readAll(folder + QStringLiteral("/admin.crt"));
    config.clientKeyPem = readAll(folder + QStringLiteral("/admin.key"));
    m_transport = davit::transport::makeQnamTransport(config);
    m_witness = std::make_unique<WitnessTransport>(*m_transport);
    m_factory = std::make_unique<davit::cache::SharedInformerFactory>(
        *m_witness, m_pool, davit::support::systemTimeSource());
}

InformerRig::~InformerRig()
{
    m_recorder.reset();
    m_factory->shutdown();
}

davit::Status InformerRig::watch(const davit::transport::Resource &resource)
{
    davit::InformerRequest request(resource.gvk);
    request.delivery(davit::Delivery::EveryEvent);
    std::unique_ptr<davit::priv::InformerBackend> backend;
    const davit::Status made = m_factory->makeInformer(resource, request, m_noFaults, &backend);
    if (made.isOk()) {
        m_recorder = std::make_unique<Recorder>(std::move(backend));
        m_factory->start();
    }
    return made;
}
