// The process_* family that Prometheus' client libraries share: CPU, memory, descriptors, threads,
// start time. Source: Prometheus "Process metrics"; proc(5). Test: tst_metricsregistry, process.
#pragma once

namespace davit::observability {

class MetricsSink;

// Reads /proc/self; what cannot be read is left out. [thread-safe]
void collectProcessMetrics(MetricsSink &sink);

} // namespace davit::observability
