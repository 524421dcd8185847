#include <davit/eventrecorder.h>
#include <davit/priv/backends.h>

DAVIT_BEGIN_NAMESPACE

EventRecorder::EventRecorder() : d(nullptr) { }

EventRecorder::EventRecorder(priv::EventBackend &backend) : d(priv::retained(&backend)) { }

EventRecorder::EventRecorder(const EventRecorder &other) : d(priv::retained(other.d)) { }

EventRecorder &EventRecorder::operator=(const EventRecorder &other)
{
    priv::holdInstead(d, other.d);
    return *this;
}

EventRecorder::~EventRecorder()
{
    priv::released(d);
}

void EventRecorder::record(const Object &regarding, EventSeverity severity, const QString &reason,
    const QString &note) const
{
    if (d)
        d->record(regarding, severity, reason, note);
}

void EventRecorder::record(const Object &regarding, const Object &related, EventSeverity severity,
    const QString &reason, const QString &action, const QString &note) const
{
    if (d)
        d->recordAction(regarding, related, severity, reason, action, note);
}

DAVIT_END_NAMESPACE
