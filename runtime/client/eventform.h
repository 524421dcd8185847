// An Event on its way from a plugin to the server, and who gives it the form of one API. Contract:
// a form says what is written; when and how often that is tried is the sender's business.
// Test: tst_pluginevents, tst_serieseventform.
#pragma once

#include <davit/objectkey.h>

#include <QtCore/qjsonobject.h>
#include <chrono>
#include <transport/resource.h>
#include <vector>

namespace davit::client {

struct ToldEvent
{
    QJsonObject regarding; // an ObjectReference
    QJsonObject related{}; // of events.k8s.io alone; empty: none
    QString type; // "Normal", "Warning"
    QString reason;
    QString action; // empty: an Event of core/v1; else one of events.k8s.io/v1
    QString note; // of 1024 bytes at most
    ObjectKey key; // of the Event, if it is made
    std::chrono::nanoseconds utc{0}; // when it was told
    std::chrono::nanoseconds monotonic{0}; // the same moment
};

// One request.
struct EventWrite
{
    ObjectKey key;
    QByteArray object; // the whole Event of that key: what is created
    // Not empty: this is sent first, to the Event of that name in the same namespace. When it has
    // gone, the whole one is created.
    QByteArray patch{};
    QString patched{};

    bool isPatch() const { return !patch.isEmpty(); }
};

// Confined to the sender's executor.
class EventForm
{
public:
    virtual ~EventForm();
    virtual const transport::Resource &resource() const = 0;
    // What is to be written, in this order: nothing when the event is only counted, or dropped.
    virtual std::vector<EventWrite> told(const ToldEvent &event) = 0;
    // How long to wait after try number `tries` found nobody; `random` is from 0 to 1.
    virtual std::chrono::nanoseconds retryDelay(int tries, double random) const = 0;
};

// A longer note would be refused by the server: its end gives way to an ellipsis (E-15).
QString shortenedNote(const QString &note);
// What says that two references are of one object, whatever its version.
QString identityOf(const QJsonObject &reference);

} // namespace davit::client
