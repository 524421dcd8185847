// From the bytes of a watch stream to events with pooled objects.
// Source: Kubernetes API concepts, "Efficient detection of changes"; BEHAVIOURS.md. Cases B12,
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
    explicit WatchDecoder(const priv::DecodeOptions &options, const Limits &limits = {});
    // Events completed by this chunk, in order. After an event of type Error nothing more is given.
    // An object that cannot be decoded (a lone surrogate, no metadata) or whose event is larger
    // than the limit (B20) is counted; in its place stands a Bookmark with its version, so that the
    // watch moves past it (B22), or for a deleted one what could be read of its metadata. Events of
    // unknown type, and where only metadata is wanted whole objects of another kind than the
    // implied one, are left out and counted.
    std::vector<WatchEvent> feed(const QByteArray &chunk);
    // False when the stream ended inside a line.
    bool endedOnBoundary() const;
    // Events and objects left out, and why the last one was.
    qsizetype badObjects() const;
    davit::Error lastBadObject() const;

private:
    void decodeLine(QByteArrayView line, std::vector<WatchEvent> &events);
    void decodeHead(const SkippedLine &line, std::vector<WatchEvent> &events);
    bool isOtherKind(QByteArrayView json) const;
    void addUndecoded(WatchEvent::Type type, QByteArrayView json, std::vector<WatchEvent> &events);
    void decodeObject(WatchEvent::Type type, QByteArrayView json, std::vector<WatchEvent> &events);
    void decodeBookmark(QByteArrayView json, std::vector<WatchEvent> &events);
    void addObject(WatchEvent::Type type, WatchEvent event, std::vector<WatchEvent> &events);
    void fail(const davit::Error &error, std::vector<WatchEvent> &events);
    void countBad(const QString &what);

    LineFramer m_framer;
    priv::ObjectDecoder m_decoder;
    const priv::DecodeOptions m_options;
    const qsizetype m_maxEventBytes;
    bool m_hasFailed = false;
    qsizetype m_badObjects = 0;
    davit::Error m_lastBadObject;
};

} // namespace davit::codec
