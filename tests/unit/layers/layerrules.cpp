#include "layerrules.h"

#include <QtCore/qdir.h>
#include <QtCore/qfileinfo.h>
#include <QtCore/qregularexpression.h>

LayerRules::LayerRules(const QString &text)
{
    const QStringList lines = text.split(QLatin1Char('\n'));
    for (const QString &line : lines) {
        QStringList words = line.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
        if (words.isEmpty() || words.first().startsWith(QLatin1Char('#')))
            continue;
        const QString rule = words.takeFirst();
        if (rule == QLatin1String("order") && words.size() > 1) {
            addOrder(words);
        } else if (rule == QLatin1String("apart") && words.size() == 2) {
            m_apart.insert(words.at(0) + QLatin1Char('|') + words.at(1));
            m_apart.insert(words.at(1) + QLatin1Char('|') + words.at(0));
        } else {
            m_unknownLines.append(line);
        }
    }
    // Orders are few and short, so closing them by repetition is enough.
    for (bool grew = true; grew;) {
        grew = false;
        for (auto it = m_below.begin(); it != m_below.end(); ++it) {
            const QSet<QString> direct = it.value();
            for (const QString &lower : direct)
                it->unite(m_below.value(lower));
            grew = grew || it->size() != direct.size();
        }
    }
}

void LayerRules::addOrder(const QStringList &names)
{
    for (qsizetype i = 0; i < names.size(); ++i) {
        if (!m_layers.contains(names.at(i)))
            m_layers.append(names.at(i));
        for (qsizetype lower = 0; lower < i; ++lower)
            m_below[names.at(i)].insert(names.at(lower));
    }
}

bool LayerRules::allows(const QString &from, const QString &to) const
{
    if (from == to)
        return true;
    return m_below.value(from).contains(to) && !m_apart.contains(from + QLatin1Char('|') + to);
}

QString LayerRules::layerOfFile(const QString &path) const
{
    const QStringList parts = path.split(QLatin1Char('/'));
    if (parts.size() < 2)
        return {};
    if (parts.at(0) == QLatin1String("runtime"))
        return m_layers.contains(parts.at(1)) ? parts.at(1) : QString();
    if (parts.at(0) != QLatin1String("sdk"))
        return {};
    return m_layers.contains(parts.at(1)) ? parts.at(1) : QStringLiteral("sdk");
}

QString LayerRules::layerOfInclude(const QString &file, const QString &include) const
{
    const QString folder = QFileInfo(file).path();
    if (include.startsWith(QLatin1String("../")) || include.startsWith(QLatin1String("./")))
        return layerOfFile(QDir::cleanPath(folder + QLatin1Char('/') + include));
    const QString first = include.section(QLatin1Char('/'), 0, 0);
    if (first == include)
        return include.endsWith(QLatin1String(".h")) ? layerOfFile(file) : QString();
    if (first == QLatin1String("davit"))
        return QStringLiteral("sdk");
    return m_layers.contains(first) ? first : QString();
}

QString LayerRules::fault(const QString &file, const QString &include) const
{
    const QString from = layerOfFile(file);
    if (from.isEmpty())
        return QStringLiteral("%1 lies in no layer of runtime/layers.txt").arg(file);
    const QString to = layerOfInclude(file, include);
    if (to.isEmpty() || allows(from, to))
        return {};
    return QStringLiteral("%1 (%2) includes %3 (%4)").arg(file, from, include, to);
}

QStringList LayerRules::includesOf(const QByteArray &source)
{
    static const QRegularExpression pattern(
        QStringLiteral(R"(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"])"),
        QRegularExpression::MultilineOption);
    QStringList found;
    auto match = pattern.globalMatch(QString::fromUtf8(source));
    while (match.hasNext())
        found.append(match.next().captured(1));
    return found;
}
