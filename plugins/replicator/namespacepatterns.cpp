#include "namespacepatterns.h"

#include <algorithm>

namespace replicator {

using namespace Qt::StringLiterals;

namespace {

// Goes back to the last star when a letter does not fit: O(name * pattern), no recursion.
bool globMatches(QStringView pattern, QStringView text)
{
    qsizetype p = 0;
    qsizetype t = 0;
    qsizetype star = -1;
    qsizetype mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == text[t] || pattern[p] == QLatin1Char('?'))) {
            ++p;
            ++t;
        } else if (p < pattern.size() && pattern[p] == QLatin1Char('*')) {
            star = p++;
            mark = t;
        } else if (star >= 0) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == QLatin1Char('*'))
        ++p;
    return p == pattern.size();
}

bool isPatternLetter(QChar c)
{
    return (c >= QLatin1Char('a') && c <= QLatin1Char('z'))
        || (c >= QLatin1Char('0') && c <= QLatin1Char('9')) || c == QLatin1Char('-')
        || c == QLatin1Char('*') || c == QLatin1Char('?');
}

} // namespace

NamespacePatterns::NamespacePatterns(const QStringList &patterns)
{
    for (const QString &pattern : patterns)
        if (const QString trimmed = pattern.trimmed(); !trimmed.isEmpty())
            m_patterns << trimmed;
}

NamespacePatterns NamespacePatterns::fromText(const QString &text)
{
    return NamespacePatterns(text.split(QLatin1Char(',')));
}

bool NamespacePatterns::matches(QStringView name) const
{
    return std::any_of(m_patterns.begin(), m_patterns.end(),
        [name](const QString &pattern) { return globMatches(pattern, name); });
}

QStringList NamespacePatterns::malformed() const
{
    QStringList bad;
    for (const QString &pattern : m_patterns)
        if (!std::all_of(pattern.begin(), pattern.end(), isPatternLetter))
            bad << pattern;
    return bad;
}

QStringList NamespacePatterns::names() const
{
    QStringList names = m_patterns;
    names.removeIf([](const QString &pattern) {
        return pattern.contains(QLatin1Char('*')) || pattern.contains(QLatin1Char('?'));
    });
    return names;
}

QString firstFew(const QStringList &patterns)
{
    constexpr qsizetype kShown = 3;
    constexpr qsizetype kLongest = 63; // as a namespace's name; at most 189 bytes
    QStringList shown;
    for (const QString &pattern : patterns.first(std::min(kShown, patterns.size()))) {
        QString text = pattern.left(kLongest);
        if (text.size() < pattern.size() && text.back().isHighSurrogate())
            text.chop(1);
        shown << (text.size() < pattern.size() ? text + QChar(0x2026) : text);
    }
    const QString list = shown.join(", "_L1);
    return patterns.size() > kShown ? u"%1 and %2 more"_s.arg(list).arg(patterns.size() - kShown)
                                    : list;
}

} // namespace replicator
