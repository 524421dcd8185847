#include "view.h"

namespace davit::cache {

View::View(const InformerRequest &request, const QString &viewKey, std::shared_ptr<Mailbox> mailbox,
    std::vector<std::shared_ptr<ViewPart>> parts, priv::FaultSink &faults)
    : m_request(request)
    , m_viewKey(viewKey)
    , m_mailbox(std::move(mailbox))
    , m_parts(std::move(parts))
    , m_faults(faults)
    , m_lister(new ViewLister(request.gvk(), viewKey, m_parts, ViewLister::Ownership::Shared))
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

} // namespace davit::cache
