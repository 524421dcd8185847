// Events of core/v1, as classic recorders write them: similar ones combined, equal ones counted up
// by a patch, floods dropped (E-4 to E-10). Test: tst_pluginevents.
#pragma once

#include "eventcorrelator.h"
#include "eventform.h"

namespace davit::client {

class CoreEventForm final : public EventForm
{
public:
    // `component` is who tells: a plugin's Id.
    explicit CoreEventForm(const QString &component);

    const transport::Resource &resource() const override;
    std::vector<EventWrite> told(const ToldEvent &event) override;
    // 10 s, the first one a random part of it (E-5).
    std::chrono::nanoseconds retryDelay(int tries, double random) const override;

private:
    QByteArray object(const ToldEvent &told, const CorrelatedEvent &event) const;

    const QString m_component;
    const QString m_host;
    EventCorrelator m_correlator;
};

} // namespace davit::client
