#include "apitypes.h"

#include <algorithm>
#include <charconv>

namespace davit::testing::apiserver {
namespace {

// As Go's strconv.ParseInt(text, 10, 64).
std::errc parseInt(const std::string &text, long long *value)
{
    const bool hasPlus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    const char *const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + int(hasPlus), last, *value);
    return error == std::errc() && end != last ? std::errc::invalid_argument : error;
}

} // namespace

bool ApiRequest::isTrue(const std::string &name) const
{
    std::string text = param(name);
    std::transform(text.begin(), text.end(), text.begin(),
        [](unsigned char c) { return char(std::tolower(c)); });
    return has(name) && text != "0" && text != "false";
}

long long ApiRequest::number(const std::string &name) const
{
    long long value = 0;
    return parseInt(param(name), &value) == std::errc() ? value : 0;
}

std::string ApiRequest::numberFault(const std::string &name) const
{
    long long value = 0;
    const std::errc error = has(name) ? parseInt(param(name), &value) : std::errc();
    if (error == std::errc())
        return {};
    return "strconv.ParseInt: parsing \"" + param(name) + "\": "
        + (error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax");
}

} // namespace davit::testing::apiserver
