#include <davit/priv/backends.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qcoreevent.h>

namespace davit::priv {

RefCounted::~RefCounted() = default;
FaultSink::~FaultSink() = default;
ClockBackend::~ClockBackend() = default;
LogBackend::~LogBackend() = default;
MetricCell::~MetricCell() = default;
MetricsBackend::~MetricsBackend() = default;
InformerBackend::~InformerBackend() = default;
HostBackend::~HostBackend() = default;
ReconcileState::~ReconcileState() = default;

int wakeUpEventType()
{
    static const int type = QEvent::registerEventType();
    return type;
}

} // namespace davit::priv
