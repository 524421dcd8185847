#include "gotext.h"
#include "listkeys.h"
#include "patchtree.h"

#include <algorithm>

namespace davit::support {
namespace {

using Path = std::vector<std::string>;

constexpr const char *kGoMap = "map[string]interface {}";
constexpr const char *kDirective = "$patch";
constexpr const char *kRetainKeys = "$retainKeys";
constexpr std::string_view kOrderPrefix = "$setElementOrder/";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";

class StrategicMerge
{
public:
    explicit StrategicMerge(const std::string &kind) : m_kind(kind) { }

    // False when the patch breaks the rules of its directives; outcome() says how, in the words of
    // the real server.
    bool mergeObject(Json &target, const Json &patch)
    {
        const std::string directive = stringMember(patch, kDirective);
        if (directive == "replace" || directive == "delete") {
            target = directive == "delete" ? Json::object() : withoutDirectives(patch);
            return true;
        }
        if (patch.contains(kDirective) && directive != "merge")
            return failOfDirective(patch);
        if (!target.is_object())
            target = Json::object();
        if (const Json *retained = arrayMember(patch, kRetainKeys))
            retainOnly(target, *retained);
        else if (patch.contains(kRetainKeys))
            return fail("invalid patch format of retainKeys", PatchFault::MalformedPatch);
        for (const auto &[name, value] : patch.items())
            if (name.rfind(kDeletePrefix, 0) == 0
                && !deleteFromList(target, name.substr(kDeletePrefix.size()), value))
                return false;
        for (const auto &[name, value] : patch.items())
            if (name.empty() || name[0] != '$')
                if (!mergeMember(target, name, value))
                    return false;
        for (const auto &[name, value] : patch.items())
            if (name.rfind(kOrderPrefix, 0) == 0
                && !orderList(target, name.substr(kOrderPrefix.size()), value))
                return false;
        return true;
    }

    const PatchOutcome &outcome() const { return m_outcome; }

private:
    bool mergeMember(Json &target, const std::string &name, const Json &value)
    {
        if (value.is_null()) {
            target.erase(name);
            return true;
        }
        m_path.push_back(name);
        bool isOk = true;
        if (value.is_object()) {
            if (stringMember(value, kDirective) == "delete")
                target.erase(name);
            else
                isOk = mergeObject(target[name], value);
        } else if (value.is_array()) {
            isOk = mergeList(target, name, value);
        } else {
            target[name] = value;
        }
        m_path.pop_back();
        return isOk;
    }

    bool mergeList(Json &target, const std::string &name, const Json &patch)
    {
        const ListRule &rule = listRuleFor(m_kind, m_path);
        const auto found = target.find(name);
        const bool hasList = found != target.end() && found->is_array() && !found->empty();
        if (rule.kind == ListKind::ByKeys && !hasList)
            return addKeyedList(target[name] = Json::array(), patch);
        if (rule.kind == ListKind::ByKeys)
            return mergeKeyedList(*found, patch, rule.keys.front());
        if (rule.kind == ListKind::Set && hasList) {
            if (!areAlike(*found, patch))
                return false;
            for (const Json &item : patch)
                if (std::find(found->begin(), found->end(), item) == found->end())
                    found->push_back(item);
            return true;
        }
        target[name] = patch;
        return true;
    }

    // Where there was none, the patch's items are taken as they are.
    bool addKeyedList(Json &list, const Json &patch)
    {
        for (const Json &item : patch) {
            const std::string directive
                = item.is_object() ? stringMember(item, kDirective) : std::string();
            if (directive == "delete" || (directive == "replace" && item.size() == 1))
                continue;
            list.push_back(item.is_object() ? Json::object() : item);
            if (item.is_object() && !mergeObject(list.back(), item))
                return false;
        }
        return true;
    }

    bool mergeKeyedList(Json &list, const Json &patch, const std::string &key)
    {
        if (!areAlike(list, patch))
            return false;
        for (const Json &item : patch)
            if (item.is_object() && item.size() == 1 && stringMember(item, kDirective) == "replace")
                list = Json::array();
        for (const Json &item : patch) {
            const std::string directive = stringMember(item, kDirective);
            if (directive == "replace" && item.size() == 1)
                continue;
            if (item.contains(kDirective) && directive != "delete" && directive != "merge")
                return failOfDirective(item);
            const auto keyValue = item.find(key);
            if (keyValue == item.end())
                return fail(
                    "map: " + goText(item) + " does not contain declared merge key: " + key);
            const auto same = std::find_if(list.begin(), list.end(), [&](const Json &live) {
                return live.is_object() && live.contains(key) && live[key] == *keyValue;
            });
            if (directive == "delete") {
                if (same != list.end())
                    list.erase(same);
            } else if (same == list.end()) {
                list.push_back(Json::object());
                if (!mergeObject(list.back(), item))
                    return false;
            } else if (!mergeObject(*same, item)) {
                return false;
            }
        }
        return true;
    }

    static void retainOnly(Json &target, const Json &names)
    {
        for (auto member = target.begin(); member != target.end();) {
            if (std::find(names.begin(), names.end(), Json(member.key())) == names.end())
                member = target.erase(member);
            else
                ++member;
        }
    }

    bool deleteFromList(Json &target, const std::string &name, const Json &items)
    {
        const auto found = target.find(name);
        if (found == target.end() || !found->is_array() || !items.is_array())
            return true;
        if (!areAlike(*found, items))
            return false;
        for (const Json &item : items)
            found->erase(std::remove(found->begin(), found->end(), item), found->end());
        return true;
    }

    // Items that the order names come first in that order relative to each other; others keep their
    // place behind the one they stood behind.
    bool orderList(Json &target, const std::string &name, const Json &order)
    {
        if (!order.is_array())
            return fail(std::string("expected a []interface {}, but received a ") + goKind(order));
        const auto found = target.find(name);
        if (found == target.end() || !found->is_array())
            return true;
        m_path.push_back(name);
        const ListRule &rule = listRuleFor(m_kind, m_path);
        m_path.pop_back();
        const auto rank = [&](const Json &item) -> std::size_t {
            for (std::size_t i = 0; i < order.size(); ++i) {
                if (rule.kind != ListKind::ByKeys ? order[i] == item
                                                  : hasSameKey(order[i], item, rule))
                    return i;
            }
            return order.size();
        };
        std::stable_sort(found->begin(), found->end(),
            [&](const Json &a, const Json &b) { return rank(a) < rank(b); });
        return true;
    }

    static bool hasSameKey(const Json &a, const Json &b, const ListRule &rule)
    {
        const std::string &key = rule.keys.front();
        return a.is_object() && b.is_object() && a.contains(key) && b.contains(key)
            && a.at(key) == b.at(key);
    }

    static Json withoutDirectives(const Json &patch)
    {
        Json plain = Json::object();
        for (const auto &[name, value] : patch.items())
            if ((name.empty() || name[0] != '$') && !value.is_null())
                plain[name] = value;
        return plain;
    }

    // Whether the items of both have one type, as Go has it.
    bool areAlike(const Json &list, const Json &patch)
    {
        std::string kind;
        for (const Json *items : {&list, &patch}) {
            for (const Json &item : *items) {
                if (!kind.empty() && kind != goKind(item))
                    return fail("list element types are not identical: [" + goText(list) + ' '
                        + goText(patch) + ']');
                kind = goKind(item);
            }
        }
        return true;
    }

    bool failOfDirective(const Json &patch)
    {
        const Json &directive = patch.at(kDirective);
        const std::string text = directive.is_string()
            ? directive.get<std::string>()
            : std::string("%!s(") + goKind(directive) + '=' + goText(directive) + ')';
        return fail("unknown patch type: " + text + " in map: " + goText(patch));
    }

    bool fail(const std::string &message, PatchFault fault = PatchFault::Unexpected)
    {
        m_outcome = {fault, QString::fromStdString(message)};
        return false;
    }

    const std::string &m_kind;
    Path m_path;
    PatchOutcome m_outcome;
};

} // namespace

PatchOutcome strategicMergePatchTree(Json &target, const Json &patch, const std::string &kind)
{
    if (patch.is_null())
        return {}; // as the real server has it
    if (!patch.is_object() || !target.is_object())
        return {PatchFault::MalformedPatch, QString::fromStdString(noGoValue(patch, kGoMap))};
    try {
        StrategicMerge merge(kind);
        merge.mergeObject(target, patch);
        return merge.outcome();
    } catch (const Json::exception &e) {
        return {PatchFault::NotApplicable, QString::fromUtf8(e.what())};
    }
}

} // namespace davit::support
