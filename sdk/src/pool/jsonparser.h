// A strict JSON parser (RFC 8259) that keeps each number's text: for the few items that simdjson
// 3.0 refuses (numbers beyond its types, "-0"), and for a message that names the byte. Checks
// UTF-8, refuses lone surrogates and nesting beyond kMaxDepth. Test: tst_objectdecoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace davit::priv::pool {

struct JsonEvent
{
    enum class Kind : std::uint8_t {
        StartObject, // size: index of the event behind the matching end
        EndObject,
        StartArray, // size: as for StartObject
        EndArray,
        Key,
        String,
        Number,
        True,
        False,
        Null
    };
    Kind kind;
    std::uint32_t size; // of the text
    std::uint64_t offset; // of the text in JsonTape::text
};

struct JsonTape
{
    std::vector<JsonEvent> events;
    std::string text; // strings without escapes, numbers as they were
    const char *error = nullptr; // what is wrong
    std::size_t errorByte = 0; // and where

    std::string_view textOf(const JsonEvent &event) const
    {
        return std::string_view(text).substr(event.offset, event.size);
    }
};

// One value, white space around it at most. False with error and errorByte set.
bool parseJson(std::string_view json, JsonTape *tape);

} // namespace davit::priv::pool
