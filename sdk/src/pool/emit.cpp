// Walking parsed documents.
#include "emit.h"

#include <charconv>
#include <cmath>

namespace davit::priv::pool {
namespace {

using Kind = JsonEvent::Kind;
using simdjson::dom::element_type;

// As simdjson reads it, where it does; else as text.
void emitNumber(std::string_view text, TreeBuilder &builder)
{
    const char *const end = text.data() + text.size();
    const bool isWhole = text.find_first_of(".eE") == std::string_view::npos;
    std::int64_t whole = 0;
    std::uint64_t positive = 0;
    if (isWhole && text != "-0") {
        if (std::from_chars(text.data(), end, whole).ec == std::errc())
            return builder.integer(whole);
        if (std::from_chars(text.data(), end, positive).ec == std::errc())
            return builder.unsignedInteger(positive);
    } else if (!isWhole) {
        const double real = readNumber(text);
        if (std::isfinite(real))
            return builder.number(real);
    }
    builder.numberText(text);
}

class DomEmitter
{
public:
    DomEmitter(const Selection &selection, TreeBuilder &builder)
        : m_selection(selection), m_builder(builder)
    { }

    void root(simdjson::dom::object object)
    {
        m_builder.startObject();
        implied(object, "apiVersion", m_selection.apiVersion);
        implied(object, "kind", m_selection.kind);
        for (const auto &[name, value] : object) {
            if (!m_selection.wantsMember(name))
                continue;
            m_builder.key(name);
            if (name == "metadata" && value.is_object())
                metadata(value.get_object().value_unsafe());
            else
                element(value);
        }
        m_builder.endObject();
    }
    bool sawZero() const { return m_sawZero; }

private:
    void implied(simdjson::dom::object object, std::string_view name, std::string_view text)
    {
        if (text.empty() || object.at_key(name).error() == simdjson::SUCCESS)
            return;
        m_builder.key(name);
        m_builder.string(text);
    }

    void metadata(simdjson::dom::object object)
    {
        m_builder.startObject();
        for (const auto &[name, value] : object) {
            if (!m_selection.wantsMetadata(name))
                continue;
            m_builder.key(name);
            element(value);
        }
        m_builder.endObject();
    }

    // Depth is bounded by the parser's own limit.
    void element(simdjson::dom::element value) // NOLINT(misc-no-recursion)
    {
        switch (value.type()) {
        case element_type::OBJECT: {
            // Named: value_unsafe() refers into the temporary result.
            const simdjson::dom::object object = value.get_object().value_unsafe();
            m_builder.startObject();
            for (const auto &[name, child] : object) {
                m_builder.key(name);
                element(child);
            }
            m_builder.endObject();
            break;
        }
        case element_type::ARRAY: {
            const simdjson::dom::array array = value.get_array().value_unsafe();
            m_builder.startArray();
            for (const auto child : array)
                element(child);
            m_builder.endArray();
            break;
        }
        case element_type::STRING:
            m_builder.string(value.get_string().value_unsafe());
            break;
        case element_type::INT64: {
            const std::int64_t number = value.get_int64().value_unsafe();
            m_sawZero = m_sawZero || number == 0;
            m_builder.integer(number);
            break;
        }
        case element_type::UINT64:
            m_builder.unsignedInteger(value.get_uint64().value_unsafe());
            break;
        case element_type::DOUBLE:
            m_builder.number(value.get_double().value_unsafe());
            break;
        case element_type::BOOL:
            m_builder.boolean(value.get_bool().value_unsafe());
            break;
        case element_type::NULL_VALUE:
            m_builder.null();
            break;
        }
    }

    const Selection &m_selection;
    TreeBuilder &m_builder;
    bool m_sawZero = false;
};

std::size_t behind(const JsonTape &tape, std::size_t at)
{
    const JsonEvent &event = tape.events[at];
    const bool isContainer = event.kind == Kind::StartObject || event.kind == Kind::StartArray;
    return isContainer ? event.size : at + 1;
}

bool hasMember(const JsonTape &tape, std::string_view name)
{
    for (std::size_t at = 1; tape.events[at].kind == Kind::Key; at = behind(tape, at + 1)) {
        if (tape.textOf(tape.events[at]) == name)
            return true;
    }
    return false;
}

} // namespace

bool Selection::wantsMember(std::string_view name) const noexcept
{
    return depth == Depth::Full || name == "metadata" || name == "apiVersion" || name == "kind";
}

bool Selection::wantsMetadata(std::string_view name) const noexcept
{
    return managedFields == ManagedFields::Keep || name != "managedFields";
}

std::size_t emitTape(const JsonTape &tape, std::size_t at, TreeBuilder &builder)
{
    const std::size_t end = behind(tape, at);
    for (; at < end; ++at) {
        const JsonEvent &event = tape.events[at];
        switch (event.kind) {
        case Kind::StartObject:
            builder.startObject();
            break;
        case Kind::EndObject:
            builder.endObject();
            break;
        case Kind::StartArray:
            builder.startArray();
            break;
        case Kind::EndArray:
            builder.endArray();
            break;
        case Kind::Key:
            builder.key(tape.textOf(event));
            break;
        case Kind::String:
            builder.string(tape.textOf(event));
            break;
        case Kind::Number:
            emitNumber(tape.textOf(event), builder);
            break;
        case Kind::True:
            builder.boolean(true);
            break;
        case Kind::False:
            builder.boolean(false);
            break;
        case Kind::Null:
            builder.null();
            break;
        }
    }
    return end;
}

void emitTapeObject(const JsonTape &tape, const Selection &selection, TreeBuilder &builder)
{
    const auto implied = [&](std::string_view name, std::string_view text) {
        if (text.empty() || hasMember(tape, name))
            return;
        builder.key(name);
        builder.string(text);
    };
    builder.startObject();
    implied("apiVersion", selection.apiVersion);
    implied("kind", selection.kind);
    for (std::size_t at = 1; tape.events[at].kind == Kind::Key;) {
        const std::string_view name = tape.textOf(tape.events[at]);
        const std::size_t value = at + 1;
        at = behind(tape, value);
        if (!selection.wantsMember(name))
            continue;
        builder.key(name);
        if (name != "metadata" || tape.events[value].kind != Kind::StartObject) {
            emitTape(tape, value, builder);
            continue;
        }
        builder.startObject();
        for (std::size_t in = value + 1; tape.events[in].kind == Kind::Key;) {
            const std::string_view inner = tape.textOf(tape.events[in]);
            const std::size_t innerValue = in + 1;
            in = behind(tape, innerValue);
            if (!selection.wantsMetadata(inner))
                continue;
            builder.key(inner);
            emitTape(tape, innerValue, builder);
        }
        builder.endObject();
    }
    builder.endObject();
}

bool emitDomObject(simdjson::dom::object root, const Selection &selection, TreeBuilder &builder)
{
    DomEmitter emitter(selection, builder);
    emitter.root(root);
    return !emitter.sawZero();
}

} // namespace davit::priv::pool
