// Watch events from lines.
#include "watchdecoder.h"

#include "jsonscan.h"
#include "statusdecoder.h"

namespace davit::codec {
namespace {

using Type = WatchEvent::Type;

constexpr QLatin1StringView kOperation("watch");

struct Envelope
{
    QByteArrayView type; // without quotes
    QByteArrayView object; // empty: absent
};

// The form in which every known server writes it; the object may still be followed by more.
bool splitUsual(QByteArrayView line, Envelope *envelope)
{
    constexpr QByteArrayView head("{\"type\":\"");
    constexpr QByteArrayView middle("\",\"object\":");
    if (!line.startsWith(head) || !line.endsWith('}'))
        return false;
    const qsizetype quote = line.indexOf('"', head.size());
    if (quote < 0 || !line.sliced(quote).startsWith(middle))
        return false;
    const qsizetype object = quote + middle.size();
    *envelope = {line.sliced(head.size(), quote - head.size()),
        line.sliced(object, line.size() - object - 1)};
    return true;
}

bool splitAny(QByteArrayView line, Envelope *envelope)
{
    *envelope = {};
    MemberScanner members(line);
    while (members.next()) {
        if (members.name() == QByteArrayView("type"))
            envelope->type = members.value();
        else if (members.name() == QByteArrayView("object"))
            envelope->object = members.value();
    }
    if (!members.isWhole() || envelope->type.size() < 2 || envelope->type.front() != '"')
        return false;
    envelope->type = envelope->type.sliced(1, envelope->type.size() - 2);
    return true;
}

bool objectType(QByteArrayView name, Type *type)
{
    if (name == QByteArrayView("ADDED"))
        *type = Type::Added;
    else if (name == QByteArrayView("MODIFIED"))
        *type = Type::Modified;
    else if (name == QByteArrayView("DELETED"))
        *type = Type::Deleted;
    else
        return false;
    return true;
}

} // namespace

WatchDecoder::WatchDecoder(const priv::DecodeOptions &options, qsizetype maxEventBytes)
    : m_framer(maxEventBytes), m_options(options)
{ }

std::vector<WatchEvent> WatchDecoder::feed(const QByteArray &chunk)
{
    std::vector<WatchEvent> events;
    if (m_hasFailed)
        return events;
    const qsizetype skipped = m_framer.skippedLines();
    const QList<QByteArray> lines = m_framer.feed(chunk);
    if (m_framer.skippedLines() > skipped) {
        m_badObjects += m_framer.skippedLines() - skipped - 1;
        countBad(QStringLiteral("an event of %1 bytes is larger than the limit")
                     .arg(m_framer.lastSkippedBytes()));
    }
    for (const QByteArray &line : lines) {
        decodeLine(line, events);
        if (m_hasFailed)
            break;
    }
    return events;
}

void WatchDecoder::decodeLine(QByteArrayView line, std::vector<WatchEvent> &events)
{
    Envelope envelope;
    Type type = Type::Added;
    if (splitUsual(line, &envelope) && objectType(envelope.type, &type)) {
        WatchEvent event;
        const Error error = m_decoder.decode(envelope.object, m_options, &event.object);
        if (!error.isError()) {
            addObject(type, std::move(event), events);
            return;
        }
    }
    if (!splitAny(line, &envelope)) {
        fail(Error(ErrorCode::InternalError,
                 QStringLiteral("watch: a line of %1 bytes is no watch event").arg(line.size())),
            events);
    } else if (envelope.type == QByteArrayView("ERROR")) {
        fail(errorFromStatus(kOperation.toString(), envelope.object), events);
    } else if (envelope.type == QByteArrayView("BOOKMARK")) {
        decodeBookmark(envelope.object, events);
    } else if (objectType(envelope.type, &type)) {
        decodeObject(type, envelope.object, events);
    } else {
        countBad(QStringLiteral("unknown event type \"%1\"")
                     .arg(QString::fromUtf8(
                         envelope.type.first(qMin(envelope.type.size(), qsizetype(40))))));
    }
}

void WatchDecoder::fail(const Error &error, std::vector<WatchEvent> &events)
{
    WatchEvent event;
    event.type = Type::Error;
    event.error = error;
    events.push_back(std::move(event));
    m_hasFailed = true;
}

void WatchDecoder::countBad(const QString &what)
{
    ++m_badObjects;
    m_lastBadObject
        = Error(ErrorCode::MalformedReply, kOperation.toString() + QLatin1String(": ") + what);
}

void WatchDecoder::addObject(Type type, WatchEvent event, std::vector<WatchEvent> &events)
{
    if (!event.object[QLatin1StringView("metadata")].isObject()) {
        countBad(QStringLiteral("an object without metadata"));
        return;
    }
    event.type = type;
    event.resourceVersion = event.object.resourceVersion();
    events.push_back(std::move(event));
}

void WatchDecoder::decodeObject(Type type, QByteArrayView json, std::vector<WatchEvent> &events)
{
    WatchEvent event;
    const Error error = m_decoder.decode(json, m_options, &event.object);
    if (!error.isError()) {
        addObject(type, std::move(event), events);
        return;
    }
    countBad(QStringLiteral("%1 %2: %3")
                 .arg(QString::fromLatin1(type == Type::Deleted ? "deleted" : "changed"),
                     describeObject(json), error.message()));
    // Its version still counts as seen (B22), and what is gone must leave the store.
    const QByteArrayView metadata = memberOf(json, "metadata");
    const QString version = plainString(memberOf(metadata, "resourceVersion"));
    if (type == Type::Deleted) {
        QByteArray rest = "{\"apiVersion\":";
        const QByteArrayView apiVersion = memberOf(json, "apiVersion");
        const QByteArrayView kind = memberOf(json, "kind");
        rest += (apiVersion.isEmpty() ? QByteArrayView("null") : apiVersion).toByteArray()
            + ",\"kind\":" + (kind.isEmpty() ? QByteArrayView("null") : kind).toByteArray()
            + ",\"metadata\":"
            + (metadata.isEmpty() ? QByteArrayView("{}") : metadata).toByteArray() + '}';
        if (!m_decoder.decode(rest, m_options, &event.object).isError()) {
            addObject(type, std::move(event), events);
            return;
        }
    }
    if (version.isEmpty())
        return;
    event = WatchEvent();
    event.type = Type::Bookmark;
    event.resourceVersion = version;
    events.push_back(std::move(event));
}

// Only version and annotations of a bookmark mean anything (B17).
void WatchDecoder::decodeBookmark(QByteArrayView json, std::vector<WatchEvent> &events)
{
    Object bookmark;
    const Status parsed = Object::fromJson(json, &bookmark);
    if (!parsed.isOk() || bookmark.resourceVersion().isEmpty()) {
        countBad(QStringLiteral("a bookmark without a version"));
        return;
    }
    WatchEvent event;
    event.type = Type::Bookmark;
    event.resourceVersion = bookmark.resourceVersion();
    event.isInitialEventsEnd = bookmark.annotation(QLatin1StringView("k8s.io/initial-events-end"))
        == QLatin1String("true");
    events.push_back(std::move(event));
}

bool WatchDecoder::endedOnBoundary() const
{
    return !m_framer.isInsideLine();
}

qsizetype WatchDecoder::badObjects() const
{
    return m_badObjects;
}

Error WatchDecoder::lastBadObject() const
{
    return m_lastBadObject;
}

} // namespace davit::codec
