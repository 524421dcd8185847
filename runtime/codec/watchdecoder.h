// From the bytes of a watch stream to events with pooled objects.
// Source: Kubernetes API concepts, "Efficient detection of changes"; behaviours.md 1.5. Cases B12,
// B17, B20. Test: tst_watchdecoder.
#pragma once

#include "lineframer.h"

#include <davit/priv/poolaccess.h>
#include <vector>

namespace davit::codec {

struct WatchEvent
{
    enum class Type : quint8 { Added, Modified, Deleted, Bookmark, Error };
    Type type = Type::Added;
    Object object; // Added, Modified, Deleted
    QString resourceVersion; // of the object or bookmark
    bool isInitialEventsEnd = false; // Bookmark with k8s.io/initial-events-end: "true"
    davit::Error error; // Error: the decoded Status, or what could not be decoded (InternalError)
};

// Not thread-safe; one a stream.
class WatchDecoder
{
public:
    explicit WatchDecoder(const priv::DecodeOptions &options);
    // Events completed by this chunk, in order. After an event of type Error nothing more is given.
    // A line whose object alone cannot be decoded (a lone surrogate) is left out and counted.
    std::vector<WatchEvent> feed(const QByteArray &chunk);
    // False when the stream ended inside a line.
    bool endedOnBoundary() const;
    // Objects left out, and why the last one was.
    qsizetype badObjects() const;
    davit::Error lastBadObject() const;

private:
    LineFramer m_framer;
    priv::ObjectDecoder m_decoder;
    priv::DecodeOptions m_options;
    QByteArray m_buffer;
    bool m_hasFailed = false;
    qsizetype m_badObjects = 0;
    davit::Error m_lastBadObject;
};

} // namespace davit::codec
