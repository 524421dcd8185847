// A place in a packed tree, and reading there. References of trees are already followed: a place
// never rests on TagObjectRef or TagArrayRef. Borrows: whoever uses it holds the root.
#pragma once

#include "encoding.h"

#include <davit/value.h>
#include <string>

namespace davit::priv::pool {

// Room for strings that are not stored as they read.
using Scratch = std::string;

struct Place
{
    const std::uint8_t *base = nullptr; // content of the block
    const std::uint8_t *p = nullptr; // the value's tag; null: missing
    Ref block = 0; // 0: a private block

    explicit operator bool() const noexcept { return p != nullptr; }
    std::uint64_t position() const noexcept
    {
        return (std::uint64_t(block) << 32) | std::uint32_t(p - base);
    }
};

Place rootPlace(std::uint64_t handle) noexcept;
Place placeAt(std::uint64_t handle, std::uint64_t position) noexcept;

ValueType typeOf(Place place) noexcept;
// Members or elements; 0 for scalars.
std::uint32_t sizeOf(Place place) noexcept;
Place member(Place object, std::string_view name) noexcept;
Place childAt(Place container, std::uint32_t index) noexcept;
// Name of member `index`; empty when there is none.
std::string_view nameAt(Place object, std::uint32_t index) noexcept;
// The string's bytes, in the block or in `scratch`; empty for another type.
std::string_view textOf(Place place, Scratch &scratch);
// For numbers: the number as JSON writes it.
std::string_view numberText(Place place, Scratch &scratch);
bool equal(Place a, Place b);
void writeJson(Place place, std::string &out);
// Appends `text` in quotes, escaped.
void writeJsonString(std::string_view text, std::string &out);

// Steps through members or elements in order.
class Children
{
public:
    explicit Children(Place container) noexcept;
    // False at the end.
    bool next() noexcept;
    Place value() const noexcept { return m_value; }
    // Objects only.
    std::string_view name() const noexcept { return m_name; }

private:
    const std::uint8_t *m_next = nullptr;
    const std::uint8_t *m_names = nullptr; // in the Shape block
    Place m_container;
    Place m_value;
    std::string_view m_name;
    std::uint32_t m_left = 0;
    std::uint8_t m_tag = 0;
};

// Integers of any size, as type() tells them.
struct Integer
{
    std::uint64_t magnitude = 0; // the value, or -1 - value when negative
    bool isNegative = false;
};
bool readInteger(Place place, Integer *integer) noexcept;
double readDouble(Place place, double fallback) noexcept;
// A number in JSON's form; too large a one is infinite, too small a one zero.
double readNumber(std::string_view text) noexcept;

} // namespace davit::priv::pool
