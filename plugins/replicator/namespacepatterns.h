// A list of namespaces by name and glob: "team-*,ops". '*' stands for any letters, '?' for one.
// Test: tst_replicator, patterns.
#pragma once

#include <QtCore/qstringlist.h>

namespace replicator {

class NamespacePatterns
{
public:
    NamespacePatterns() = default;
    explicit NamespacePatterns(const QStringList &patterns);
    // From a comma list; white space around an entry and empty entries are ignored.
    static NamespacePatterns fromText(const QString &text);

    bool matches(QStringView name) const;
    // Entries that no namespace can ever match: other letters than a-z, 0-9, '-', '*', '?'.
    QStringList malformed() const;

private:
    QStringList m_patterns;
};

} // namespace replicator
