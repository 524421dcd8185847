// Label selectors: which objects of a kind.
// Source: Kubernetes "Labels and Selectors"; BEHAVIOURS.md, E-43. Test: tst_selector.
#pragma once

#include <QtCore/qshareddata.h>
#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
class LabelSelectorPrivate;

class DAVIT_EXPORT LabelSelector
{
public:
    // Matches everything.
    LabelSelector();
    LabelSelector(const LabelSelector &other);
    LabelSelector &operator=(const LabelSelector &other);
    ~LabelSelector();

    // From text such as "app=web,tier in (a,b),!canary". Fills `selector`, or says which term is
    // wrong. [thread-safe]
    static Status parse(QStringView text, LabelSelector *selector);
    // From the form that objects hold ({matchLabels, matchExpressions}): missing or null matches
    // nothing, the empty one everything (E-44). [thread-safe]
    static Status fromValue(const Value &value, LabelSelector *selector);
    // True for the empty selector, which matches everything. [thread-safe]
    bool isEmpty() const noexcept;
    // By metadata.labels. [thread-safe]
    bool matches(const Object &object) const;
    // Terms sorted by key, values sorted: equal selectors print equally, and parse() reads it back.
    // "<nothing>" for the selector that matches nothing; no server takes that. [thread-safe]
    QString toString() const;

private:
    QExplicitlySharedDataPointer<LabelSelectorPrivate> d;
};

// Field selectors over members ("metadata.name=x,status.phase!=Failed"); an absent field counts as
// "". All methods: [thread-safe]. E-45.
class FieldSelectorPrivate;
class DAVIT_EXPORT FieldSelector
{
public:
    FieldSelector();
    FieldSelector(const FieldSelector &other);
    FieldSelector &operator=(const FieldSelector &other);
    ~FieldSelector();
    static Status parse(QStringView text, FieldSelector *selector);
    bool isEmpty() const noexcept;
    bool matches(const Object &object) const;
    QString toString() const;

private:
    QExplicitlySharedDataPointer<FieldSelectorPrivate> d;
};
DAVIT_END_NAMESPACE
