#include "restclient.h"

#include <codec/statusdecoder.h>

#include <unordered_map>

namespace davit::client {
namespace {

constexpr qsizetype kMaxErrorBodyBytes = 1 << 20;

bool isSuccess(int httpStatus)
{
    return httpStatus >= 200 && httpStatus <= 206; // C-14
}

Error deadlinePassed(const Call &call)
{
    const qint64 ms = call.timeout.count();
    const QString time
        = ms % 1000 == 0 ? QStringLiteral("%1 s").arg(ms / 1000) : QStringLiteral("%1 ms").arg(ms);
    if (call.request.method == "GET")
        return Error(ErrorCode::Timeout,
            QStringLiteral("%1: no answer within %2").arg(call.operation, time));
    return Error(ErrorCode::OutcomeUnknown,
        QStringLiteral("%1: no answer within %2; it may have been done, read the object before you "
                       "try again")
            .arg(call.operation, time));
}

Error clientStopped(const Call &call)
{
    return Error(ErrorCode::Canceled, call.operation + QStringLiteral(": the client was stopped"));
}

Error callerEndedIt(const Call &call)
{
    return Error(
        ErrorCode::Canceled, call.operation + QStringLiteral(": the caller ended the request"));
}

} // namespace

// Lives as long as a work or the client refers to it; everything in it runs on the executor.
class RestClient::Core : public std::enable_shared_from_this<Core>
{
public:
    Core(transport::Transport &transport, support::Executor &executor, support::TimeSource &time,
        std::shared_ptr<transport::ServerWarnings> warnings)
        : m_transport(transport)
        , m_executor(executor)
        , m_time(time)
        , m_warnings(std::move(warnings))
    { }
    ~Core();
    Q_DISABLE_COPY_MOVE(Core)

    void start(CallId id, Call call, Done done);
    void end(CallId id, RawReply reply);
    void cancel(CallId id);
    void endAll();
    void lookForCanceled();
    transport::ServerWarnings *warnings() const { return m_warnings.get(); }

private:
    class Running;
    void endCanceled();

    transport::Transport &m_transport;
    support::Executor &m_executor;
    support::TimeSource &m_time;
    const std::shared_ptr<transport::ServerWarnings> m_warnings; // may be null
    std::unordered_map<CallId, std::shared_ptr<Running>> m_running;
    support::TimeSource::TimerId m_look = 0; // the next one for canceled calls; 0: none
    bool m_isClosed = false;
};

class RestClient::Core::Running final : public transport::ResponseSink
{
public:
    Running(Core &core, CallId id, Call call, Done done)
        : m_core(core), m_id(id), call(std::move(call)), done(std::move(done))
    { }

    void onHead(const transport::ResponseHead &head) override
    {
        m_head = head;
        if (transport::ServerWarnings *const warnings = m_core.warnings())
            warnings->tell(head.warnings);
    }

    void onBytes(const QByteArray &bytes) override
    {
        if (isSuccess(m_head.httpStatus) && call.onBody) {
            call.onBody(bytes);
            return;
        }
        const qsizetype limit = isSuccess(m_head.httpStatus) ? kMaxBodyBytes : kMaxErrorBodyBytes;
        if (m_body.size() + bytes.size() > limit)
            m_isTooLarge = true;
        else
            m_body += bytes;
    }

    void onFinished(const Error &error) override { m_core.end(m_id, reply(error)); }

private:
    RawReply reply(const Error &error) const
    {
        RawReply reply;
        reply.httpStatus = m_head.httpStatus;
        if (error.isError()) {
            reply.error = error.withContext(call.operation);
        } else if (!isSuccess(m_head.httpStatus)) {
            reply.error = codec::errorFromReply(call.operation, call.request.method,
                m_head.httpStatus, m_body, m_head.retryAfter, call.request.target);
        } else if (m_isTooLarge) {
            reply.error = Error(ErrorCode::MalformedReply,
                QStringLiteral("%1: the answer is longer than %2 MiB")
                    .arg(call.operation)
                    .arg(kMaxBodyBytes >> 20));
        } else {
            reply.body = m_body;
        }
        return reply;
    }

    Core &m_core;
    const CallId m_id;
    transport::ResponseHead m_head;
    QByteArray m_body;
    bool m_isTooLarge = false;

public:
    const Call call;
    const Done done;
    std::unique_ptr<transport::Exchange> exchange;
    support::TimeSource::TimerId timer = 0;
};

// An executor that was stopped has dropped endAll(), and dies after this: no timer may be left.
RestClient::Core::~Core()
{
    m_time.cancel(m_look);
    for (const auto &[id, running] : m_running)
        m_time.cancel(running->timer);
}

void RestClient::Core::start(CallId id, Call call, Done done)
{
    if (m_isClosed || (call.isCanceled && call.isCanceled())) {
        RawReply reply;
        reply.error = m_isClosed ? clientStopped(call) : callerEndedIt(call);
        done(reply);
        return;
    }
    // The transport needs to know how long it may try again.
    if (call.request.totalDeadline == std::chrono::milliseconds::zero())
        call.request.totalDeadline = call.timeout;
    const auto running = std::make_shared<Running>(*this, id, std::move(call), std::move(done));
    m_running.emplace(id, running);
    running->timer = m_time.callAfter(running->call.timeout, m_executor,
        [weak = weak_from_this(), id, error = deadlinePassed(running->call)] {
            RawReply reply;
            reply.error = error;
            if (const auto core = weak.lock())
                core->end(id, reply);
        });
    running->exchange = m_transport.start(running->call.request, m_executor, *running);
    if (running->call.isCanceled)
        lookForCanceled();
}

// A QFuture tells of its end by events alone, and nobody here has an event loop. One timer for all
// calls, only while there are some.
void RestClient::Core::lookForCanceled()
{
    if (m_look != 0)
        return;
    m_look = m_time.callAfter(kCancelLook, m_executor, [weak = weak_from_this()] {
        if (const auto core = weak.lock())
            core->endCanceled();
    });
}

void RestClient::Core::endCanceled()
{
    m_look = 0;
    std::vector<CallId> canceled;
    bool isLookingOn = false;
    for (const auto &[id, running] : m_running) {
        if (!running->call.isCanceled)
            continue;
        if (running->call.isCanceled())
            canceled.push_back(id);
        else
            isLookingOn = true;
    }
    for (const CallId id : canceled)
        cancel(id);
    if (isLookingOn)
        lookForCanceled();
}

void RestClient::Core::end(CallId id, RawReply reply)
{
    const auto found = m_running.find(id);
    if (found == m_running.end())
        return;
    const std::shared_ptr<Running> running = std::move(found->second);
    m_running.erase(found);
    m_time.cancel(running->timer);
    running->done(reply);
    // We may be inside the exchange's own call: it dies in a later work.
    m_executor.post([self = shared_from_this(), running] { running->exchange.reset(); });
}

void RestClient::Core::cancel(CallId id)
{
    const auto found = m_running.find(id);
    if (found == m_running.end())
        return;
    RawReply reply;
    reply.error = callerEndedIt(found->second->call);
    end(id, reply);
}

void RestClient::Core::endAll()
{
    m_isClosed = true;
    m_time.cancel(m_look);
    while (!m_running.empty()) {
        const auto first = m_running.begin();
        RawReply reply;
        reply.error = clientStopped(first->second->call);
        end(first->first, reply);
    }
}

RestClient::RestClient(transport::Transport &transport, support::Executor &executor,
    support::TimeSource &time, std::shared_ptr<transport::ServerWarnings> warnings)
    : m_transport(transport)
    , m_executor(executor)
    , m_core(std::make_shared<Core>(transport, executor, time, std::move(warnings)))
{ }

RestClient::~RestClient()
{
    close();
}

RestClient::CallId RestClient::send(Call call, Done done)
{
    const CallId id = ++m_lastId;
    // So that the transport passes a refusal on instead of waiting beyond the end of the call.
    if (call.request.totalDeadline.count() == 0)
        call.request.totalDeadline = call.timeout;
    m_executor.post([core = m_core, id, call = std::move(call), done = std::move(done)]() mutable {
        core->start(id, std::move(call), std::move(done));
    });
    return id;
}

void RestClient::cancel(CallId id)
{
    m_executor.post([core = m_core, id] { core->cancel(id); });
}

void RestClient::close()
{
    m_executor.post([core = m_core] { core->endAll(); });
}

} // namespace davit::client
