// The schema's text.
#include "kubernetesschema.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace davit::codec {
namespace {

using priv::ProtobufField;
using Kind = ProtobufField::Kind;

constexpr std::string_view kBuiltIn =
#include "kubernetesschema.inc"
    ;

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"string", Kind::String},
    {"bytes", Kind::Bytes},
    {"bool", Kind::Bool},
    {"int", Kind::Int},
    {"uint", Kind::UInt},
    {"double", Kind::Double},
    {"message", Kind::Message},
    {"inline", Kind::Inline},
    {"time", Kind::Time},
    {"microtime", Kind::MicroTime},
    {"quantity", Kind::Quantity},
    {"intorstring", Kind::IntOrString},
    {"rawjson", Kind::RawJson},
    {"strings", Kind::Strings},
};

std::string_view takeWord(std::string_view *line)
{
    const std::size_t size = std::min(line->find(' '), line->size());
    const std::string_view word = line->substr(0, size);
    line->remove_prefix(std::min(size + 1, line->size()));
    return word;
}

} // namespace

class KubernetesSchema::Reader
{
public:
    explicit Reader(KubernetesSchema &schema)
        : m_kinds(schema.m_messages), m_schema(schema.m_schema)
    { }

    // What is wrong with the line, or null.
    const char *line(std::string_view line);
    const char *finish() const;

private:
    const char *kind(std::string_view line);
    const char *field(std::uint16_t number, std::string_view line);
    const char *flag(std::string_view word, ProtobufField *field) const;
    std::uint32_t nameAt(std::string_view name);
    int messageNamed(std::string_view name);

    QHash<Gvk, int> &m_kinds;
    priv::ProtobufSchema &m_schema;
    std::unordered_map<std::string_view, std::uint32_t> m_names;
    std::unordered_map<std::string_view, int> m_messages; // those that are only referred to as well
    std::vector<bool> m_isDefined;
    std::ptrdiff_t m_current = -1; // the message whose fields come
};

int KubernetesSchema::Reader::messageNamed(std::string_view name)
{
    const auto [at, isNew] = m_messages.try_emplace(name, int(m_messages.size()));
    if (isNew) {
        m_schema.messages.emplace_back();
        m_isDefined.push_back(false);
    }
    return at->second;
}

std::uint32_t KubernetesSchema::Reader::nameAt(std::string_view name)
{
    const auto [at, isNew] = m_names.try_emplace(name, std::uint32_t(m_schema.names.size()));
    if (isNew)
        m_schema.names += name;
    return at->second;
}

const char *KubernetesSchema::Reader::line(std::string_view line)
{
    const std::string_view first = takeWord(&line);
    if (first.empty() || first.front() == '#')
        return nullptr;
    if (first == "kind")
        return kind(line);
    if (first == "message") {
        const auto message = std::size_t(messageNamed(line));
        if (m_isDefined[message])
            return "a message that was there before";
        m_isDefined[message] = true;
        m_current = std::ptrdiff_t(message);
        m_schema.messages[message].firstField = std::uint32_t(m_schema.fields.size());
        return nullptr;
    }
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), number);
    if (error != std::errc() || end != first.data() + first.size() || number == 0)
        return "neither a kind nor a message nor a field";
    return field(number, line);
}

const char *KubernetesSchema::Reader::kind(std::string_view line)
{
    const auto text = [&line] {
        const std::string_view word = takeWord(&line);
        return QString::fromLatin1(word.data(), qsizetype(word.size()));
    };
    const QString groupVersion = text();
    const Gvk gvk = gvkFrom(groupVersion, text());
    if (line.empty() || gvk.kind.isEmpty())
        return "a kind without its message";
    m_kinds.insert(gvk, messageNamed(line));
    return nullptr;
}

const char *KubernetesSchema::Reader::field(std::uint16_t number, std::string_view line)
{
    ProtobufField field;
    field.number = number;
    const std::string_view name = takeWord(&line);
    std::string_view word = takeWord(&line);
    if (word == "list" || word == "map") {
        field.form = word == "list" ? ProtobufField::Form::List : ProtobufField::Form::Map;
        word = takeWord(&line);
    }
    const auto *const known = std::find_if(std::begin(kKinds), std::end(kKinds),
        [word](const auto &entry) { return entry.first == word; });
    if (known == std::end(kKinds) || name.size() > std::numeric_limits<std::uint8_t>::max())
        return "a field of an unknown kind";
    field.kind = known->second;
    field.nameSize = std::uint8_t(name.size());
    field.nameBegin = nameAt(name);
    if (field.kind == Kind::Message || field.kind == Kind::Inline) {
        const std::string_view message = takeWord(&line);
        if (message.empty())
            return "a field without its message";
        field.message = std::uint16_t(messageNamed(message));
    }
    if (const char *wrong = flag(line, &field))
        return wrong;
    if (m_current < 0)
        return "a field before the first message";
    priv::ProtobufMessage &message = m_schema.messages[std::size_t(m_current)];
    if (message.fieldCount > 0 && m_schema.fields.back().number >= number)
        return "a field whose number is not above the last one's";
    ++message.fieldCount;
    m_schema.fields.push_back(field);
    return nullptr;
}

const char *KubernetesSchema::Reader::flag(std::string_view word, ProtobufField *field) const
{
    if (word == "omitempty")
        field->omitsEmpty = true;
    else if (word == "null")
        field->absent = ProtobufField::Absent::Null;
    else if (word == "zero")
        field->absent = ProtobufField::Absent::Zero;
    else if (!word.empty())
        return "a word behind the field that means nothing";
    return nullptr;
}

const char *KubernetesSchema::Reader::finish() const
{
    const bool isWhole
        = std::find(m_isDefined.begin(), m_isDefined.end(), false) == m_isDefined.end();
    return isWhole ? nullptr : "a message that is referred to is missing";
}

Error KubernetesSchema::read(std::string_view text, KubernetesSchema *schema)
{
    *schema = {};
    Reader reader(*schema);
    int number = 0;
    const auto fault = [&number](const char *what) {
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("schema, line %1: %2").arg(number).arg(QLatin1StringView(what)));
    };
    while (!text.empty()) {
        const std::size_t size = std::min(text.find('\n'), text.size());
        ++number;
        if (const char *what = reader.line(text.substr(0, size)))
            return fault(what);
        text.remove_prefix(std::min(size + 1, text.size()));
    }
    const char *const what = reader.finish();
    return what == nullptr ? Error() : fault(what);
}

const KubernetesSchema &KubernetesSchema::builtIn()
{
    static const KubernetesSchema schema = [] {
        KubernetesSchema read;
        const Error error = KubernetesSchema::read(kBuiltIn, &read);
        Q_ASSERT(!error.isError());
        return read;
    }();
    return schema;
}

int KubernetesSchema::messageOf(const Gvk &gvk) const
{
    return m_messages.value(gvk, -1);
}

} // namespace davit::codec
