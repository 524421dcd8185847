#include "memberindex.h"

#include <algorithm>

namespace davit::support {
namespace {

// Builds the tree as Json::parse does, but objects with many members in linear time, and no deeper
// than kMaxJsonDepth.
class TreeBuilder
{
public:
    explicit TreeBuilder(Json *root) : m_root(root) { }

    QString error() const { return m_error; }

    bool null() { return put(nullptr); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(Json::number_integer_t value) { return put(value); }
    bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
    bool number_float(Json::number_float_t value, const std::string &) { return put(value); }
    bool string(std::string &value) { return put(std::move(value)); }
    bool binary(Json::binary_t &value) { return put(std::move(value)); }
    bool start_object(std::size_t) { return open(Json::object()); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string &name)
    {
        Level &level = m_open.back();
        m_slot = level.index.slot(*level.node, name).first;
        return true;
    }
    bool parse_error(std::size_t position, const std::string &, const Json::exception &e)
    {
        m_error = dynamic_cast<const Json::parse_error *>(&e)
            ? QStringLiteral("not JSON at byte %1").arg(quint64(position))
            : QStringLiteral("not JSON: %1").arg(QString::fromUtf8(e.what()));
        return false;
    }

private:
    struct Level
    {
        Json *node; // stays where it is while its own members are added
        MemberIndex index;
    };

    bool put(Json value)
    {
        place(std::move(value));
        return true;
    }

    bool open(Json value)
    {
        if (m_open.size() >= std::size_t(kMaxJsonDepth)) {
            m_error = QStringLiteral("JSON is nested more than %1 deep").arg(kMaxJsonDepth);
            return false;
        }
        m_open.push_back({place(std::move(value)), {}});
        return true;
    }

    bool close()
    {
        m_open.pop_back();
        return true;
    }

    Json *place(Json value)
    {
        if (!m_open.empty() && m_open.back().node->is_array()) {
            m_open.back().node->push_back(std::move(value));
            return &m_open.back().node->back();
        }
        Json *const spot = m_open.empty() ? m_root : m_slot;
        *spot = std::move(value);
        return spot;
    }

    Json *m_root;
    Json *m_slot = nullptr; // of the last key
    std::vector<Level> m_open;
    QString m_error;
};

} // namespace

bool parseJson(QByteArrayView text, Json *tree, QString *error)
{
    try {
        Json root;
        TreeBuilder builder(&root);
        if (Json::sax_parse(text.begin(), text.end(), &builder)) {
            *tree = std::move(root);
            return true;
        }
        *error = builder.error();
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

bool boolMember(const Json &object, const char *name, bool ifAbsent)
{
    if (!object.is_object())
        return ifAbsent;
    const auto found = object.find(name);
    return found != object.end() && found->is_boolean() ? found->get<bool>() : ifAbsent;
}

int intMember(const Json &object, const char *name)
{
    if (!object.is_object())
        return 0;
    const auto found = object.find(name);
    return found != object.end() && found->is_number_integer() ? found->get<int>() : 0;
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
        auto next = b.begin(); // mostly both have one order
        for (const auto &[name, value] : a.items()) {
            const auto other = next.key() == name ? next : b.find(name);
            ++next;
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
