// Reading protobuf messages.
#include "protobufreader.h"

#include <QtCore/qbytearray.h>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <simdjson.h>

namespace davit::priv::pool {
namespace {

using Kind = ProtobufField::Kind;
using Form = ProtobufField::Form;
using Absent = ProtobufField::Absent;

constexpr std::size_t kMaxOpenFields = 1000000; // 48 bytes each while they are read
constexpr std::size_t kKeptFields = 65536;
constexpr const char *kCut = "a field is cut or is no protobuf";
constexpr const char *kWrongType = "a field has another wire type than its kind";
// The server's JSON has another text in its place.
constexpr const char *kNoUtf8 = "bytes that are not UTF-8";
constexpr const char *kBadTime = "a time beyond the years 0 to 9999";
constexpr char kMagic[] = {'k', '8', 's', '\0'}; // C-28

bool isContainer(Kind kind)
{
    return kind == Kind::Message || kind == Kind::Strings;
}

bool isUtf8(std::string_view text)
{
    std::uint64_t high = 0;
    const char *p = text.data();
    const char *const end = p + text.size();
    for (; end - p >= 8; p += 8) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, p, sizeof bytes);
        high |= bytes;
    }
    for (; p < end; ++p)
        high |= std::uint8_t(*p);
    return (high & 0x8080808080808080U) == 0 || simdjson::validate_utf8(text.data(), text.size());
}

WireType wireTypeOf(Kind kind)
{
    switch (kind) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::UInt:
        return WireType::Varint;
    case Kind::Double:
        return WireType::Fixed64;
    default:
        return WireType::Bytes;
    }
}

char *writeDigits(char *out, unsigned value, int count)
{
    for (char *p = out + count; p > out; value /= 10)
        *--p = char('0' + value % 10);
    return out + count;
}

// RFC 3339 in UTC; empty when the year has not four digits.
std::string_view timeText(std::int64_t seconds, unsigned micros, bool isMicro, char (&out)[40])
{
    using namespace std::chrono;
    constexpr std::int64_t kFirst = -62167219200; // the years 0 to 9999
    constexpr std::int64_t kLast = 253402300799;
    if (seconds < kFirst || seconds > kLast)
        return {};
    const sys_seconds at{std::chrono::seconds(seconds)};
    const auto day = floor<days>(at);
    const year_month_day date(day);
    const hh_mm_ss clock(at - day);
    char *p = writeDigits(out, unsigned(int(date.year())), 4);
    const auto part = [&p](char before, unsigned value, int count) {
        *p++ = before;
        p = writeDigits(p, value, count);
    };
    part('-', unsigned(date.month()), 2);
    part('-', unsigned(date.day()), 2);
    part('T', unsigned(clock.hours().count()), 2);
    part(':', unsigned(clock.minutes().count()), 2);
    part(':', unsigned(clock.seconds().count()), 2);
    if (isMicro)
        part('.', micros, 6);
    *p++ = 'Z';
    return {out, std::size_t(p - out)};
}

} // namespace

bool ProtobufReader::fail(const char *error, const char *at)
{
    if (m_error == nullptr) {
        m_error = error;
        m_at = at;
    }
    return false;
}

bool ProtobufReader::failUnknown(const char *error, const char *at)
{
    m_isUnknownField = true;
    return fail(error, at);
}

bool ProtobufReader::readObject(std::string_view message, const ProtobufSchema &schema,
    std::uint16_t type, const Selection &selection, const KnownObjects &known, TreeBuilder &builder)
{
    m_schema = &schema;
    m_builder = &builder;
    m_begin = m_at = message.data();
    m_end = m_begin + message.size();
    m_error = nullptr;
    m_isUnknownField = false;
    m_isInOrder = true;
    m_type = type;
    m_depth = 0;
    m_selection = selection;
    m_known = &known;
    m_fields.clear();
    if (m_fields.capacity() > kKeptFields)
        m_fields.shrink_to_fit(); // a large message is rare
    m_last.start(m_begin, message.size());
    builder.startObject();
    if (!selection.apiVersion.empty()) {
        builder.key("apiVersion");
        builder.string(selection.apiVersion);
    }
    if (!selection.kind.empty()) {
        builder.key("kind");
        builder.string(selection.kind);
    }
    const std::size_t span = m_last.enter(m_begin);
    Similar similars({}, m_last);
    if (!members(message, type, similars, true))
        return false;
    m_last.leave(span, m_end);
    builder.endObject();
    return true;
}

void ProtobufReader::remember(Place root, const TreeBuilder &builder)
{
    if (m_isInOrder)
        m_last.remember(m_end, root, builder);
    else
        m_last.forget();
    m_lastType = m_type;
}

// Messages -------------------------------------------------------------------------------------

// Pushes the message's fields. Servers send them in ascending order; any other is put into it.
bool ProtobufReader::gather(std::string_view message)
{
    const std::size_t first = m_fields.size();
    WireField field;
    bool isInOrder = true;
    WireCursor cursor(message);
    while (cursor.next(&field)) {
        isInOrder
            = isInOrder && (m_fields.size() == first || m_fields.back().number <= field.number);
        if (m_fields.size() == kMaxOpenFields)
            return fail("more than 1,000,000 fields", field.begin);
        m_fields.push_back(field);
    }
    if (!cursor.isGood())
        return fail(kCut, cursor.at());
    if (!isInOrder) {
        m_isInOrder = false; // a list is not in one piece
        std::stable_sort(m_fields.begin() + std::ptrdiff_t(first), m_fields.end(),
            [](const WireField &a, const WireField &b) { return a.number < b.number; });
    }
    return true;
}

// All members of a message, into the object that is open. An inline message has the object, and
// what is known of it, of the one around it.
bool ProtobufReader::members( // NOLINT(misc-no-recursion)
    std::string_view message, std::uint16_t type, Similar &similars, bool isRoot)
{
    const std::size_t begin = m_fields.size();
    if (++m_depth > kMaxDepth)
        return fail("nested deeper than 1024 levels", message.data());
    if (!gather(message))
        return false;
    const std::size_t end = m_fields.size();
    const ProtobufMessage &form = m_schema->messages[type];
    std::size_t at = begin;
    const char *place = message.data();
    for (std::uint32_t i = 0; i < form.fieldCount; ++i) {
        const ProtobufField &field = m_schema->fields[form.firstField + i];
        if (at < end && m_fields[at].number < field.number)
            break;
        std::size_t last = at;
        while (last < end && m_fields[last].number == field.number)
            ++last;
        if (isRoot && !m_selection.wantsMember(m_schema->nameOf(field))) {
            at = last;
            continue;
        }
        if (isRoot && last > at && *m_known && m_schema->nameOf(field) == "metadata") {
            Known root = m_last.rootAs(findKnown(m_fields[last - 1].bytes));
            if (m_lastType != m_type)
                root.span = LastDocument::kNoSpan;
            similars.set(root);
        }
        const char *const next = last > at ? m_fields[last - 1].end : place;
        if (last > at ? !present(field, at, last, similars) : !absent(field, place))
            return false;
        place = next;
        at = last;
    }
    if (at < end)
        return failUnknown("a field that this version of davit does not know", m_fields[at].begin);
    m_fields.resize(begin);
    --m_depth;
    return true;
}

bool ProtobufReader::present( // NOLINT(misc-no-recursion)
    const ProtobufField &field, std::size_t first, std::size_t last, Similar &similars)
{
    const std::string_view name = m_schema->nameOf(field);
    if (m_depth == 2 && !m_selection.wantsMetadata(name)) // of the object's own metadata
        return true;
    for (std::size_t i = first; i < last; ++i) {
        const bool isPacked = field.form == Form::List && wireTypeOf(field.kind) == WireType::Varint
            && m_fields[i].type == WireType::Bytes;
        const WireType wanted = field.form == Form::Map ? WireType::Bytes : wireTypeOf(field.kind);
        if (m_fields[i].type != wanted && !isPacked)
            return fail(kWrongType, m_fields[i].begin);
    }
    switch (field.form) {
    case Form::List:
        m_builder->key(name);
        return list(field, first, last, similars.find(name));
    case Form::Map:
        m_builder->key(name);
        return map(field, first, last, similars.find(name));
    case Form::Single:
        break;
    }
    if (last - first > 1 && wireTypeOf(field.kind) == WireType::Bytes && field.kind != Kind::String
        && field.kind != Kind::Bytes)
        return failUnknown("a message that was sent in parts", m_fields[first].begin);
    return single(field, WireField(m_fields[last - 1]), similars);
}

bool ProtobufReader::single( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const WireField &wire, Similar &similars)
{
    if (field.kind == Kind::Inline)
        return members(wire.bytes, field.message, similars, false);
    if (field.omitsEmpty && wire.bytes.empty() && wire.value == 0)
        return true;
    const std::string_view name = m_schema->nameOf(field);
    m_builder->key(name);
    return value(field, wire, isContainer(field.kind) ? similars.find(name) : Known());
}

// What Go writes of a zero value that is not left out.
bool ProtobufReader::absent( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const char *at)
{
    if (field.kind == Kind::Inline) {
        Similar nothing({}, m_last);
        return members({at, 0}, field.message, nothing, false);
    }
    if (field.absent == Absent::Nothing)
        return true;
    m_builder->key(m_schema->nameOf(field));
    if (field.absent == Absent::Null) {
        m_builder->null();
        return true;
    }
    WireField empty;
    empty.bytes = {at, 0};
    empty.begin = empty.end = at;
    return value(field, empty, {});
}

// A container that is the known one, byte for byte.
bool ProtobufReader::takeKnown(std::string_view bytes, Known similar)
{
    return bytes.size() == m_last.sizeOf(similar)
        && m_last.take(bytes.data(), bytes.size(), similar, *m_builder) != 0;
}

bool ProtobufReader::list( // NOLINT(misc-no-recursion)
    const ProtobufField &field, std::size_t first, std::size_t last, Known similar)
{
    const char *const begin = m_fields[first].begin;
    const char *const end = m_fields[last - 1].end;
    if (m_isInOrder && takeKnown({begin, std::size_t(end - begin)}, similar))
        return true;
    const std::size_t span = m_last.enter(begin);
    Similar similars(similar, m_last);
    m_builder->startArray();
    for (std::size_t i = first; i < last; ++i) {
        const WireField wire = m_fields[i];
        if (wire.type == WireType::Bytes && wireTypeOf(field.kind) == WireType::Varint) {
            WireField element;
            for (const char *p = wire.bytes.data(); p != wire.end;) {
                p = priv::readVarint(p, wire.end, &element.value);
                if (p == nullptr)
                    return fail(kCut, wire.begin);
                if (!scalar(field, element))
                    return false;
            }
        } else if (!value(field, wire, isContainer(field.kind) ? similars.next() : Known())) {
            return false;
        }
    }
    m_last.leave(span, end);
    m_builder->endArray();
    return true;
}

bool ProtobufReader::map( // NOLINT(misc-no-recursion)
    const ProtobufField &field, std::size_t first, std::size_t last, Known similar)
{
    const char *const begin = m_fields[first].begin;
    const char *const end = m_fields[last - 1].end;
    if (m_isInOrder && takeKnown({begin, std::size_t(end - begin)}, similar))
        return true;
    const std::size_t span = m_last.enter(begin);
    Similar similars(similar, m_last);
    m_builder->startObject();
    for (std::size_t i = first; i < last; ++i) {
        std::string_view key = ""; // not null
        WireField wire;
        wire.type = wireTypeOf(field.kind);
        wire.begin = wire.end = m_fields[i].end;
        wire.bytes = {wire.begin, 0};
        WireField part;
        WireCursor cursor(m_fields[i].bytes);
        while (cursor.next(&part)) {
            if (part.number > 2)
                return failUnknown("a map's entry with a third field", part.begin);
            if (part.type != (part.number == 1 ? WireType::Bytes : wireTypeOf(field.kind)))
                return fail(kWrongType, part.begin);
            if (part.number == 1)
                key = part.bytes;
            else
                wire = part;
        }
        if (!cursor.isGood())
            return fail(kCut, cursor.at());
        if (!isUtf8(key))
            return failUnknown(kNoUtf8, key.data());
        m_builder->key(key);
        if (!value(field, wire, isContainer(field.kind) ? similars.find(key) : Known()))
            return false;
    }
    m_last.leave(span, end);
    m_builder->endObject();
    return true;
}

bool ProtobufReader::object( // NOLINT(misc-no-recursion)
    std::string_view message, std::uint16_t type, Known similar)
{
    if (takeKnown(message, similar))
        return true;
    const std::size_t span = m_last.enter(message.data());
    Similar similars(similar, m_last);
    m_builder->startObject();
    if (!members(message, type, similars, false))
        return false;
    m_last.leave(span, message.data() + message.size());
    m_builder->endObject();
    return true;
}

// Values ---------------------------------------------------------------------------------------

bool ProtobufReader::value( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const WireField &wire, Known similar)
{
    switch (field.kind) {
    case Kind::Message:
        return object(wire.bytes, field.message, similar);
    case Kind::Time:
    case Kind::MicroTime:
        return time(wire.bytes, field.kind == Kind::MicroTime);
    case Kind::Quantity:
        return quantity(wire.bytes);
    case Kind::IntOrString:
        return intOrString(wire.bytes);
    case Kind::RawJson:
        return rawJson(wire.bytes);
    case Kind::Strings:
        return strings(wire.bytes);
    default:
        return scalar(field, wire);
    }
}

bool ProtobufReader::scalar(const ProtobufField &field, const WireField &wire)
{
    switch (field.kind) {
    case Kind::Bool:
        m_builder->boolean(wire.value != 0);
        return true;
    case Kind::Int:
        m_builder->integer(std::int64_t(wire.value));
        return true;
    case Kind::UInt:
        m_builder->unsignedInteger(wire.value);
        return true;
    case Kind::Double: {
        constexpr double kExact = 9007199254740992.0;
        const auto number = std::bit_cast<double>(wire.value);
        if (!std::isfinite(number))
            return fail("a number that JSON does not have", wire.begin);
        if (std::trunc(number) == number && std::abs(number) < kExact)
            m_builder->integer(std::int64_t(number));
        else
            m_builder->number(number);
        return true;
    }
    case Kind::Bytes: {
        const QByteArray base64
            = QByteArray::fromRawData(wire.bytes.data(), qsizetype(wire.bytes.size())).toBase64();
        m_builder->string({base64.constData(), std::size_t(base64.size())});
        return true;
    }
    default:
        return text(wire.bytes);
    }
}

bool ProtobufReader::text(std::string_view text)
{
    if (!isUtf8(text))
        return failUnknown(kNoUtf8, text.data());
    m_builder->string(text);
    return true;
}

bool ProtobufReader::time(std::string_view message, bool isMicro)
{
    if (message.empty()) {
        m_builder->null();
        return true;
    }
    std::int64_t seconds = 0;
    std::int64_t nanos = 0;
    WireField part;
    WireCursor cursor(message);
    while (cursor.next(&part)) {
        if (part.number > 2)
            return failUnknown("a time with a third field", part.begin);
        if (part.type != WireType::Varint)
            return fail(kWrongType, part.begin);
        (part.number == 1 ? seconds : nanos) = std::int64_t(part.value);
    }
    if (!cursor.isGood())
        return fail(kCut, cursor.at());
    char out[40];
    const bool isInRange = !isMicro || (nanos >= 0 && nanos < 1000000000);
    const std::string_view text
        = isInRange ? timeText(seconds, unsigned(nanos / 1000), isMicro, out) : std::string_view();
    if (text.empty())
        return failUnknown(kBadTime, message.data());
    m_builder->string(text);
    return true;
}

bool ProtobufReader::onlyField(std::string_view message, std::string_view *bytes)
{
    WireField part;
    WireCursor cursor(message);
    while (cursor.next(&part)) {
        if (part.number != 1)
            return failUnknown("a field that this version of davit does not know", part.begin);
        if (part.type != WireType::Bytes)
            return fail(kWrongType, part.begin);
        *bytes = part.bytes;
    }
    return cursor.isGood() || fail(kCut, cursor.at());
}

bool ProtobufReader::quantity(std::string_view message)
{
    std::string_view amount;
    return onlyField(message, &amount) && text(amount.empty() ? "0" : amount);
}

bool ProtobufReader::intOrString(std::string_view message)
{
    bool isString = false;
    std::int64_t number = 0;
    std::string_view string = ""; // not null
    WireField part;
    WireCursor cursor(message);
    while (cursor.next(&part)) {
        if (part.number > 3)
            return failUnknown("an IntOrString with a fourth field", part.begin);
        if (part.type != (part.number == 3 ? WireType::Bytes : WireType::Varint))
            return fail(kWrongType, part.begin);
        if (part.number == 1)
            isString = part.value != 0;
        else if (part.number == 2)
            number = std::int64_t(part.value);
        else
            string = part.bytes;
    }
    if (!cursor.isGood())
        return fail(kCut, cursor.at());
    if (isString)
        return text(string);
    m_builder->integer(number);
    return true;
}

bool ProtobufReader::rawJson(std::string_view message)
{
    std::string_view json;
    if (!onlyField(message, &json))
        return false;
    if (json.empty()) {
        m_builder->null();
        return true;
    }
    if (json.starts_with(std::string_view(kMagic, sizeof kMagic)))
        return failUnknown("an object in protobuf within another", json.data());
    if (!m_json.readValue(json, *m_builder))
        return fail(m_json.error(), json.data() + m_json.errorByte());
    const char first = json[json.find_first_not_of(" \t\r\n")];
    if (first == '{' || first == '[')
        m_last.addWhole(json.data(), json.data() + json.size());
    return true;
}

bool ProtobufReader::strings(std::string_view message)
{
    const std::size_t span = m_last.enter(message.data());
    m_builder->startArray();
    WireField part;
    WireCursor cursor(message);
    while (cursor.next(&part)) {
        if (part.number != 1)
            return failUnknown("a list with a second field", part.begin);
        if (part.type != WireType::Bytes)
            return fail(kWrongType, part.begin);
        if (!text(part.bytes))
            return false;
    }
    if (!cursor.isGood())
        return fail(kCut, cursor.at());
    m_last.leave(span, message.data() + message.size());
    m_builder->endArray();
    return true;
}

// Name and namespace of ObjectMeta; what is wrong there is found by who reads it.
Place ProtobufReader::findKnown(std::string_view metadata)
{
    std::string_view name;
    std::string_view namespaceName;
    WireField part;
    WireCursor cursor(metadata);
    while (cursor.next(&part) && part.number <= 3) {
        if (part.number == 1)
            name = part.bytes;
        else if (part.number == 3)
            namespaceName = part.bytes;
    }
    return (*m_known)(namespaceName, name);
}

} // namespace davit::priv::pool
