// Reading protobuf messages.
#include "protobufreader.h"

#include <QtCore/qbytearray.h>
#include <bit>
#include <chrono>
#include <cmath>
#include <simdjson.h>

namespace davit::priv::pool {
namespace {

using Kind = ProtobufField::Kind;
using Form = ProtobufField::Form;
using Absent = ProtobufField::Absent;

constexpr const char *kCut = "a field is cut or is no protobuf";
constexpr const char *kWrongType = "a field has another wire type than its kind";
constexpr const char *kNoOrder = "fields that are not in the order of their numbers";
constexpr const char *kUnknownField = "a field that this version of davit does not know";
// The server's JSON has another text in its place.
constexpr const char *kNoUtf8 = "bytes that are not UTF-8";
constexpr const char *kBadTime = "a time beyond the years 0 to 9999";
constexpr char kMagic[] = {'k', '8', 's', '\0'}; // C-28

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
    std::uint16_t type, const Selection &selection, TreeBuilder &builder)
{
    const bool isLikeLast = m_schema == &schema && m_type == type
        && m_selection.managedFields == selection.managedFields
        && m_selection.depth == selection.depth;
    if (!isLikeLast)
        m_last.forget();
    m_schema = &schema;
    m_builder = &builder;
    m_begin = m_at = message.data();
    m_error = nullptr;
    m_isUnknownField = false;
    m_type = type;
    m_depth = 0;
    m_selection = selection;
    m_last.start(message);
    builder.startObject();
    if (!selection.apiVersion.empty()) {
        builder.key("apiVersion");
        builder.string(selection.apiVersion);
    }
    if (!selection.kind.empty()) {
        builder.key("kind");
        builder.string(selection.kind);
    }
    const std::size_t span = m_last.enter(m_begin, 0);
    if (!members(message, type, {m_last, m_last.root()}))
        return false;
    m_last.leave(span, m_begin + message.size(), 0);
    builder.endObject();
    return true;
}

void ProtobufReader::remember(Place, const TreeBuilder &builder)
{
    m_last.remember(builder);
}

// Messages -------------------------------------------------------------------------------------

// All members of a message, into the object that is open. Servers send fields in the order of
// their numbers, those of one number together.
bool ProtobufReader::members( // NOLINT(misc-no-recursion)
    std::string_view message, std::uint16_t type, Within within)
{
    if (++m_depth > kMaxDepth)
        return fail("nested deeper than 1024 levels", message.data());
    const ProtobufMessage &form = m_schema->messages[type];
    const ProtobufField *field = m_schema->fields.data() + form.firstField;
    const ProtobufField *const end = field + form.fieldCount;
    std::uint32_t number = 0;
    WireCursor cursor(message);
    WireField wire;
    for (bool isThere = cursor.next(&wire); isThere; ++field) {
        for (; field != end && field->number < wire.number; ++field) {
            if (!absent(*field, wire.begin))
                return false;
        }
        if (field == end || field->number != wire.number)
            return failUnknown(wire.number < number ? kNoOrder : kUnknownField, wire.begin);
        number = wire.number;
        Run run{wire, {wire.begin, std::size_t(wire.end - wire.begin)}, true};
        while ((isThere = cursor.next(&wire)) && wire.number == number) {
            run.bytes = {run.bytes.data(), std::size_t(wire.end - run.bytes.data())};
            run.isOne = false;
        }
        if (isWanted(*field) && !present(*field, run, within))
            return false;
    }
    if (!cursor.isGood())
        return fail(kCut, cursor.at());
    for (; field != end; ++field) {
        if (!absent(*field, message.data() + message.size()))
            return false;
    }
    --m_depth;
    return true;
}

bool ProtobufReader::isWanted(const ProtobufField &field) const
{
    if (m_depth == 1)
        return m_selection.wantsMember(m_schema->nameOf(field));
    return m_depth > 2 // of the object's own metadata
        || m_selection.wantsMetadata(m_schema->nameOf(field));
}

bool ProtobufReader::present( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const Run &run, Within &within)
{
    switch (field.form) {
    case Form::List:
        m_builder->key(m_schema->nameOf(field));
        return list(field, run.bytes, within.find(field.number));
    case Form::Map:
        m_builder->key(m_schema->nameOf(field));
        return map(field, run.bytes, within.find(field.number));
    case Form::Single:
        break;
    }
    if (!run.isOne)
        return failUnknown("a field that was sent in parts", run.bytes.data());
    if (run.first.type != wireTypeOf(field.kind))
        return fail(kWrongType, run.first.begin);
    return single(field, run.first, within);
}

bool ProtobufReader::single( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const WireField &wire, Within &within)
{
    if (field.kind == Kind::Inline) { // its members stand beside the others
        const std::size_t span = m_last.enter(wire.bytes.data(), field.number);
        if (!members(wire.bytes, field.message, {m_last, within.find(field.number)}))
            return false;
        m_last.leave(span, wire.end, 0);
        return true;
    }
    if (field.omitsEmpty && wire.bytes.empty() && wire.value == 0)
        return true;
    m_builder->key(m_schema->nameOf(field));
    return value(field, wire, field.number,
        field.kind == Kind::Message ? within.find(field.number) : LastMessage::kUnknown);
}

// What Go writes of a zero value that is not left out.
bool ProtobufReader::absent( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const char *at)
{
    const bool isSilent = field.absent == Absent::Nothing && field.kind != Kind::Inline;
    if (isSilent || !isWanted(field))
        return true;
    if (field.kind == Kind::Inline)
        return members({at, 0}, field.message, {});
    m_builder->key(m_schema->nameOf(field));
    if (field.absent == Absent::Null) {
        m_builder->null();
        return true;
    }
    WireField empty;
    empty.bytes = {at, 0};
    empty.begin = empty.end = at;
    return value(field, empty, field.number, LastMessage::kUnknown);
}

bool ProtobufReader::list( // NOLINT(misc-no-recursion)
    const ProtobufField &field, std::string_view run, Known known)
{
    if (m_last.take(run, known, *m_builder))
        return true;
    const std::size_t span = m_last.enter(run.data(), field.number);
    Within within(m_last, known);
    m_builder->startArray();
    WireField wire;
    for (WireCursor cursor(run); cursor.next(&wire);) {
        const WireType wanted = wireTypeOf(field.kind);
        if (wanted == WireType::Varint && wire.type == WireType::Bytes) {
            if (!packed(field, wire))
                return false;
            continue;
        }
        if (wire.type != wanted)
            return fail(kWrongType, wire.begin);
        const bool isMessage = field.kind == Kind::Message;
        if (!value(field, wire, 0, isMessage ? within.next() : LastMessage::kUnknown))
            return false;
    }
    m_last.leave(span, run.data() + run.size(), m_builder->endArray());
    return true;
}

bool ProtobufReader::packed(const ProtobufField &field, const WireField &wire)
{
    WireField element;
    for (const char *p = wire.bytes.data(); p != wire.end;) {
        p = priv::readVarint(p, wire.end, &element.value);
        if (p == nullptr)
            return fail(kCut, wire.begin);
        if (!scalar(field, element))
            return false;
    }
    return true;
}

bool ProtobufReader::map( // NOLINT(misc-no-recursion)
    const ProtobufField &field, std::string_view run, Known known)
{
    if (m_last.take(run, known, *m_builder))
        return true;
    const std::size_t span = m_last.enter(run.data(), field.number);
    m_builder->startObject();
    WireField wire;
    for (WireCursor cursor(run); cursor.next(&wire);) {
        if (wire.type != WireType::Bytes)
            return fail(kWrongType, wire.begin);
        if (!entry(field, wire))
            return false;
    }
    m_last.leave(span, run.data() + run.size(), m_builder->endObject());
    return true;
}

bool ProtobufReader::entry( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const WireField &wire)
{
    std::string_view key = ""; // not null
    WireField content;
    content.begin = content.end = wire.end;
    content.bytes = {wire.end, 0};
    WireField part;
    WireCursor cursor(wire.bytes);
    while (cursor.next(&part)) {
        if (part.number > 2)
            return failUnknown("a map's entry with a third field", part.begin);
        if (part.type != (part.number == 1 ? WireType::Bytes : wireTypeOf(field.kind)))
            return fail(kWrongType, part.begin);
        if (part.number == 1)
            key = part.bytes;
        else
            content = part;
    }
    if (!cursor.isGood())
        return fail(kCut, cursor.at());
    if (!isUtf8(key))
        return failUnknown(kNoUtf8, key.data());
    m_builder->key(key);
    return value(field, content, 0, LastMessage::kUnknown);
}

bool ProtobufReader::object( // NOLINT(misc-no-recursion)
    std::string_view message, std::uint16_t type, std::uint32_t number, Known known)
{
    if (m_last.take(message, known, *m_builder))
        return true;
    const std::size_t span = m_last.enter(message.data(), number);
    m_builder->startObject();
    if (!members(message, type, {m_last, known}))
        return false;
    m_last.leave(span, message.data() + message.size(), m_builder->endObject());
    return true;
}

// Values ---------------------------------------------------------------------------------------

// `known` is what field `number` held of a message; an element's number is 0.
bool ProtobufReader::value( // NOLINT(misc-no-recursion)
    const ProtobufField &field, const WireField &wire, std::uint32_t number, Known known)
{
    switch (field.kind) {
    case Kind::Message:
        return object(wire.bytes, field.message, number, known);
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
            return failUnknown(kUnknownField, part.begin);
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
    return true;
}

bool ProtobufReader::strings(std::string_view message)
{
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
    m_builder->endArray();
    return true;
}

} // namespace davit::priv::pool
