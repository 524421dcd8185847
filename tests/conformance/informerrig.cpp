#include "informerrig.h"

#include <support/timesource.h>
#include <transport/qnamtransport.h>

#include <QtCore/qfile.h>

static QByteArray readAll(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

namespace {

// Gives up sooner than the informers do.
class ImpatientTransport final : public davit::transport::Transport
{
public:
    ImpatientTransport(davit::transport::Transport &real, std::chrono::milliseconds patience)
        : m_real(real), m_patience(patience)
    { }

    std::unique_ptr<davit::transport::Exchange> start(const davit::transport::Request &request,
        davit::support::Executor &executor, davit::transport::ResponseSink &sink) override
    {
        davit::transport::Request hasty = request;
        hasty.headDeadline = hasty.silenceLimit = m_patience;
        return m_real.start(hasty, executor, sink);
    }
    QString serverName() const override { return m_real.serverName(); }

private:
    davit::transport::Transport &m_real;
    const std::chrono::milliseconds m_patience;
};

} // namespace

davit::transport::ClusterConfig InformerRig::configOf(const QString &folder, quint16 port)
{
    davit::transport::ClusterConfig config;
    config.source = QStringLiteral("tests/conformance");
    config.server = QUrl(QStringLiteral("https://127.0.0.1:%1").arg(port));
    config.caPem = readAll(folder + QStringLiteral("/ca.crt"));
    config.clientCertificatePem = readAll(folder + QStringLiteral("/admin.crt"));
    config.clientKeyPem = readAll(folder + QStringLiteral("/admin.key"));
    return config;
}

InformerRig::InformerRig(const QString &folder, quint16 port) : InformerRig(configOf(folder, port))
{ }

InformerRig::InformerRig(const davit::transport::ClusterConfig &config, const RigOptions &options)
    : m_transport(davit::transport::makeTransport(config))
{
    if (options.patience.count() > 0)
        m_impatient = std::make_unique<ImpatientTransport>(*m_transport, options.patience);
    m_witness = std::make_unique<WitnessTransport>(m_impatient ? *m_impatient : *m_transport);
    m_factory = std::make_unique<davit::cache::SharedInformerFactory>(
        *m_witness, m_pool, davit::support::systemTimeSource(), options.factory);
}

InformerRig::~InformerRig()
{
    m_recorders.clear();
    m_factory->shutdown();
}

davit::Status InformerRig::watch(const davit::transport::Resource &resource)
{
    return watch(resource, davit::InformerRequest(resource.gvk));
}

davit::Status InformerRig::watch(
    const davit::transport::Resource &resource, davit::InformerRequest request)
{
    request.delivery(davit::Delivery::EveryEvent);
    std::unique_ptr<davit::priv::InformerBackend> backend;
    const davit::Status made = m_factory->makeInformer(resource, request, m_noFaults, &backend);
    if (made.isOk()) {
        m_recorders.push_back(std::make_unique<Recorder>(std::move(backend)));
        m_factory->start();
    }
    return made;
}
