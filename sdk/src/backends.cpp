#include <davit/priv/backends.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qcoreevent.h>
#include <QtCore/qpromise.h>
#include <thread>

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

void ClockBackend::sleepFor(std::chrono::nanoseconds span) const
{
    std::this_thread::sleep_for(span);
}

Status ListerBackend::waitFor(const Consistency &) const
{
    return Status(ErrorCode::Unsupported,
        QStringLiteral("wait for the cache of %1: this lister cannot do it").arg(toString(gvk())));
}

QFuture<BodyReply> ClientBackend::getRaw(const QByteArray &, const RequestOptions &)
{
    QPromise<BodyReply> promise;
    promise.start();
    promise.addResult(BodyReply(
        Error(ErrorCode::Unsupported, QStringLiteral("get of a path: this client cannot do it"))));
    promise.finish();
    return promise.future();
}

int wakeUpEventType()
{
    static const int type = QEvent::registerEventType();
    return type;
}

} // namespace davit::priv
