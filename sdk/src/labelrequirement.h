// One term of a label selector, and the checks of its parts. Private to the SDK.
// Source: Kubernetes "Labels and Selectors"; BEHAVIOURS.md, E-43. Test: tst_selector.
#pragma once

#include <davit/object.h>

#include <QtCore/qlist.h>
#include <vector>

namespace davit::priv {

struct LabelRequirement
{
    enum class Operator : quint8 {
        Equals,
        NotEquals,
        In,
        NotIn,
        Exists,
        DoesNotExist,
        Greater,
        Less
    };

    QByteArray key; // ASCII once checked
    Operator op = Operator::Exists;
    QList<QByteArray> values; // sorted, each once
    qint64 bound = 0; // Greater, Less

    bool matches(const Value &labels) const;
    QString toString() const;
};

// Checks key, number and form of the values; sorts them and reads the bound. InvalidArgument names
// the part that is wrong.
Status checkRequirement(LabelRequirement *requirement);

// The terms of "app=web,tier in (a,b),!canary", checked. InvalidArgument says what was found and
// what was expected.
Status parseLabelSelector(QStringView text, std::vector<LabelRequirement> *requirements);

} // namespace davit::priv
