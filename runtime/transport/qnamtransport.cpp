#include "qnamtransport.h"

#include "backofftransport.h"
#include "iothread.h"
#include "ratelimitedtransport.h"
#include "retryingtransport.h"
#include "transportcore.h"

#include <utility>

namespace davit::transport {
namespace {

class QnamExchangeHandle final : public Exchange
{
public:
    QnamExchangeHandle(
        std::shared_ptr<IoThread> io, TransportCore &core, std::shared_ptr<HandOver> handOver)
        : m_io(std::move(io)), m_core(core), m_handOver(std::move(handOver))
    { }
    // The core is there as long as the io thread takes works.
    ~QnamExchangeHandle() override
    {
        m_handOver->close();
        m_io->post([&core = m_core, handOver = m_handOver] { core.abandon(handOver.get()); });
    }

private:
    const std::shared_ptr<IoThread> m_io;
    TransportCore &m_core;
    const std::shared_ptr<HandOver> m_handOver;
};

} // namespace

QnamTransport::QnamTransport(const ClusterConfig &config, const TransportOptions &options)
    : m_serverName(serverNameOf(config.server))
    , m_io(std::make_shared<IoThread>())
    , m_core(std::make_unique<TransportCore>(config, options, *m_io))
{ }

QnamTransport::~QnamTransport()
{
    m_io->stop([this] { m_core.reset(); });
}

std::unique_ptr<Exchange> QnamTransport::start(
    const Request &request, support::Executor &executor, ResponseSink &sink)
{
    const auto handOver
        = std::make_shared<HandOver>(executor, sink, [io = m_io, &core = *m_core](HandOver *self) {
              io->post([&core, self] { core.resume(self); });
          });
    m_io->post([&core = *m_core, request, handOver] { core.start(request, handOver); });
    return std::make_unique<QnamExchangeHandle>(m_io, *m_core, handOver);
}

std::unique_ptr<Transport> makeQnamTransport(
    const ClusterConfig &config, const TransportOptions &options)
{
    return std::make_unique<QnamTransport>(config, options);
}

std::unique_ptr<Transport> makeTransport(
    const ClusterConfig &config, const TransportOptions &options)
{
    support::TimeSource &time = options.time ? *options.time : support::systemTimeSource();
    std::unique_ptr<Transport> transport = makeQnamTransport(config, options);
    if (config.backoff) // inside the limit, whose own refusals are no fault of the server
        transport = std::make_unique<BackoffTransport>(
            std::move(transport), time, *config.backoff, options.onBackoff);
    if (config.requestsPerSecond > 0)
        transport = std::make_unique<RateLimitedTransport>(std::move(transport), time,
            RateLimit{config.requestsPerSecond, config.burst, options.onWait});
    return std::make_unique<RetryingTransport>(std::move(transport), time);
}

} // namespace davit::transport
