#include "nearestname.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace davit::support {

namespace {

// Number of single-letter edits between two words.
qsizetype distance(const QString &a, const QString &b)
{
    std::vector<qsizetype> row(size_t(b.size()) + 1);
    for (size_t j = 0; j < row.size(); ++j)
        row[j] = qsizetype(j);
    for (qsizetype i = 1; i <= a.size(); ++i) {
        qsizetype diagonal = std::exchange(row[0], i);
        for (qsizetype j = 1; j <= b.size(); ++j) {
            const qsizetype substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[size_t(j)],
                std::min({substituted, row[size_t(j)] + 1, row[size_t(j - 1)] + 1}));
        }
    }
    return row.back();
}

} // namespace

QString nearestName(const QString &name, const QStringList &known)
{
    QString nearest;
    qsizetype least = std::min<qsizetype>(4, name.size() / 2 + 1); // farther away is another word
    for (const QString &candidate : known) {
        const qsizetype edits = distance(name.toLower(), candidate.toLower());
        if (edits < least) {
            least = edits;
            nearest = candidate;
        }
    }
    return nearest;
}

} // namespace davit::support
