// Label, field and shard selectors over the few texts that a record carries. Parsers of its own, so
// that the server can find a mistake in the SDK's. Source: BEHAVIOURS.md, 1.9.
#pragma once

#include "apitypes.h"

namespace davit::testing::apiserver {

using Labels = std::map<std::string, std::string>;
struct Record;

// Ranges of hashes of one field: calls of shardRange(), joined by two bars. Of the rest of CEL it
// knows nothing, brackets around a call included.
class Shards
{
public:
    // Answers a fault for text that is no such selector. Empty text: everything.
    static ApiFault parse(const std::string &text, Shards *shards);

    bool isEmpty() const { return m_ranges.empty(); }
    bool matches(const Record &record) const;
    // As the metadata of a list echoes it.
    const std::string &text() const { return m_text; }

private:
    struct Range
    {
        unsigned long long first;
        unsigned long long last; // belongs to it
    };
    std::string add(const std::string &field, const std::string &start, const std::string &end);

    std::string m_field;
    std::vector<Range> m_ranges;
    std::string m_text;
};

class Selectors
{
public:
    // Both from the query. Answers a fault for text that is no selector and for a field that the
    // kind does not know.
    static ApiFault parse(const std::string &labelText, const std::string &fieldText,
        const std::vector<std::string> &knownFields, Selectors *selectors);

    // Of all three.
    bool isEmpty() const { return m_labels.empty() && m_fields.empty() && m_shards.isEmpty(); }
    bool matches(const Record &record) const;

    void setShards(Shards shards) { m_shards = std::move(shards); }
    const Shards &shards() const { return m_shards; }

private:
    enum class Operator : unsigned char {
        Equals,
        NotEquals,
        In,
        NotIn,
        Exists,
        Absent,
        Above,
        Below
    };
    struct Term
    {
        std::string key;
        Operator op;
        std::vector<std::string> values;
    };

    static bool parseLabels(const std::string &text, std::vector<Term> *terms);
    static bool parseTerm(const std::string &text, Term *term);
    static bool holds(const Term &term, const Labels &labels);

    std::vector<Term> m_labels;
    std::vector<Term> m_fields;
    Shards m_shards;
};

// A LabelSelector object (matchLabels, matchExpressions) as text.
std::string selectorText(const Json &selector);

} // namespace davit::testing::apiserver
