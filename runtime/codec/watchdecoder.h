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

// What reads the events of one stream, and what all readers make of them. Not thread-safe; one a
// stream.
class WatchReader
{
public:
    virtual ~WatchReader();
    Q_DISABLE_COPY_MOVE(WatchReader)
    // Events completed by this chunk, in order. After an event of type Error nothing more is given.
    // An object that cannot be decoded (a lone surrogate, no metadata) or whose event is larger
    // than the limit (B20) is counted; in its place stands a Bookmark with its version, so that the
    // watch moves past it (B22), or for a deleted one what could be read of its metadata. Events of
    // unknown type, and objects of another kind than the implied one, are left out and counted (of
    // whole JSON objects the reflector tells the kind).
    virtual std::vector<WatchEvent> feed(const QByteArray &chunk) = 0;
    // False when the stream ended inside an event.
    virtual bool endedOnBoundary() const = 0;
    // The stream has what only JSON can tell: nothing more is given, watch again from the last
    // version.
    virtual bool needsJson() const { return false; }
    // Events and objects left out, and why the last one was.
    qsizetype badObjects() const { return m_badObjects; }
    const davit::Error &lastBadObject() const { return m_lastBadObject; }

protected:
    WatchReader() = default;
    bool hasFailed() const { return m_hasFailed; }
    void fail(const davit::Error &error, std::vector<WatchEvent> &events);
    void countBad(const QString &what);
    void countUnknownType(QByteArrayView type);
    // `object`: as it describes itself.
    void countUndecoded(WatchEvent::Type type, const QString &object, const davit::Error &error);
    void addObject(WatchEvent::Type type, WatchEvent event, std::vector<WatchEvent> &events);
    void addBookmark(const Object &bookmark, std::vector<WatchEvent> &events);
    // In place of an object of that version; nothing when it is not known.
    static void addVersion(const QString &version, std::vector<WatchEvent> &events);

private:
    bool m_hasFailed = false;
    qsizetype m_badObjects = 0;
    davit::Error m_lastBadObject;
};

// False for another word than ADDED, MODIFIED and DELETED.
bool objectType(QByteArrayView name, WatchEvent::Type *type);

// JSON, an event a line.
class WatchDecoder final : public WatchReader
{
public:
    explicit WatchDecoder(const priv::DecodeOptions &options, const Limits &limits = {});
    std::vector<WatchEvent> feed(const QByteArray &chunk) override;
    bool endedOnBoundary() const override;

private:
    void decodeLine(QByteArrayView line, std::vector<WatchEvent> &events);
    void decodeHead(const SkippedLine &line, std::vector<WatchEvent> &events);
    bool isOtherKind(QByteArrayView json) const;
    void addUndecoded(WatchEvent::Type type, QByteArrayView json, std::vector<WatchEvent> &events);
    void decodeObject(WatchEvent::Type type, QByteArrayView json, std::vector<WatchEvent> &events);

    LineFramer m_framer;
    priv::ObjectDecoder m_decoder;
    const priv::DecodeOptions m_options;
    const qsizetype m_maxEventBytes;
};

} // namespace davit::codec
