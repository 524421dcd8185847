// A list of namespaces by name and glob: "team-*,ops". '*' stands for any letters, '?' for one.
// Const after construction. Test: tst_replicatorrules, patterns.
#pragma once

#include <QtCore/qstringlist.h>

namespace replicator {

// What a pattern may hold, for messages.
inline constexpr QLatin1StringView kPatternLetters("a-z, 0-9, '-', '*' and '?'");

class NamespacePatterns
{
public:
    NamespacePatterns() = default;
    explicit NamespacePatterns(const QStringList &patterns);
    // From a comma list; white space around an entry and empty entries are ignored.
    // [thread-safe]
    static NamespacePatterns fromText(const QString &text);

    // [thread-safe]
    bool matches(QStringView name) const;
    // Entries that no namespace can ever match: they hold other letters than kPatternLetters.
    // [thread-safe]
    QStringList malformed() const;
    // Entries that are one namespace's name. [thread-safe]
    QStringList names() const;

private:
    QStringList m_patterns;
};

// "a, b, c and 7 more": few enough for an Event's note (1024 bytes); long ones are cut.
// [thread-safe]
QString firstFew(const QStringList &patterns);

} // namespace replicator
