// What the host serves: /healthz, /readyz and their sub-paths, and /metrics.
// Source: controller-runtime's endpoints (M-17 to M-22); Prometheus text format 0.0.4.
// Test: tst_probes.
#pragma once

namespace davit::observability {
class MetricsRegistry;
class ProbeChecks;
} // namespace davit::observability

namespace davit::web {

class WebServer;

// Both are borrowed, frozen, and outlive the server. [host-thread]
void addProbes(WebServer &server, const observability::ProbeChecks &healthz,
    const observability::ProbeChecks &readyz);
void addMetrics(WebServer &server, const observability::MetricsRegistry &registry);

} // namespace davit::web
