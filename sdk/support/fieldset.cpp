#include "fieldset.h"

#include "listkeys.h"

#include <algorithm>

namespace davit::support {
namespace {

bool isServersOwn(const FieldPath &names)
{
    static const std::set<std::string> metadata{"name", "namespace", "uid", "resourceVersion",
        "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generateName"};
    if (names.size() == 1)
        return names[0] == "apiVersion" || names[0] == "kind";
    return names.size() == 2 && names[0] == "metadata" && metadata.count(names[1]) != 0;
}

class LeafWalk
{
public:
    LeafWalk(const std::string &kind, FieldSet &set) : m_kind(kind), m_set(set) { }

    void object(const Json &value)
    {
        for (const auto &[name, member] : value.items()) {
            m_names.push_back(name);
            m_path.push_back("f:" + name);
            if (!isServersOwn(m_names))
                any(member);
            m_path.pop_back();
            m_names.pop_back();
        }
    }

private:
    void any(const Json &value)
    {
        if (value.is_object() && !value.empty())
            object(value);
        else if (value.is_array() && !value.empty())
            list(value);
        else if (m_names != FieldPath{"metadata"})
            m_set.add(m_path);
    }

    void list(const Json &value)
    {
        const ListRule &rule = listRuleFor(m_kind, m_names);
        if (rule.kind == ListKind::Atomic
            || (rule.kind == ListKind::ByKeys && !allHaveKeys(value, rule))) {
            m_set.add(m_path);
            return;
        }
        for (const Json &item : value) {
            if (rule.kind == ListKind::Set) {
                m_path.push_back("v:" + item.dump());
                m_set.add(m_path);
            } else {
                m_path.push_back(keyStep(item, rule.keys));
                m_path.emplace_back(".");
                m_set.add(m_path);
                m_path.pop_back();
                object(item);
            }
            m_path.pop_back();
        }
    }

    static bool allHaveKeys(const Json &value, const ListRule &rule)
    {
        return std::all_of(value.begin(), value.end(),
            [&](const Json &item) { return !keyStep(item, rule.keys).empty(); });
    }

    const std::string &m_kind;
    FieldSet &m_set;
    FieldPath m_names;
    FieldPath m_path;
};

void collect(const Json &fields, FieldPath &path, FieldSet &set)
{
    if (fields.empty() && !path.empty()) {
        set.add(path);
        return;
    }
    for (const auto &[step, inner] : fields.items()) {
        path.push_back(step);
        if (inner.is_object())
            collect(inner, path, set);
        path.pop_back();
    }
}

// The item that a "k:" or "v:" step names; the list's end when there is none.
Json::const_iterator itemFor(const Json &list, const std::string &step)
{
    const Json wanted = Json::parse(step.substr(2), nullptr, false);
    if (step[0] == 'v')
        return std::find(list.begin(), list.end(), wanted);
    return std::find_if(list.begin(), list.end(), [&](const Json &item) {
        if (!item.is_object() || !wanted.is_object())
            return false;
        for (const auto &[key, value] : wanted.items()) {
            const auto member = item.find(key);
            if (member != item.end() ? *member != value : value != Json(defaultOfListKey(key)))
                return false;
        }
        return true;
    });
}

const Json *stepInto(const Json &value, const std::string &step)
{
    if (step == ".")
        return &value;
    if (step.rfind("f:", 0) == 0) {
        if (!value.is_object())
            return nullptr;
        const auto member = value.find(step.substr(2));
        return member != value.end() ? &*member : nullptr;
    }
    if (!value.is_array() || step.size() < 2)
        return nullptr;
    const auto item = itemFor(value, step);
    return item != value.end() ? &*item : nullptr;
}

void removeStep(Json &parent, const std::string &step)
{
    if (step.rfind("f:", 0) == 0 && parent.is_object())
        parent.erase(step.substr(2));
    else if (parent.is_array()) {
        const auto item = itemFor(parent, step);
        if (item != parent.end())
            parent.erase(item);
    }
}

void removeFrom(Json &value, const FieldPath &path, std::size_t at)
{
    if (at + 1 == path.size() || (at + 2 == path.size() && path[at + 1] == ".")) {
        removeStep(value, path[at]);
        return;
    }
    auto *next
        = const_cast<Json *>(stepInto(value, path[at])); // `value` is mutable, so is its part
    if (!next)
        return;
    removeFrom(*next, path, at + 1);
    if (next->empty() && (next->is_object() || next->is_array()))
        removeStep(value, path[at]);
}

} // namespace

FieldSet FieldSet::ofObject(const Json &object, const std::string &kind)
{
    FieldSet set;
    if (object.is_object())
        LeafWalk(kind, set).object(object);
    return set;
}

FieldSet FieldSet::fromFieldsV1(const Json &fields)
{
    FieldSet set;
    FieldPath path;
    if (fields.is_object())
        collect(fields, path, set);
    return set;
}

Json FieldSet::toFieldsV1() const
{
    Json fields = Json::object();
    for (const FieldPath &path : m_paths) {
        Json *at = &fields;
        for (const std::string &step : path) {
            Json &next = (*at)[step];
            if (next.is_null())
                next = Json::object();
            at = &next;
        }
    }
    return fields;
}

bool FieldSet::containsUnder(const FieldPath &prefix) const
{
    const auto first = m_paths.lower_bound(prefix);
    return first != m_paths.end() && first->size() >= prefix.size()
        && std::equal(prefix.begin(), prefix.end(), first->begin());
}

void FieldSet::remove(const FieldSet &other)
{
    for (const FieldPath &path : other.m_paths)
        m_paths.erase(path);
}

void FieldSet::unite(const FieldSet &other)
{
    m_paths.insert(other.m_paths.begin(), other.m_paths.end());
}

const Json *valueAt(const Json &object, const FieldPath &path)
{
    const Json *value = &object;
    for (const std::string &step : path) {
        value = stepInto(*value, step);
        if (!value)
            return nullptr;
    }
    return value;
}

void removeAt(Json &object, const FieldPath &path)
{
    if (!path.empty())
        removeFrom(object, path, 0);
}

std::string printedPath(const FieldPath &path)
{
    std::string text;
    for (const std::string &step : path) {
        if (step == ".")
            continue;
        if (step.rfind("f:", 0) == 0) {
            text += "." + step.substr(2);
        } else if (step.rfind("k:", 0) == 0) {
            std::string keys;
            const Json wanted = Json::parse(step.substr(2), nullptr, false);
            for (const auto &[key, value] : wanted.items())
                keys += (keys.empty() ? "" : ",") + key + "=" + value.dump();
            text += "[" + keys + "]";
        } else {
            text += "[=" + step.substr(2) + "]";
        }
    }
    return text;
}

std::string keyStep(const Json &item, const std::vector<std::string> &keys)
{
    if (!item.is_object())
        return {};
    Json named = Json::object();
    for (const std::string &key : keys) {
        const auto member = item.find(key);
        if (member != item.end())
            named[key] = *member;
        else if (const std::string standard = defaultOfListKey(key); !standard.empty())
            named[key] = standard;
        else
            return {};
    }
    return "k:" + named.dump();
}

} // namespace davit::support
