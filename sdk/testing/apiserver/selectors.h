// Label and field selectors over the few texts that a record carries. A parser of its own, so that
// the server can find a mistake in the SDK's. Source: BEHAVIOURS.md.
#pragma once

#include "apitypes.h"

namespace davit::testing::apiserver {

using Labels = std::map<std::string, std::string>;

class Selectors
{
public:
    // Both from the query. Answers a fault for text that is no selector and for a field that the
    // kind does not know.
    static ApiFault parse(const std::string &labelText, const std::string &fieldText,
        const std::vector<std::string> &knownFields, Selectors *selectors);

    bool isEmpty() const { return m_labels.empty() && m_fields.empty(); }
    bool matches(const Labels &labels, const Labels &fields) const;

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
};

// A LabelSelector object (matchLabels, matchExpressions) as text.
std::string selectorText(const Json &selector);

} // namespace davit::testing::apiserver
