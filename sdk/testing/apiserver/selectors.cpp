#include "selectors.h"

#include "apistore.h"
#include "faults.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace davit::testing::apiserver {
namespace {

std::string trimmed(const std::string &text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Splits at commas that are not inside parentheses.
std::vector<std::string> splitTerms(const std::string &text)
{
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool isName(const std::string &text)
{
    return !text.empty() && text.size() <= 317
        && text.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")
        == std::string::npos;
}

std::optional<long long> numberOf(const std::string &text)
{
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

bool Selectors::parseTerm(const std::string &whole, Term *term)
{
    const std::string text = trimmed(whole);
    if (text.empty())
        return false;
    if (text[0] == '!') {
        *term = {trimmed(text.substr(1)), Operator::Absent, {}};
        return isName(term->key);
    }
    if (text.back() == ')') {
        const auto open = text.find('(');
        const std::string head = open == std::string::npos ? "" : trimmed(text.substr(0, open));
        const auto space = head.find_last_of(" \t");
        if (space == std::string::npos)
            return false;
        const std::string word = head.substr(space + 1);
        if (word != "in" && word != "notin")
            return false;
        *term = {trimmed(head.substr(0, space)), word == "in" ? Operator::In : Operator::NotIn, {}};
        for (const std::string &value : splitTerms(text.substr(open + 1, text.size() - open - 2)))
            term->values.push_back(trimmed(value));
        return isName(term->key);
    }
    static const std::vector<std::pair<std::string, Operator>> operators{
        {"!=", Operator::NotEquals}, {"==", Operator::Equals}, {"=", Operator::Equals},
        {">", Operator::Above}, {"<", Operator::Below}};
    for (const auto &[symbol, op] : operators) {
        const auto at = text.find(symbol);
        if (at == std::string::npos)
            continue;
        *term = {trimmed(text.substr(0, at)), op, {trimmed(text.substr(at + symbol.size()))}};
        const std::string &value = term->values[0];
        const bool isNumber = op == Operator::Above || op == Operator::Below;
        return isName(term->key)
            && (isNumber ? numberOf(value).has_value() : value.empty() || isName(value));
    }
    *term = {text, Operator::Exists, {}};
    return isName(text);
}

bool Selectors::parseLabels(const std::string &text, std::vector<Term> *terms)
{
    if (trimmed(text).empty())
        return true;
    for (const std::string &part : splitTerms(text)) {
        Term term;
        if (!parseTerm(part, &term))
            return false;
        terms->push_back(std::move(term));
    }
    return true;
}

ApiFault Selectors::parse(const std::string &labelText, const std::string &fieldText,
    const std::vector<std::string> &knownFields, Selectors *selectors)
{
    if (!parseLabels(labelText, &selectors->m_labels))
        return badRequest("unable to parse requirement: " + labelText);
    for (const std::string &part : splitTerms(fieldText)) {
        if (trimmed(part).empty())
            continue;
        Term term;
        const auto unequal = part.find("!=");
        const auto equal = part.find('=');
        if (equal == std::string::npos)
            return badRequest("invalid selector: '" + part + "'; can't understand '" + part + "'");
        const bool isDoubled = equal + 1 < part.size() && part[equal + 1] == '=';
        term.op = unequal != std::string::npos ? Operator::NotEquals : Operator::Equals;
        term.key = trimmed(part.substr(0, unequal != std::string::npos ? unequal : equal));
        term.values = {part.substr(unequal != std::string::npos ? unequal + 2
                : isDoubled                                     ? equal + 2
                                                                : equal + 1)};
        if (std::find(knownFields.begin(), knownFields.end(), term.key) == knownFields.end())
            return badRequest("field label not supported: " + term.key);
        selectors->m_fields.push_back(std::move(term));
    }
    return {};
}

bool Selectors::holds(const Term &term, const Labels &labels)
{
    const auto found = labels.find(term.key);
    const bool isThere = found != labels.end();
    const auto isListed = [&] {
        return isThere
            && std::find(term.values.begin(), term.values.end(), found->second)
            != term.values.end();
    };
    switch (term.op) {
    case Operator::Equals:
    case Operator::In:
        return isListed();
    case Operator::NotEquals:
    case Operator::NotIn:
        return !isListed();
    case Operator::Exists:
        return isThere;
    case Operator::Absent:
        return !isThere;
    case Operator::Above:
    case Operator::Below:
        break;
    }
    const auto number = isThere ? numberOf(found->second) : std::nullopt;
    if (!number)
        return false;
    const long long bound = *numberOf(term.values[0]);
    return term.op == Operator::Above ? *number > bound : *number < bound;
}

bool Selectors::matches(const Record &record) const
{
    if (!m_shards.matches(record))
        return false;
    for (const Term &term : m_labels)
        if (!holds(term, record.labels))
            return false;
    for (const Term &term : m_fields) {
        const auto found = record.fields.find(term.key);
        const std::string value = found != record.fields.end() ? found->second : std::string();
        if ((value == term.values[0]) != (term.op == Operator::Equals))
            return false;
    }
    return true;
}

std::string selectorText(const Json &selector)
{
    if (selector.is_string())
        return selector.get<std::string>();
    std::string text;
    const auto add = [&text](const std::string &term) { text += (text.empty() ? "" : ",") + term; };
    for (const auto &[name, value] : support::membersOf(selector, "matchLabels").items())
        add(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    for (const Json &entry : support::itemsOf(selector, "matchExpressions")) {
        const std::string key = support::stringMember(entry, "key");
        const std::string how = support::stringMember(entry, "operator");
        std::string values;
        for (const Json &value : support::itemsOf(entry, "values"))
            if (value.is_string())
                values += (values.empty() ? "" : ",") + value.get<std::string>();
        if (how == "Exists" || how == "DoesNotExist")
            add((how == "Exists" ? "" : "!") + key);
        else
            add(key + (how == "NotIn" ? " notin (" : " in (") + values + ")");
    }
    return text;
}

} // namespace davit::testing::apiserver
