// Watch events in protobuf.
#include "protobufwatch.h"

#include "statusdecoder.h"

#include <davit/objectbuilder.h>

#include <QtCore/qendian.h>
#include <algorithm>
#include <utility>

namespace davit::codec {
namespace {

using Type = WatchEvent::Type;

constexpr qsizetype kLengthBytes = 4;
// Of the event, and of what holds the object in it.
constexpr std::uint32_t kTypeField = 1;
constexpr std::uint32_t kObjectField = 2;
constexpr std::uint32_t kObjectRawField = 1;

// Of the object of an event that may be cut: its message, as far as it is there.
QByteArrayView messageOfCut(QByteArrayView event)
{
    const QByteArrayView object = fieldOfCut(fieldOfCut(event, kObjectField), kObjectRawField);
    return object.startsWith(kProtobufMagic)
        ? fieldOfCut(object.sliced(kProtobufMagic.size()), kRawField)
        : QByteArrayView();
}

// What is needed to take an object out of a store, in JSON; empty without a name.
QByteArray identityOf(QByteArrayView metadata)
{
    ObjectBuilder builder;
    for (const auto &[number, name] : {std::pair(1U, "name"), std::pair(3U, "namespace"),
             std::pair(5U, "uid"), std::pair(6U, "resourceVersion")}) {
        const QString text = textOfCut(metadata, number);
        if (!text.isEmpty())
            builder.set({QStringLiteral("metadata"), QLatin1String(name)}, text);
    }
    return textOfCut(metadata, 1).isEmpty() ? QByteArray() : builder.build().toJson();
}

} // namespace

ProtobufWatchDecoder::ProtobufWatchDecoder(
    const KubernetesSchema &schema, const priv::DecodeOptions &options, const Limits &limits)
    : m_schema(schema)
    , m_options(options)
    , m_type(std::uint16_t(schema.messageOf(*options.impliedGvk)))
    , m_maxEventBytes(limits.maxEventBytes)
{
    Q_ASSERT(schema.messageOf(*options.impliedGvk) >= 0);
}

std::vector<WatchEvent> ProtobufWatchDecoder::feed(const QByteArray &chunk)
{
    std::vector<WatchEvent> events;
    const char *p = chunk.constData();
    const char *const end = p + chunk.size();
    while (p < end && !hasFailed() && !m_needsJson)
        p = frame(p, end, events);
    return events;
}

// Reads on in a length or a frame. Of a frame that is too large the head is kept.
const char *ProtobufWatchDecoder::frame(
    const char *p, const char *end, std::vector<WatchEvent> &events)
{
    if (m_frameSize < 0) {
        const qsizetype size = std::min(qsizetype(end - p), kLengthBytes - m_partial.size());
        m_partial.append(p, size);
        if (m_partial.size() == kLengthBytes) {
            m_frameSize = m_frameLeft = qFromBigEndian<quint32>(m_partial.constData());
            m_partial.clear();
        }
        if (m_frameSize == 0) {
            m_frameSize = -1;
            countBad(QStringLiteral("an event without content"));
        }
        return p + size;
    }
    const bool isTooLarge = m_frameSize > m_maxEventBytes;
    const qsizetype size = std::min(qsizetype(end - p), m_frameLeft);
    const bool isWhole = size == m_frameSize && !isTooLarge;
    m_frameLeft -= size;
    if (!isWhole) {
        const qsizetype limit = isTooLarge ? kHeadBytes : m_frameSize;
        m_partial.append(p, std::min(size, std::max<qsizetype>(limit - m_partial.size(), 0)));
    }
    if (m_frameLeft > 0)
        return p + size;
    const QByteArray gathered = std::exchange(m_partial, {});
    if (isTooLarge)
        decodeHead(gathered, events);
    else
        decodeFrame(isWhole ? QByteArrayView(p, size) : QByteArrayView(gathered), events);
    m_frameSize = -1;
    return p + size;
}

// Of an event that is too large (B20).
void ProtobufWatchDecoder::decodeHead(QByteArrayView head, std::vector<WatchEvent> &events)
{
    const QByteArrayView message = messageOfCut(head);
    const QByteArrayView name = fieldOfCut(head, kTypeField);
    countBad(QStringLiteral("%1 %2: its %3 bytes are more than the limit of %4 bytes")
                 .arg(QString::fromUtf8(name.first(std::min<qsizetype>(name.size(), 40))),
                     describeMessage(message))
                 .arg(m_frameSize)
                 .arg(m_maxEventBytes));
    Type type = Type::Modified;
    if (objectType(name, &type))
        addUndecoded(type, message, events);
}

void ProtobufWatchDecoder::decodeFrame(QByteArrayView frame, std::vector<WatchEvent> &events)
{
    QByteArrayView name;
    QByteArrayView object;
    priv::WireField field;
    priv::WireCursor cursor(toStd(frame));
    while (cursor.next(&field)) {
        if (field.number == kTypeField)
            name = toView(field.bytes);
        else if (field.number == kObjectField)
            object = fieldOfCut(toView(field.bytes), kObjectRawField);
    }
    ProtobufEnvelope envelope;
    Type type = Type::Added;
    if (!cursor.isGood() || !openEnvelope(object, &envelope)) {
        fail(Error(ErrorCode::InternalError,
                 QStringLiteral("watch: a frame of %1 bytes is no watch event").arg(frame.size())),
            events);
    } else if (name == QByteArrayView("ERROR") && envelope.gvk.kind != QLatin1String("Status")) {
        fail(Error(ErrorCode::InternalError,
                 QStringLiteral("watch: the server sent an error that is no Status but a %1")
                     .arg(toString(envelope.gvk))),
            events);
    } else if (name == QByteArrayView("ERROR")) {
        fail(errorFromStatus(QStringLiteral("watch"), statusToJson(object.toByteArray())), events);
    } else if (envelope.gvk != *m_options.impliedGvk) {
        countBad(QStringLiteral("%1 is of another kind, %2")
                     .arg(describeMessage(envelope.message), toString(envelope.gvk)));
    } else if (name == QByteArrayView("BOOKMARK")) {
        decodeObject(Type::Bookmark, envelope.message, events);
    } else if (objectType(name, &type)) {
        decodeObject(type, envelope.message, events);
    } else {
        countUnknownType(name);
    }
}

void ProtobufWatchDecoder::decodeObject(
    Type type, QByteArrayView message, std::vector<WatchEvent> &events)
{
    WatchEvent event;
    const Error error
        = m_decoder.decodeProtobuf(message, m_schema.messages(), m_type, m_options, &event.object);
    if (error.code() == ErrorCode::Unsupported) {
        m_needsJson = true;
    } else if (type == Type::Bookmark) {
        addBookmark(event.object, events); // without a version when it cannot be read
    } else if (!error.isError()) {
        addObject(type, std::move(event), events);
    } else {
        countUndecoded(type, describeMessage(message), error);
        addUndecoded(type, message, events);
    }
}

// Its version still counts as seen (B22), and what is gone must leave the store.
void ProtobufWatchDecoder::addUndecoded(
    Type type, QByteArrayView message, std::vector<WatchEvent> &events)
{
    const QByteArrayView metadata = fieldOfCut(message, 1);
    WatchEvent event;
    const QByteArray identity = type == Type::Deleted ? identityOf(metadata) : QByteArray();
    if (!identity.isEmpty() && !m_decoder.decode(identity, m_options, &event.object).isError())
        addObject(type, std::move(event), events);
    else
        addVersion(textOfCut(metadata, 6), events);
}

bool ProtobufWatchDecoder::endedOnBoundary() const
{
    return m_frameSize < 0 && m_partial.isEmpty();
}

} // namespace davit::codec
