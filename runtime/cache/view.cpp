#include "view.h"

namespace davit::cache {

using namespace std::chrono_literals;

View::View(const InformerRequest &request, const QString &viewKey, std::shared_ptr<Mailbox> mailbox,
    std::vector<std::shared_ptr<ViewPart>> parts, priv::FaultSink &faults,
    const support::TimeSource &time, const Logger &log, ViewLister::Waits waits)
    : m_request(request)
    , m_viewKey(viewKey)
    , m_mailbox(std::move(mailbox))
    , m_parts(std::move(parts))
    , m_faults(faults)
    , m_lister(new ViewLister(
          request.gvk(), viewKey, m_parts, ViewLister::Ownership::Shared, std::move(waits)))
    , m_time(time)
    , m_log(log)
{
    m_lister->retain();
}

View::~View()
{
    m_mailbox->close();
    for (const std::shared_ptr<ViewPart> &part : m_parts)
        part->close();
    m_lister->release();
}

Status View::addIndex(const QString &name, std::shared_ptr<const IndexFunction> function)
{
    if (name == kNamespaceIndex || m_indexNames.contains(name))
        return Status(ErrorCode::AlreadyExists,
            QStringLiteral("add index %1 to %2: an index of that name is there already")
                .arg(name, toString(m_request.gvk())));
    m_indexNames += name;
    const auto index = std::make_shared<GuardedIndex>(
        m_viewKey + u'/' + name, name, std::move(function), m_faults);
    for (const std::shared_ptr<ViewPart> &part : m_parts)
        part->addIndex(index);
    return Status::ok();
}

std::vector<priv::Notification> View::takeBatch()
{
    std::vector<priv::Notification> batch = m_mailbox->take();
    m_inHand += qsizetype(batch.size());
    m_begunAt = m_time.monotonic();
    return batch;
}

void View::handled(const priv::Notification &n)
{
    m_mailbox->handled(n);
    --m_inHand;
    const auto now = m_time.monotonic();
    const auto took = now - std::exchange(m_begunAt, now);
    if (took > 100ms)
        traceSlow(n, took);
}

// I-20; once a minute.
void View::traceSlow(const priv::Notification &n, std::chrono::nanoseconds took)
{
    const qsizetype waiting = m_mailbox->pending() + m_inHand;
    const auto now = m_time.monotonic();
    if (waiting <= 1024 || (m_slowToldAt && now - *m_slowToldAt < 1min))
        return;
    m_slowToldAt = now;
    m_log.info("a handler is slow, and many notifications wait for it",
        {{"resource", toString(m_request.gvk())}, {"object", toString(n.object.key())},
            {"seconds", double(took.count()) / 1e9}, {"waiting", waiting}});
}

} // namespace davit::cache
