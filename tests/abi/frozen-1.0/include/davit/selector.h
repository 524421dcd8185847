// Selectors by labels, fields and shards: which objects of a kind.
// Source: Kubernetes "Labels and Selectors", "Field Selectors"; metav1.ListOptions; BEHAVIOURS.md,
// E-43, 1.9. Tests: tst_selector, tst_shardselector.
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

// A part of a kind's objects, for processes that share the work: each takes a range of the 64-bit
// FNV-1a hashes of the objects' uids, or of their namespaces. Text as the API has it:
// "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')" is the lower half;
// several are joined by "||"; ends are exclusive, '0x10000000000000000' is the last. All methods:
// [thread-safe].
class ShardSelectorPrivate;
class DAVIT_EXPORT ShardSelector
{
public:
    // Matches everything.
    ShardSelector();
    ShardSelector(const ShardSelector &other);
    ShardSelector &operator=(const ShardSelector &other);
    ~ShardSelector();
    // Fills `selector`, or says what is wrong: InvalidArgument. Empty text: everything.
    static Status parse(QStringView text, ShardSelector *selector);
    bool isEmpty() const noexcept;
    // By uid or namespace, "" where the object has none.
    bool matches(const Object &object) const;
    // As the server echoes it; parse() reads it back.
    QString toString() const;

private:
    QExplicitlySharedDataPointer<ShardSelectorPrivate> d;
};
DAVIT_END_NAMESPACE
