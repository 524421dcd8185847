#include "gotext.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace davit::support {
namespace {

std::string numberText(double value)
{
    const double size = std::abs(value);
    const bool isPlain = size == 0 || (size >= 1e-4 && size < 1e21); // as %v has it
    char text[400];
    const auto end = std::to_chars(text, text + sizeof text, value,
        isPlain ? std::chars_format::fixed : std::chars_format::scientific);
    return std::string(text, end.ptr);
}

template <class Range, class Print> std::string joined(const Range &range, Print print)
{
    std::string text;
    for (const auto &item : range)
        text += print(item) + ' ';
    return text.substr(0, text.empty() ? 0 : text.size() - 1);
}

} // namespace

std::string goText(const Json &value)
{
    if (value.is_null())
        return "<nil>";
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_float())
        return numberText(value.get<double>());
    if (value.is_array())
        return '[' + joined(value, goText) + ']';
    if (!value.is_object())
        return value.dump();
    std::vector<std::string> names;
    for (const auto &member : value.items())
        names.push_back(member.key());
    std::sort(names.begin(), names.end());
    return "map[" + joined(names, [&](const std::string &name) {
        return name + ':' + goText(value.at(name));
    }) + ']';
}

const char *goKind(const Json &value)
{
    if (value.is_number())
        return value.is_number_float() ? "float64" : "int64";
    if (value.is_string())
        return "string";
    if (value.is_boolean())
        return "bool";
    if (value.is_null())
        return "invalid";
    return value.is_array() ? "slice" : "map";
}

std::string noGoValue(const Json &value, const std::string &goType)
{
    const std::string name = value.is_boolean() ? "bool" : value.type_name();
    return "json: cannot unmarshal " + name + " into Go value of type " + goType;
}

} // namespace davit::support
