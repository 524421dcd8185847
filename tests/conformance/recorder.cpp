#include "recorder.h"

#include <QtCore/qcoreevent.h>
#include <QtCore/qjsondocument.h>

using convergence::Heard;
using davit::priv::Notification;

static convergence::Version versionOf(const davit::Object &object)
{
    return {object.uid(), object.resourceVersion(),
        convergence::digestOf(QJsonDocument::fromJson(object.toJson()).object())};
}

Recorder::Recorder(std::unique_ptr<davit::priv::InformerBackend> backend)
    : m_backend(std::move(backend))
{
    m_backend->setReceiver(this);
}

Recorder::~Recorder()
{
    m_backend->setReceiver(nullptr);
}

convergence::World Recorder::stored() const
{
    convergence::World world;
    const auto objects = m_backend->lister().list(nullptr, nullptr);
    for (const davit::Object &object : objects)
        world.insert(toString(object.key()), versionOf(object));
    return world;
}

bool Recorder::event(QEvent *event)
{
    if (event->type() != QEvent::Type(davit::priv::wakeUpEventType()))
        return QObject::event(event);
    const auto batch = m_backend->takeBatch();
    for (const Notification &notification : batch) {
        hear(notification);
        m_backend->handled(notification);
    }
    return true;
}

void Recorder::hear(const Notification &notification)
{
    const davit::Object &object = notification.object;
    switch (notification.kind) {
    case Notification::Kind::Added:
        m_heard.push_back({Heard::Kind::Added, toString(object.key()), {}, versionOf(object)});
        break;
    case Notification::Kind::Updated:
        m_heard.push_back({Heard::Kind::Updated, toString(object.key()),
            versionOf(notification.before), versionOf(object)});
        break;
    case Notification::Kind::Deleted:
        m_heard.push_back({Heard::Kind::Deleted, toString(object.key()), versionOf(object), {}});
        break;
    case Notification::Kind::Synced:
        m_hasSynced = true;
        break;
    }
}
