#include "eventsender.h"

#include <QtCore/qrandom.h>
#include <algorithm>

namespace davit::client {
namespace {

constexpr int kMaxTries = 12;
constexpr qsizetype kMaxKnownRefusals = 64;

// True for what a new try may cure: no answer came.
bool isTransportError(const RawReply &reply)
{
    switch (reply.error.code()) {
    case ErrorCode::ConnectionRefused:
    case ErrorCode::ConnectionLost:
    case ErrorCode::OutcomeUnknown:
    case ErrorCode::Timeout:
        return reply.httpStatus == 0;
    default:
        return false;
    }
}

// Nothing to tell anyone about: it is there already, or its namespace goes away.
bool isQuiet(const Error &error)
{
    return error.code() == ErrorCode::AlreadyExists || error.code() == ErrorCode::Canceled
        || error.statusJson().contains("NamespaceTerminating");
}

QString verbOf(const EventWrite &write)
{
    return write.isPatch() ? QStringLiteral("patch") : QStringLiteral("create");
}

} // namespace

EventSender::EventSender(
    const ClientIdentity &identity, RestClient &rest, support::TimeSource &time, const Logger &log)
    : m_identity(identity)
    , m_rest(rest)
    , m_time(time)
    , m_log(log)
    , m_core(identity.pluginId)
    , m_series(identity.pluginId)
{ }

EventSender::~EventSender()
{
    m_time.cancel(m_dueTimer); // their executor need not live longer
    m_time.cancel(m_retryTimer);
}

void EventSender::tell(ToldEvent event)
{
    const std::lock_guard lock(m_mutex);
    if (m_phase != Phase::Open)
        return;
    if (m_queue.size() >= kMaxQueued) {
        countDropped(1);
        return;
    }
    m_queue.push_back(std::move(event));
    if (m_isBusy)
        return;
    m_isBusy = true;
    m_rest.executor().post([self = shared_from_this()] { self->next(); });
}

// Sends the next write, or rests until there is one.
void EventSender::next()
{
    for (;;) {
        ToldEvent told;
        if (!dropIfClosed()) {
            while (m_ready.empty() && takeTold(&told))
                form(told);
            if (m_ready.empty())
                formDue();
        }
        if (!m_ready.empty()) {
            const auto sending = std::move(m_ready.front());
            m_ready.pop_front();
            send(sending);
            return;
        }
        if (rest())
            return;
    }
}

bool EventSender::dropIfClosed()
{
    const std::lock_guard lock(m_mutex);
    if (m_phase != Phase::Closed)
        return false;
    countDropped(m_ready.size()); // what was told and is not sent yet
    m_ready.clear();
    return true;
}

bool EventSender::takeTold(ToldEvent *told)
{
    const std::lock_guard lock(m_mutex);
    if (m_queue.empty())
        return false;
    *told = std::move(m_queue.front());
    m_queue.pop_front();
    return true;
}

void EventSender::form(const ToldEvent &told)
{
    EventForm *const form = told.action.isEmpty() ? static_cast<EventForm *>(&m_core) : &m_series;
    const std::vector<EventWrite> writes = form->told(told);
    for (const EventWrite &write : writes) // before the last one: a series that has to go
        m_ready.push_back(
            std::make_shared<Sending>(Sending{form, write, &write == &writes.back()}));
    const bool isNew = std::any_of(
        writes.begin(), writes.end(), [](const EventWrite &write) { return !write.isPatch(); });
    if (isNew && told.type == QLatin1StringView("Warning"))
        logWarning(told);
}

void EventSender::formDue()
{
    if (const std::optional<EventWrite> write = m_series.due(m_time.monotonic()))
        m_ready.push_back(std::make_shared<Sending>(Sending{&m_series, *write}));
}

// False when there is something to do after all.
bool EventSender::rest()
{
    std::unique_lock lock(m_mutex);
    if (!m_queue.empty())
        return false;
    if (m_phase == Phase::Finishing && !std::exchange(m_isEnding, true)) {
        m_series.end();
        return false;
    }
    m_isBusy = false;
    wakeWhenDue();
    m_time.cancel(std::exchange(m_limitTimer, 0));
    const auto finished = std::exchange(m_finished, nullptr);
    lock.unlock();
    if (finished)
        finished();
    return true;
}

// Under m_mutex.
void EventSender::wakeWhenDue()
{
    m_time.cancel(std::exchange(m_dueTimer, 0));
    const std::optional<std::chrono::nanoseconds> due = m_series.nextDue();
    if (m_phase != Phase::Open || !due)
        return;
    m_dueTimer
        = m_time.callAfter(*due - m_time.monotonic(), m_rest.executor(), [weak = weak_from_this()] {
              if (const auto self = weak.lock())
                  self->wake();
          });
}

void EventSender::wake()
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_isBusy || m_phase != Phase::Open)
            return; // who is busy looks by itself
        m_isBusy = true;
    }
    next();
}

Status EventSender::prepare(const Sending &sending, Call *call) const
{
    const transport::Resource &resource = sending.form->resource();
    const EventWrite &write = sending.write;
    const QString name = write.isPatch() ? write.patched : write.key.name;
    const ObjectKey key{write.key.namespaceName, name};
    const QString verb = verbOf(write);
    call->operation = verb + QStringLiteral(" Event ") + toString(key);
    call->request.userAgent = m_identity.userAgent();
    call->request.permit = m_identity.permit;
    Status status;
    if (write.isPatch()) {
        call->request.method = "PATCH";
        call->request.contentType = "application/strategic-merge-patch+json";
        call->request.body = write.patch;
        status = transport::objectTarget(resource, key, QString(), {}, &call->request.target);
    } else {
        call->request.method = "POST";
        call->request.contentType = "application/json";
        call->request.body = write.object;
        call->request.target = transport::collectionTarget(resource, key.namespaceName);
    }
    if (!status.isOk())
        return status;
    return m_identity.rbac.check(call->operation,
        {verb, resource.gvk.group, resource.plural, QString(), write.isPatch() ? name : QString()});
}

void EventSender::send(const std::shared_ptr<Sending> &sending)
{
    Call call;
    if (const Status status = prepare(*sending, &call); !status.isOk()) {
        logRefusal(status.error());
        m_rest.executor().post([self = shared_from_this()] { self->next(); });
        return;
    }
    ++sending->tries;
    m_rest.send(call, [self = shared_from_this(), sending](const RawReply &reply) {
        self->answered(sending, reply);
    });
}

void EventSender::answered(const std::shared_ptr<Sending> &sending, const RawReply &reply)
{
    if (m_identity.observer)
        m_identity.observer->called(m_identity.pluginId, verbOf(sending->write), reply.httpStatus);
    if (sending->write.isPatch() && reply.error.code() == ErrorCode::NotFound) {
        sending->write.patch.clear(); // it expired: made anew (E-6)
        sending->tries = 0;
        send(sending);
        return;
    }
    const bool triesLeft = sending->tries < kMaxTries;
    if (isTransportError(reply) && triesLeft) {
        const std::chrono::nanoseconds delay = sending->form->retryDelay(
            sending->tries, QRandomGenerator::global()->generateDouble());
        const std::lock_guard lock(m_mutex);
        m_tryingAgain = sending;
        const auto again = [weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->retry();
        };
        if (m_phase == Phase::Closed)
            m_rest.executor().post(again);
        else
            m_retryTimer = m_time.callAfter(delay, m_rest.executor(), again);
        return;
    }
    if (reply.error.isError() && !isQuiet(reply.error))
        logRefusal(reply.error);
    next();
}

// Under m_mutex. The first loss is told, the metric counts all.
void EventSender::countDropped(quint64 events)
{
    if (events == 0)
        return;
    if (m_dropped == 0)
        m_log.warning("events are dropped: more come than can be written, or the end came first; "
                      "this is told once",
            {{"plugin", m_identity.pluginId}, {"waitingEvents", qulonglong(m_queue.size())}});
    m_dropped += events;
    if (m_identity.observer)
        m_identity.observer->eventsDropped(m_identity.pluginId, events);
}

void EventSender::logWarning(const ToldEvent &told) const
{
    const auto text = [&told](const char *name) {
        return told.regarding.value(QLatin1StringView(name)).toString();
    };
    m_log.warning("warning event",
        {{"plugin", m_identity.pluginId}, {"kind", text("kind")},
            {"object", toString(ObjectKey{text("namespace"), text("name")})},
            {"reason", told.reason}, {"note", told.note}});
}

void EventSender::logRefusal(const Error &error)
{
    const QString kind = QLatin1StringView(errorCodeName(error.code())) + error.reason();
    if (m_refusals.contains(kind) || m_refusals.size() >= kMaxKnownRefusals)
        return;
    m_refusals.insert(kind);
    m_log.error("an event was not written; this is told once",
        {{"plugin", m_identity.pluginId}, {"error", error.message()}});
}

void EventSender::retry()
{
    std::shared_ptr<Sending> sending;
    bool isClosed = false;
    {
        const std::lock_guard lock(m_mutex);
        m_retryTimer = 0;
        sending = std::exchange(m_tryingAgain, nullptr);
        if (!sending)
            return; // close() was faster than the timer
        isClosed = m_phase == Phase::Closed;
        countDropped(isClosed && sending->isTold ? 1 : 0);
    }
    if (isClosed)
        next();
    else
        send(sending);
}

void EventSender::finish(std::chrono::nanoseconds limit, std::function<void()> done)
{
    const std::lock_guard lock(m_mutex);
    const bool hasSeries = m_dueTimer != 0;
    m_time.cancel(std::exchange(m_dueTimer, 0));
    if (m_phase != Phase::Open || (!m_isBusy && !hasSeries)) {
        m_phase = Phase::Closed;
        m_rest.executor().post(std::move(done));
        return;
    }
    if (!std::exchange(m_isBusy, true))
        m_rest.executor().post([self = shared_from_this()] { self->next(); });
    m_phase = Phase::Finishing;
    m_finished = std::move(done);
    m_limitTimer = m_time.callAfter(
        limit, m_rest.executor(), [self = shared_from_this()] { self->close(); });
}

void EventSender::close()
{
    const std::lock_guard lock(m_mutex);
    m_phase = Phase::Closed;
    countDropped(m_queue.size());
    m_queue.clear();
    m_time.cancel(std::exchange(m_limitTimer, 0));
    m_time.cancel(std::exchange(m_dueTimer, 0));
    if (m_tryingAgain) {
        m_time.cancel(std::exchange(m_retryTimer, 0));
        m_rest.executor().post([self = shared_from_this()] { self->retry(); });
    }
    if (m_finished)
        m_rest.executor().post(std::exchange(m_finished, nullptr));
}

quint64 EventSender::droppedEvents() const
{
    const std::lock_guard lock(m_mutex);
    return m_dropped;
}

} // namespace davit::client
