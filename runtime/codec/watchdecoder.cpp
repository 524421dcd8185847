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

// The members of `from` that are plain texts and not empty, each as "name":"value",
QByteArray plainMembers(QByteArrayView from, std::initializer_list<const char *> names)
{
    QByteArray members;
    for (const char *name : names) {
        const QString value = plainString(memberOfCut(from, name));
        if (!value.isEmpty())
            members += '"' + QByteArray(name) + "\":\"" + value.toUtf8() + "\",";
    }
    return members;
}

// An object of apiVersion, kind and that metadata.
QByteArray objectOf(QByteArrayView json, QByteArrayView metadata)
{
    return '{' + plainMembers(json, {"apiVersion", "kind"})
        + "\"metadata\":" + metadata.toByteArray() + '}';
}

// What is needed to take an object out of a store; empty without a name.
QByteArray identityOf(QByteArrayView metadata)
{
    if (plainString(memberOfCut(metadata, "name")).isEmpty())
        return {};
    return '{' + plainMembers(metadata, {"name", "namespace", "uid", "resourceVersion"}).chopped(1)
        + '}';
}

} // namespace

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

WatchReader::~WatchReader() = default;

void WatchReader::fail(const Error &error, std::vector<WatchEvent> &events)
{
    WatchEvent event;
    event.type = Type::Error;
    event.error = error;
    events.push_back(std::move(event));
    m_hasFailed = true;
}

void WatchReader::countBad(const QString &what)
{
    ++m_badObjects;
    m_lastBadObject
        = Error(ErrorCode::MalformedReply, kOperation.toString() + QLatin1String(": ") + what);
}

void WatchReader::countUnknownType(QByteArrayView type)
{
    countBad(QStringLiteral("unknown event type \"%1\"")
                 .arg(QString::fromUtf8(type.first(qMin(type.size(), qsizetype(40))))));
}

void WatchReader::countUndecoded(Type type, const QString &object, const Error &error)
{
    countBad(QStringLiteral("%1 %2: %3")
                 .arg(QString::fromLatin1(type == Type::Deleted ? "deleted" : "changed"), object,
                     error.message()));
}

void WatchReader::addObject(Type type, WatchEvent event, std::vector<WatchEvent> &events)
{
    if (!event.object[QLatin1StringView("metadata")].isObject()) {
        countBad(QStringLiteral("an object without metadata"));
        return;
    }
    event.type = type;
    event.resourceVersion = event.object.resourceVersion();
    events.push_back(std::move(event));
}

// Only version and annotations of a bookmark mean anything (B17).
void WatchReader::addBookmark(const Object &bookmark, std::vector<WatchEvent> &events)
{
    if (bookmark.resourceVersion().isEmpty()) {
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

void WatchReader::addVersion(const QString &version, std::vector<WatchEvent> &events)
{
    if (version.isEmpty())
        return;
    WatchEvent event;
    event.type = Type::Bookmark;
    event.resourceVersion = version;
    events.push_back(std::move(event));
}

WatchDecoder::WatchDecoder(const priv::DecodeOptions &options, const Limits &limits)
    : m_framer(limits.maxEventBytes), m_options(options), m_maxEventBytes(limits.maxEventBytes)
{ }

std::vector<WatchEvent> WatchDecoder::feed(const QByteArray &chunk)
{
    std::vector<WatchEvent> events;
    if (hasFailed())
        return events;
    const QList<QByteArray> lines = m_framer.feed(chunk);
    auto skipped = m_framer.skippedLines().cbegin();
    const auto skippedEnd = m_framer.skippedLines().cend();
    for (qsizetype i = 0; i <= lines.size() && !hasFailed(); ++i) {
        for (; skipped != skippedEnd && skipped->before == i; ++skipped)
            decodeHead(*skipped, events);
        if (i < lines.size())
            decodeLine(lines.at(i), events);
    }
    return events;
}

// Of an event that is too large.
void WatchDecoder::decodeHead(const SkippedLine &line, std::vector<WatchEvent> &events)
{
    const QByteArrayView object = memberOfCut(line.head, "object");
    const QString typeName = plainString(memberOfCut(line.head, "type"));
    countBad(QStringLiteral("an event of %1 bytes (%2 %3) is larger than the limit of %4 bytes")
                 .arg(line.bytes)
                 .arg(typeName.isEmpty() ? QStringLiteral("unknown type") : typeName.left(40),
                     describeObject(object))
                 .arg(m_maxEventBytes));
    Type type = Type::Added;
    if (objectType(typeName.toLatin1(), &type))
        addUndecoded(type, object, events);
}

void WatchDecoder::decodeLine(QByteArrayView line, std::vector<WatchEvent> &events)
{
    Envelope envelope;
    Type type = Type::Added;
    if (splitUsual(line, &envelope) && objectType(envelope.type, &type)
        && !isOtherKind(envelope.object)) {
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
        Object bookmark; // without a version when it cannot be read
        const Status parsed = Object::fromJson(envelope.object, &bookmark);
        addBookmark(parsed.isOk() ? bookmark : Object(), events);
    } else if (objectType(envelope.type, &type) && isOtherKind(envelope.object)) {
        countBad(QStringLiteral("%1 is of another kind").arg(describeObject(envelope.object)));
    } else if (objectType(envelope.type, &type)) {
        decodeObject(type, envelope.object, events);
    } else {
        countUnknownType(envelope.type);
    }
}

// Metadata alone is decoded as the implied kind. Whether a PartialObjectMetadata is of that kind,
// nothing in it says; a whole object, from a server that has no such form, tells.
bool WatchDecoder::isOtherKind(QByteArrayView json) const
{
    if (m_options.depth != priv::Depth::MetadataOnly || !m_options.impliedGvk)
        return false;
    const QString kind = plainString(memberOfCut(json, "kind"));
    return !kind.isEmpty() && kind != QLatin1StringView("PartialObjectMetadata")
        && (kind != m_options.impliedGvk->kind
            || plainString(memberOfCut(json, "apiVersion")) != apiVersion(*m_options.impliedGvk));
}

void WatchDecoder::decodeObject(Type type, QByteArrayView json, std::vector<WatchEvent> &events)
{
    WatchEvent event;
    const Error error = m_decoder.decode(json, m_options, &event.object);
    if (!error.isError()) {
        addObject(type, std::move(event), events);
        return;
    }
    countUndecoded(type, describeObject(json), error);
    addUndecoded(type, json, events);
}

// Its version still counts as seen (B22), and what is gone must leave the store.
void WatchDecoder::addUndecoded(Type type, QByteArrayView json, std::vector<WatchEvent> &events)
{
    WatchEvent event;
    const QByteArrayView metadata = memberOfCut(json, "metadata");
    if (type == Type::Deleted) {
        for (const QByteArray &rest : {metadata.toByteArray(), identityOf(metadata)}) {
            if (m_decoder.decode(objectOf(json, rest), m_options, &event.object).isError()
                || !event.object[QLatin1StringView("metadata")].isObject())
                continue;
            addObject(type, std::move(event), events);
            return;
        }
    }
    addVersion(plainString(memberOfCut(metadata, "resourceVersion")), events);
}

bool WatchDecoder::endedOnBoundary() const
{
    return !m_framer.isInsideLine();
}

} // namespace davit::codec
