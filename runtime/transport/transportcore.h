// The part of QnamTransport that lives in the io thread: running exchanges, connections and the
// files that credentials come from. All of it is [io-thread].
#pragma once

#include "qnamexchange.h"
#include "qnamtransport.h"

#include <optional>
#include <unordered_map>

namespace davit::transport {

class TransportCore
{
public:
    // `io` is the executor of the io thread; it outlives this.
    TransportCore(
        const ClusterConfig &config, const TransportOptions &options, support::Executor &io);
    ~TransportCore();
    Q_DISABLE_COPY_MOVE(TransportCore)

    void start(const Request &request, const std::shared_ptr<HandOver> &handOver);
    void resume(HandOver *handOver);
    void abandon(HandOver *handOver);

private:
    bool hasFiles() const;
    void reloadFiles();
    void lookLater();
    void tellReload(const QString &fault);
    void tellCa(const char *reason) const;
    Status use(const ClusterConfig &fresh);
    void endWatches();
    std::unique_ptr<QNetworkAccessManager> makeManager();

    support::Executor &m_io;
    ExchangeContext m_context;
    std::unordered_map<HandOver *, std::unique_ptr<QnamExchange>> m_running;
    std::optional<support::TimeSource::Nanoseconds> m_filesReadAt;
    const std::function<void(const QString &)> m_onReloadFault;
    const std::function<void(const CaReload &)> m_onCaReload;
    support::TimeSource::TimerId m_nextLook = 0;
    int m_failedLooks = 0; // in a row
};

// "https://host:port", with brackets round an IPv6 literal, and the path that all targets follow.
// [thread-safe]
QString serverNameOf(const QUrl &server);

} // namespace davit::transport
