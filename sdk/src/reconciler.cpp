#include <davit/priv/backends.h>
#include <davit/reconciler.h>

DAVIT_BEGIN_NAMESPACE

class ReconcileRequestPrivate : public QSharedData
{
public:
    ObjectKey key;
    QString clusterName;
    int priority = 0;
};

ReconcileRequest::ReconcileRequest(const ObjectKey &key, const QString &clusterName, int priority)
    : d(new ReconcileRequestPrivate)
{
    d->key = key;
    d->clusterName = clusterName;
    d->priority = priority;
}

ReconcileRequest::ReconcileRequest(const ReconcileRequest &other) = default;
ReconcileRequest &ReconcileRequest::operator=(const ReconcileRequest &other) = default;
ReconcileRequest::~ReconcileRequest() = default;

ObjectKey ReconcileRequest::key() const
{
    return d->key;
}

QString ReconcileRequest::clusterName() const
{
    return d->clusterName;
}

int ReconcileRequest::priority() const noexcept
{
    return d->priority;
}

class ReconcileResultPrivate : public QSharedData
{
public:
    ReconcileResult::Kind kind = ReconcileResult::Kind::Done;
    std::chrono::milliseconds delay{0};
    Error error;
    std::optional<int> priority;
};

namespace {

// M-5: what is said to have failed stays failed, also without a reason.
Error reasonOf(const Error &error)
{
    return error.isError()
        ? error
        : Error(ErrorCode::Unknown,
            QStringLiteral(
                "reconcile failed without a reason; give failed() an error that tells it"));
}

} // namespace

ReconcileResult::ReconcileResult() : d(new ReconcileResultPrivate) { }

ReconcileResult ReconcileResult::done()
{
    return {};
}

ReconcileResult ReconcileResult::requeueAfter(std::chrono::milliseconds delay)
{
    ReconcileResult result;
    if (delay.count() > 0) {
        result.d->kind = Kind::RequeueAfter;
        result.d->delay = delay;
    }
    return result;
}

ReconcileResult ReconcileResult::failed(const Error &error)
{
    ReconcileResult result;
    result.d->kind = Kind::Failed;
    result.d->error = reasonOf(error);
    return result;
}

ReconcileResult ReconcileResult::terminal(const Error &error)
{
    ReconcileResult result;
    result.d->kind = Kind::Terminal;
    result.d->error = reasonOf(error);
    return result;
}

ReconcileResult::ReconcileResult(const Status &status)
    : ReconcileResult(status.isOk() ? done() : failed(status.error()))
{ }

ReconcileResult::ReconcileResult(const ReconcileResult &other) = default;
ReconcileResult &ReconcileResult::operator=(const ReconcileResult &other) = default;
ReconcileResult::~ReconcileResult() = default;

ReconcileResult::Kind ReconcileResult::kind() const noexcept
{
    return d->kind;
}

std::chrono::milliseconds ReconcileResult::delay() const noexcept
{
    return d->delay;
}

Error ReconcileResult::error() const
{
    return d->error;
}

ReconcileResult ReconcileResult::withPriority(int priority) const
{
    ReconcileResult copy;
    copy.d.reset(new ReconcileResultPrivate(*d));
    copy.d->priority = priority;
    return copy;
}

bool ReconcileResult::hasPriority() const noexcept
{
    return d->priority.has_value();
}

int ReconcileResult::priority() const noexcept
{
    return d->priority.value_or(0);
}

ReconcileContext::ReconcileContext(priv::ReconcileState &state) : m_state(state) { }

ReconcileContext::~ReconcileContext() = default;

bool ReconcileContext::isStopping() const noexcept
{
    return m_state.isStopping();
}

std::chrono::nanoseconds ReconcileContext::deadline() const noexcept
{
    return m_state.deadline();
}

Logger ReconcileContext::log() const
{
    return m_state.log();
}

QString ReconcileContext::traceId() const
{
    return m_state.traceId();
}

QStringList ReconcileContext::causes() const
{
    return m_state.causes();
}

Client ReconcileContext::client() const
{
    return Client(m_state.client());
}

Reconciler::~Reconciler() = default;

void *Reconciler::extension(const char *)
{
    return nullptr;
}

DAVIT_END_NAMESPACE
