#include "yaml.h"

#include "memberindex.h"

#include <QtCore/qutf8stringview.h>
#include <cmath>
#include <sstream>
#include <unordered_set>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace davit::support {
namespace {

constexpr int kMaxNodes = 1'000'000;

class YamlFault
{
public:
    YamlFault(const YAML::Mark &mark, const QString &what)
        : m_text(mark.line >= 0 ? QStringLiteral("line %1: %2").arg(mark.line + 1).arg(what) : what)
    { }
    QString text() const { return m_text; }

private:
    QString m_text;
};

bool isOneOf(const std::string &text, std::initializer_list<const char *> words)
{
    for (const char *word : words)
        if (text == word)
            return true;
    return false;
}

// Digits of the base with single or repeated _ between them; empty when the text is something else.
std::string digitsOf(std::string_view text, int base)
{
    std::string digits;
    for (const char c : text) {
        if (c == '_' && !digits.empty())
            continue;
        const int value = c >= '0' && c <= '9' ? c - '0'
            : c >= 'a' && c <= 'f'             ? c - 'a' + 10
            : c >= 'A' && c <= 'F'             ? c - 'A' + 10
                                               : 99;
        if (value >= base)
            return {};
        digits += c;
    }
    return digits;
}

bool integerFromDigits(const std::string &digits, int base, bool isNegative, Json *value)
{
    if (digits.empty())
        return false;
    errno = 0;
    const unsigned long long magnitude = std::strtoull(digits.c_str(), nullptr, base);
    if (errno == ERANGE)
        return false;
    if (!isNegative) {
        if (magnitude <= 0x7fffffffffffffffULL)
            *value = std::int64_t(magnitude);
        else
            *value = std::uint64_t(magnitude);
        return true;
    }
    if (magnitude > 0x8000000000000000ULL)
        return false;
    *value = std::int64_t(~magnitude + 1);
    return true;
}

bool integerOf(std::string_view text, Json *value)
{
    const bool isNegative = !text.empty() && text.front() == '-';
    if (!text.empty() && (text.front() == '-' || text.front() == '+'))
        text.remove_prefix(1);
    if (text.size() > 2 && text[0] == '0') {
        const char letter = text[1];
        const int base = letter == 'x' || letter == 'X' ? 16
            : letter == 'b' || letter == 'B'            ? 2
            : letter == 'o' || letter == 'O'            ? 8
                                                        : 0;
        if (base != 0)
            return integerFromDigits(digitsOf(text.substr(2), base), base, isNegative, value);
    }
    if (text.size() > 1 && text[0] == '0'
        && integerFromDigits(digitsOf(text, 8), 8, isNegative, value))
        return true;
    return integerFromDigits(digitsOf(text, 10), 10, isNegative, value);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looksLikeFloat(const std::string &text)
{
    std::size_t i = 0;
    const auto digits = [&] {
        const std::size_t start = i;
        while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])))
            ++i;
        return i - start;
    };
    if (i < text.size() && (text[i] == '-' || text[i] == '+'))
        ++i;
    const std::size_t whole = digits();
    std::size_t fraction = 0;
    if (i < text.size() && text[i] == '.') {
        ++i;
        fraction = digits();
    }
    if (whole + fraction == 0)
        return false;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '-' || text[i] == '+'))
            ++i;
        if (digits() == 0)
            return false;
    }
    return i == text.size();
}

Json numberFromDouble(double number)
{
    if (std::nearbyint(number) == number && std::fabs(number) < 9e15)
        return std::int64_t(number);
    return number;
}

Json plainScalar(const std::string &text, const YAML::Mark &mark)
{
    if (isOneOf(text, {"", "~", "null", "Null", "NULL"}))
        return nullptr;
    if (isOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
        return true;
    if (isOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
        return false;
    if (isOneOf(text,
            {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                ".NaN", ".NAN"}))
        throw YamlFault(
            mark, QStringLiteral("%1 has no form in JSON").arg(QString::fromStdString(text)));
    Json value;
    if (integerOf(text, &value))
        return value;
    if (looksLikeFloat(text)) {
        const double number = std::strtod(text.c_str(), nullptr);
        if (std::isfinite(number))
            return numberFromDouble(number);
    }
    return text;
}

Json scalar(const YAML::Node &node)
{
    const std::string &tag = node.Tag();
    const std::string &text = node.Scalar();
    if (tag == "?" || tag.empty())
        return plainScalar(text, node.Mark());
    if (tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:float"
        || tag == "tag:yaml.org,2002:bool" || tag == "tag:yaml.org,2002:null")
        return plainScalar(text, node.Mark());
    if (tag == "tag:yaml.org,2002:binary") {
        const auto decoded = QByteArray::fromBase64Encoding(QByteArray::fromStdString(text));
        if (!decoded)
            throw YamlFault(node.Mark(), QStringLiteral("!!binary is not base64"));
        return toStdString(*decoded);
    }
    return text; // "!" stands for quoted; !!str and tags that nobody knows
}

class Converter
{
public:
    explicit Converter(SameKeys sameKeys) : m_sameKeys(sameKeys) { }

    Json convert(const YAML::Node &node, int depth)
    {
        if (depth > kMaxJsonDepth)
            throw YamlFault(node.Mark(), QStringLiteral("nested too deep"));
        if (++m_nodes > kMaxNodes)
            throw YamlFault(
                node.Mark(), QStringLiteral("too many nodes (aliases count each time)"));
        switch (node.Type()) {
        case YAML::NodeType::Scalar:
            return scalar(node);
        case YAML::NodeType::Sequence:
            return sequence(node, depth);
        case YAML::NodeType::Map:
            return map(node, depth);
        case YAML::NodeType::Null:
        case YAML::NodeType::Undefined:
            break;
        }
        return nullptr;
    }

private:
    Json sequence(const YAML::Node &node, int depth)
    {
        Json list = Json::array();
        for (const YAML::Node &item : node)
            list.push_back(convert(item, depth + 1));
        return list;
    }

    Json map(const YAML::Node &node, int depth)
    {
        Json object = Json::object();
        MemberIndex index;
        std::unordered_set<std::string> explicitKeys; // a merged one may be overridden
        for (const auto &member : node)
            if (isMergeKey(member.first))
                mergeInto(object, index, member.second, depth);
        for (const auto &member : node)
            if (!isMergeKey(member.first)) {
                const std::string key = keyText(member.first);
                if (m_sameKeys == SameKeys::AreFaults && !explicitKeys.insert(key).second)
                    throw YamlFault(member.first.Mark(),
                        QStringLiteral("the key \"%1\" stands twice in one map; remove one")
                            .arg(QString::fromStdString(key)));
                *index.slot(object, key).first = convert(member.second, depth + 1);
            }
        return object;
    }

    // Explicit members win over merged ones, earlier merged maps over later ones.
    void mergeInto(Json &object, MemberIndex &index, const YAML::Node &source, int depth)
    {
        if (source.IsSequence()) {
            for (const YAML::Node &item : source)
                mergeInto(object, index, item, depth + 1);
            return;
        }
        if (!source.IsMap())
            throw YamlFault(source.Mark(), QStringLiteral("<< needs a map or a list of maps"));
        const Json merged = convert(source, depth + 1);
        for (const auto &[name, value] : merged.items())
            if (const auto [slot, isNew] = index.slot(object, name); isNew)
                *slot = value;
    }

    static bool isMergeKey(const YAML::Node &key)
    {
        return key.IsScalar() && key.Scalar() == "<<" && key.Tag() == "?";
    }

    static std::string keyText(const YAML::Node &key)
    {
        if (key.IsNull())
            throw YamlFault(key.Mark(), QStringLiteral("null is no key"));
        if (!key.IsScalar())
            throw YamlFault(key.Mark(), QStringLiteral("a key must be a scalar"));
        const Json value = scalar(key);
        if (value.is_string())
            return value.get<std::string>();
        if (value.is_null())
            throw YamlFault(key.Mark(), QStringLiteral("null is no key"));
        return value.dump();
    }

    const SameKeys m_sameKeys;
    int m_nodes = 0;
};

// yaml-cpp (0.7 and 0.8) makes documents without end, and eats all memory, of a text that goes on
// with something that starts none: a comma outside of brackets. Can go when it says so itself.
class ProgressCheck final : public YAML::EventHandler
{
public:
    void OnDocumentStart(const YAML::Mark &mark) override
    {
        if (mark.pos == m_startedAt)
            throw YamlFault(mark, QStringLiteral("this starts no value"));
        m_startedAt = mark.pos;
    }
    void OnDocumentEnd() override { }
    void OnNull(const YAML::Mark &, YAML::anchor_t) override { }
    void OnAlias(const YAML::Mark &, YAML::anchor_t) override { }
    void OnScalar(
        const YAML::Mark &, const std::string &, YAML::anchor_t, const std::string &) override
    { }
    void OnSequenceStart(
        const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override
    { }
    void OnSequenceEnd() override { }
    void OnMapStart(
        const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override
    { }
    void OnMapEnd() override { }

private:
    int m_startedAt = -1;
};

void checkProgress(const std::string &text)
{
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    ProgressCheck check;
    while (parser.HandleNextDocument(check)) { }
}

// yaml-cpp takes other encodings too, and of what is none of them a part, in silence.
QString noText(QByteArrayView text)
{
    if (!QUtf8StringView(text.data(), text.size()).isValidUtf8())
        return QStringLiteral("it is not UTF-8 text, save it as UTF-8");
    if (text.contains('\0'))
        return QStringLiteral("it holds a NUL character, remove it");
    return {};
}

} // namespace

YamlDocuments yamlToJson(QByteArrayView text, SameKeys sameKeys)
{
    YamlDocuments result;
    result.error = noText(text);
    if (!result.isOk())
        return result;
    try {
        const std::string source = toStdString(text);
        checkProgress(source);
        Converter converter(sameKeys);
        for (const YAML::Node &document : YAML::LoadAll(source))
            if (document.IsDefined() && !document.IsNull())
                result.documents.append(dumpJson(converter.convert(document, 1)));
    } catch (const YamlFault &fault) {
        result.error = fault.text();
    } catch (const YAML::Exception &e) {
        result.error = YamlFault(e.mark, QString::fromStdString(e.msg)).text();
    } catch (const std::exception &e) {
        result.error = QStringLiteral("YAML cannot be read: %1").arg(QString::fromUtf8(e.what()));
    }
    if (!result.isOk())
        result.documents.clear();
    return result;
}

} // namespace davit::support
