// Events of events.k8s.io/v1: equal ones are a series, as EventSeries decides (E-11 to E-14).
// Test: tst_eventseries, tst_serieseventform.
#pragma once

#include "eventseries.h"

namespace davit::client {

class SeriesEventForm final : public EventForm
{
public:
    // `controller` is who tells: a plugin's Id.
    explicit SeriesEventForm(const QString &controller);

    const transport::Resource &resource() const override;
    std::vector<EventWrite> told(const ToldEvent &event) override;
    // 10 s and up to a quarter more (E-14).
    std::chrono::nanoseconds retryDelay(int tries, double random) const override;

    // As those of EventSeries.
    std::optional<EventWrite> due(std::chrono::nanoseconds monotonic);
    std::optional<std::chrono::nanoseconds> nextDue() const { return m_series.nextDue(); }
    void end() { m_series.end(); }

private:
    EventWrite write(const SeriesWrite &write) const;

    const QString m_controller;
    const QString m_instance;
    EventSeries m_series;
};

} // namespace davit::client
