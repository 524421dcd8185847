#include "duration.h"

#include <array>
#include <cmath>

namespace davit::host {

namespace {

struct Unit
{
    QStringView name;
    double milliseconds;
};

// Longer names first: "ms" begins as "m" does.
constexpr std::array kUnits = {Unit{u"ns", 1e-6}, Unit{u"us", 1e-3}, Unit{u"µs", 1e-3},
    Unit{u"ms", 1}, Unit{u"s", 1e3}, Unit{u"m", 6e4}, Unit{u"h", 3.6e6}};

} // namespace

std::optional<std::chrono::milliseconds> parseDuration(QStringView text)
{
    const bool isNegative = text.startsWith(QLatin1Char('-'));
    if (isNegative || text.startsWith(QLatin1Char('+')))
        text = text.sliced(1);
    if (text == QLatin1StringView("0"))
        return std::chrono::milliseconds(0);
    if (text.isEmpty())
        return std::nullopt;
    double sum = 0;
    while (!text.isEmpty()) {
        qsizetype digits = 0;
        while (digits < text.size()
            && (text[digits] == QLatin1Char('.')
                || (text[digits] >= QLatin1Char('0') && text[digits] <= QLatin1Char('9'))))
            ++digits;
        bool isNumber = false;
        const double number = text.first(digits).toDouble(&isNumber);
        text = text.sliced(digits);
        const Unit *unit = nullptr;
        for (const Unit &candidate : kUnits)
            if (!unit && text.startsWith(candidate.name))
                unit = &candidate;
        if (!isNumber || !unit)
            return std::nullopt;
        text = text.sliced(unit->name.size());
        sum += number * unit->milliseconds;
    }
    if (sum > 9e15)
        return std::nullopt;
    const auto whole = std::chrono::milliseconds(std::llround(std::floor(sum + 1e-9)));
    return isNegative ? -whole : whole;
}

} // namespace davit::host
