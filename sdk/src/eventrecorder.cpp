#include <davit/eventrecorder.h>
#include <davit/priv/backends.h>

DAVIT_BEGIN_NAMESPACE

EventRecorder::EventRecorder() : d(nullptr) { }

EventRecorder::EventRecorder(priv::EventBackend &backend) : d(&backend)
{
    d->retain();
}

EventRecorder::EventRecorder(const EventRecorder &other) : d(other.d)
{
    if (d)
        d->retain();
}

EventRecorder &EventRecorder::operator=(const EventRecorder &other)
{
    if (other.d)
        other.d->retain();
    if (d)
        d->release();
    d = other.d;
    return *this;
}

EventRecorder::~EventRecorder()
{
    if (d)
        d->release();
}

void EventRecorder::record(const Object &regarding, EventSeverity severity, const QString &reason,
    const QString &note) const
{
    if (d)
        d->record(regarding, severity, reason, note);
}

DAVIT_END_NAMESPACE
