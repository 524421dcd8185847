// Lists in protobuf as streams.
#include "protobuflist.h"

#include "protobufenvelope.h"

#include <algorithm>
#include <utility>

namespace davit::codec {
namespace {

using priv::WireType;

constexpr std::uint32_t kMetadataField = 1; // of a list
constexpr std::uint32_t kItemsField = 2;
constexpr qsizetype kMaxHeadBytes = 20; // two varints

} // namespace

ProtobufListDecoder::ProtobufListDecoder(const KubernetesSchema &schema, const Gvk &itemGvk,
    const priv::DecodeOptions &options, const Limits &limits)
    : m_schema(schema)
    , m_type(std::uint16_t(schema.messageOf(itemGvk)))
    , m_gvk(itemGvk)
    , m_options(options)
    , m_maxItemBytes(limits.maxItemBytes)
{
    Q_ASSERT(schema.messageOf(itemGvk) >= 0);
    m_options.impliedGvk = &m_gvk;
}

std::vector<Object> ProtobufListDecoder::feed(const QByteArray &chunk)
{
    std::vector<Object> items;
    const char *p = chunk.constData();
    const char *const end = p + chunk.size();
    while (p < end && !m_isBroken && !m_needsJson)
        p = step(p, end, items);
    return items;
}

const char *ProtobufListDecoder::step(const char *p, const char *end, std::vector<Object> &items)
{
    if (m_isInBody)
        return body(p, end, items);
    if (!m_hasMagic) {
        m_partial += *p++;
        m_isBroken = !kProtobufMagic.startsWith(m_partial);
        m_hasMagic = m_partial.size() == kProtobufMagic.size();
        if (m_hasMagic)
            m_partial.clear();
        return p;
    }
    return gatherHead(p, end, items);
}

ProtobufListDecoder::Head ProtobufListDecoder::readHead(const char *p, const char *end)
{
    Head head;
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
    const char *const begin = p;
    const auto missing = [begin, end] {
        Head cut;
        cut.state = end - begin < kMaxHeadBytes ? Head::State::Cut : Head::State::Wrong;
        return cut;
    };
    p = priv::readVarint(p, end, &tag);
    if (p == nullptr)
        return missing();
    head.headBytes = qsizetype(p - begin);
    head.number = std::uint32_t(tag >> 3);
    head.type = WireType(tag & 7U);
    const bool isFixed = head.type == WireType::Fixed64 || head.type == WireType::Fixed32;
    const bool isKnown = isFixed || head.type == WireType::Varint || head.type == WireType::Bytes;
    if (tag > 0xffffffffU || head.number == 0 || !isKnown)
        return head;
    if (isFixed) {
        head.state = Head::State::Whole;
        head.bodyBytes = head.type == WireType::Fixed64 ? 8 : 4;
        return head;
    }
    p = priv::readVarint(p, end, &value);
    if (p == nullptr)
        return missing();
    if (head.type == WireType::Bytes && value > std::uint64_t(1) << 40)
        return head;
    head.state = Head::State::Whole;
    head.headBytes = qsizetype(p - begin);
    head.bodyBytes = head.type == WireType::Bytes ? qsizetype(value) : 0;
    return head;
}

const char *ProtobufListDecoder::gatherHead(
    const char *p, const char *end, std::vector<Object> &items)
{
    const qsizetype kept = m_partial.size();
    const qsizetype wanted = std::min(qsizetype(end - p), kMaxHeadBytes - kept);
    Head head;
    if (kept == 0) {
        head = readHead(p, end);
    } else {
        m_partial.append(p, wanted);
        head = readHead(m_partial.constData(), m_partial.constData() + m_partial.size());
    }
    if (head.state == Head::State::Cut) {
        if (kept == 0)
            m_partial.append(p, wanted);
        return end;
    }
    m_partial.clear();
    if (head.state == Head::State::Wrong) {
        m_isBroken = true;
        return end;
    }
    if (m_rawLeft >= 0) {
        m_rawLeft -= head.headBytes + head.bodyBytes;
        if (m_rawLeft < 0) {
            m_isBroken = true;
            return end;
        }
    }
    headDone(head);
    if (m_isInBody && m_bodySize == 0)
        bodyDone({}, items);
    return p + (head.headBytes - kept);
}

void ProtobufListDecoder::headDone(const Head &head)
{
    const bool isList = m_rawLeft < 0 && head.number == kRawField && head.type == WireType::Bytes;
    if (isList) {
        m_isBroken = m_isBroken || m_hasList;
        m_hasList = true;
        m_rawLeft = head.bodyBytes == 0 ? -1 : head.bodyBytes;
        return;
    }
    if (head.type != WireType::Bytes && m_rawLeft >= 0) {
        m_needsJson = true; // the lists that are known have no numbers
        return;
    }
    if (head.type == WireType::Varint)
        return;
    m_field = head;
    m_bodySize = head.bodyBytes;
    m_isInBody = true;
}

// Reads on in a field; hands it over when it ends. Of one that is too large the head is kept.
const char *ProtobufListDecoder::body(const char *p, const char *end, std::vector<Object> &items)
{
    const qsizetype size = std::min(qsizetype(end - p), m_field.bodyBytes);
    const bool isWhole = size == m_bodySize && m_bodySize <= m_maxItemBytes;
    m_field.bodyBytes -= size;
    if (!isWhole) {
        const qsizetype limit = m_bodySize > m_maxItemBytes ? kHeadBytes : m_bodySize;
        m_partial.append(p, std::min(size, std::max<qsizetype>(limit - m_partial.size(), 0)));
    }
    if (m_field.bodyBytes == 0) {
        const QByteArray gathered = std::exchange(m_partial, {});
        bodyDone(isWhole ? QByteArrayView(p, size) : QByteArrayView(gathered), items);
    }
    return p + size;
}

void ProtobufListDecoder::bodyDone(QByteArrayView body, std::vector<Object> &items)
{
    m_isInBody = false;
    const bool isTooLarge = m_bodySize > m_maxItemBytes;
    if (m_rawLeft < 0) {
        if (m_field.number == kTypeMetaField) {
            const Gvk gvk = gvkOfTypeMeta(body);
            m_meta.apiVersion = apiVersion(gvk);
            m_meta.kind = gvk.kind;
        }
        return;
    }
    if (m_field.number == kMetadataField && isTooLarge)
        m_tooLarge = tooLargeText(QStringLiteral("metadata"), m_bodySize, m_maxItemBytes);
    else if (m_field.number == kMetadataField)
        readMetadata(body);
    else if (m_field.number != kItemsField)
        m_needsJson = true;
    else if (isTooLarge)
        badItem(tooLargeText(describeMessage(body), m_bodySize, m_maxItemBytes));
    else
        itemDone(body, items);
    if (m_rawLeft == 0)
        m_rawLeft = -1;
}

void ProtobufListDecoder::itemDone(QByteArrayView message, std::vector<Object> &items)
{
    Object item;
    const Error error
        = m_decoder.decodeProtobuf(message, m_schema.messages(), m_type, m_options, &item);
    if (error.code() == ErrorCode::Unsupported)
        m_needsJson = true;
    else if (error.isError())
        badItem(describeMessage(message) + QLatin1String(": ") + error.message());
    else if (!item[QLatin1StringView("metadata")].isObject())
        badItem(QStringLiteral("an item without metadata"));
    else
        items.push_back(std::move(item));
}

void ProtobufListDecoder::readMetadata(QByteArrayView message)
{
    priv::WireField field;
    priv::WireCursor cursor(toStd(message));
    while (cursor.next(&field)) {
        if (field.number == 2)
            m_meta.resourceVersion = QString::fromUtf8(toView(field.bytes));
        else if (field.number == 3)
            m_meta.continueToken = QString::fromUtf8(toView(field.bytes));
        else if (field.number == 4 && field.type == WireType::Varint)
            m_meta.remainingItemCount = qint64(field.value);
    }
    m_isBroken = m_isBroken || !cursor.isGood();
}

Error ProtobufListDecoder::finish()
{
    const QString what = QStringLiteral("list of %1: ").arg(toString(m_gvk));
    const auto malformed
        = [&what](const QString &fault) { return Error(ErrorCode::MalformedReply, what + fault); };
    if (m_needsJson)
        return Error(ErrorCode::Unsupported,
            what + QLatin1String("the reply has what davit does not know of it in protobuf"));
    if (m_isBroken)
        return malformed(QStringLiteral("the reply is not valid protobuf"));
    if (!m_hasMagic || m_isInBody || m_rawLeft >= 0 || !m_partial.isEmpty())
        return malformed(QStringLiteral("the reply was cut"));
    if (!m_tooLarge.isEmpty())
        return malformed(m_tooLarge);
    if (!m_hasList)
        return malformed(QStringLiteral("the reply is no list"));
    if (m_meta.kind != m_gvk.kind + QLatin1String("List") || m_meta.apiVersion != apiVersion(m_gvk))
        return malformed(
            QStringLiteral("the reply is a %1 of %2").arg(m_meta.kind, m_meta.apiVersion));
    return {};
}

} // namespace davit::codec
