#include "json.h"

#include <algorithm>

namespace davit::support {
namespace {

// The depth of nested arrays and objects, without a parse: strings are skipped, nothing is checked.
int nestingDepth(QByteArrayView text)
{
    int depth = 0;
    int deepest = 0;
    bool isInString = false;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isInString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                isInString = false;
        } else if (c == '"') {
            isInString = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return deepest;
}

} // namespace

bool parseJson(QByteArrayView text, Json *tree, QString *error)
{
    if (nestingDepth(text) > kMaxJsonDepth) {
        *error = QStringLiteral("JSON is nested more than %1 deep").arg(kMaxJsonDepth);
        return false;
    }
    try {
        *tree = Json::parse(text.begin(), text.end());
        return true;
    } catch (const Json::parse_error &e) {
        *error = QStringLiteral("not JSON at byte %1").arg(quint64(e.byte));
    } catch (const Json::exception &e) {
        *error = QStringLiteral("not JSON: %1").arg(QString::fromUtf8(e.what()));
    }
    return false;
}

QByteArray dumpJson(const Json &tree)
{
    return toByteArray(tree.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string stringMember(const Json &object, const char *name)
{
    if (!object.is_object())
        return {};
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json *objectMember(const Json &object, const char *name)
{
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found != object.end() && found->is_object() ? &*found : nullptr;
}

const Json *arrayMember(const Json &object, const char *name)
{
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found != object.end() && found->is_array() ? &*found : nullptr;
}

bool isSameJson(const Json &a, const Json &b)
{
    if (a.is_object() && b.is_object()) {
        if (a.size() != b.size())
            return false;
        for (const auto &[name, value] : a.items()) {
            const auto other = b.find(name);
            if (other == b.end() || !isSameJson(value, *other))
                return false;
        }
        return true;
    }
    if (a.is_array() && b.is_array())
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), isSameJson);
    return a == b;
}

const Json &membersOf(const Json &object, const char *name)
{
    static const Json none = Json::object();
    const Json *const member = objectMember(object, name);
    return member ? *member : none;
}

const Json &itemsOf(const Json &object, const char *name)
{
    static const Json none = Json::array();
    const Json *const member = arrayMember(object, name);
    return member ? *member : none;
}

} // namespace davit::support
