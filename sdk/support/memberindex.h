// Finds members of one object by name while the object is built. ordered_json searches its members
// one by one, which makes a map of n names cost n² steps. Test: tst_yaml.
#pragma once

#include "json.h"

#include <unordered_map>

namespace davit::support {

// Of one object, which nobody else changes meanwhile. Not thread-safe.
class MemberIndex
{
public:
    // The value of that name and whether it was added now, as null, behind the others. Valid until
    // the next call.
    std::pair<Json *, bool> slot(Json &object, const std::string &name)
    {
        auto &members = object.get_ref<Json::object_t &>();
        if (members.size() < kIndexedItems) {
            for (auto &[key, value] : members)
                if (key == name)
                    return {&value, false};
        } else {
            while (m_places.size() < members.size())
                m_places.emplace(
                    (members.begin() + std::ptrdiff_t(m_places.size()))->first, m_places.size());
            if (const auto found = m_places.find(name); found != m_places.end())
                return {&(members.begin() + std::ptrdiff_t(found->second))->second, false};
        }
        members.emplace_back(name, nullptr);
        return {&members.back().second, true};
    }

private:
    static constexpr std::size_t kIndexedItems = 16; // fewer are searched faster than hashed

    std::unordered_map<std::string, std::size_t> m_places;
};

} // namespace davit::support
