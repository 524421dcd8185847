// What the transport tells of its waits, programs, connections and files, as log lines and as the
// rest_client_* metrics that MeteredTransport cannot know. Source: BEHAVIOURS.md C-5, C-13, C-75.
// Test: tst_transportmetrics.
#pragma once

#include <davit/priv/backends.h>
#include <observability/metricsregistry.h>
#include <transport/qnamtransport.h>

namespace davit::host {

// What waits for the client's own rate limit is measured, and told from 50 ms on (C-5). Borrowed
// things outlive the transport and the last scrape. [host-thread]
transport::TransportOptions transportOptions(const transport::ClusterConfig &cluster,
    support::TimeSource &time, priv::LogBackend &log, observability::MetricsRegistry &metrics);

} // namespace davit::host
