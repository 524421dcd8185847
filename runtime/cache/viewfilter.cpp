#include "viewfilter.h"

#include <davit/priv/poolaccess.h>

#include <QtCore/qstringlist.h>
#include <algorithm>

namespace davit::cache {
namespace {

enum class Grammar : quint8 { Unset = 0, Labels, Fields };

// The terms of a printed selector, all of which an object must meet. Commas stand inside of a
// term, too: between the parentheses of labels, behind the backslash of fields.
QStringList termsOf(const QString &selector, Grammar grammar)
{
    QStringList terms;
    qsizetype begin = 0;
    bool isInside = false;
    for (qsizetype i = 0; i < selector.size(); ++i) {
        const QChar c = selector[i];
        if (grammar == Grammar::Fields && c == u'\\') {
            ++i;
        } else if (grammar == Grammar::Labels && (c == u'(' || c == u')')) {
            isInside = c == u'(';
        } else if (c == u',' && !isInside) {
            terms += selector.mid(begin, i - begin);
            begin = i + 1;
        }
    }
    if (begin < selector.size())
        terms += selector.mid(begin);
    return terms;
}

bool hasAll(const QStringList &terms, const QStringList &wanted)
{
    return std::all_of(
        wanted.begin(), wanted.end(), [&](const QString &term) { return terms.contains(term); });
}

} // namespace

Result<WatchScope> WatchScope::of(const InformerRequest &request)
{
    LabelSelector labels;
    FieldSelector fields;
    Status status = LabelSelector::parse(request.labelSelector(), &labels);
    if (status.isOk())
        status = FieldSelector::parse(request.fieldSelector(), &fields);
    ShardSelector shard;
    if (status.isOk())
        status = ShardSelector::parse(request.shardSelector(), &shard);
    if (!status.isOk())
        return status.error().withContext(QStringLiteral("watch ") + toString(request.gvk()));
    return WatchScope{request.gvk(), {}, labels.isEmpty() ? QString() : labels.toString(),
        fields.isEmpty() ? QString() : fields.toString(), request.payload() == Payload::Metadata,
        shard.toString()};
}

bool WatchScope::covers(const WatchScope &narrow) const
{
    if (*this == narrow)
        return true;
    if (gvk != narrow.gvk || (isMetadataOnly && !narrow.isMetadataOnly))
        return false;
    if (!namespaceName.isEmpty() && namespaceName != narrow.namespaceName)
        return false;
    if (!shardSelector.isEmpty() && shardSelector != narrow.shardSelector)
        return false; // a shard within another one has a watch of its own
    if (!hasAll(termsOf(narrow.labelSelector, Grammar::Labels),
            termsOf(labelSelector, Grammar::Labels)))
        return false;
    // The view judges all of them by what it is given.
    return hasAll(termsOf(narrow.fieldSelector, Grammar::Fields),
               termsOf(fieldSelector, Grammar::Fields))
        && (!isMetadataOnly || narrow.selectsByMetadata());
}

bool WatchScope::selectsByMetadata() const
{
    const QStringList terms = termsOf(fieldSelector, Grammar::Fields);
    return std::all_of(terms.begin(), terms.end(),
        [](const QString &term) { return term.startsWith(QLatin1StringView("metadata.")); });
}

QString WatchScope::toText() const
{
    QString text = toString(gvk);
    if (!namespaceName.isEmpty())
        text += QStringLiteral(" in ") + namespaceName;
    if (!labelSelector.isEmpty())
        text += QStringLiteral(" with labels ") + labelSelector;
    if (!fieldSelector.isEmpty())
        text += QStringLiteral(" with fields ") + fieldSelector;
    if (!shardSelector.isEmpty())
        text += QStringLiteral(" of ") + shardSelector;
    if (isMetadataOnly)
        text += QStringLiteral(" (metadata)");
    return text;
}

bool operator==(const WatchScope &a, const WatchScope &b)
{
    return a.gvk == b.gvk && a.namespaceName == b.namespaceName
        && a.labelSelector == b.labelSelector && a.fieldSelector == b.fieldSelector
        && a.isMetadataOnly == b.isMetadataOnly && a.shardSelector == b.shardSelector;
}

ViewFilter::ViewFilter(const WatchScope &scope) : m_scope(scope)
{
    const Status labels = LabelSelector::parse(scope.labelSelector, &m_labels);
    const Status fields = FieldSelector::parse(scope.fieldSelector, &m_fields);
    const Status shard = ShardSelector::parse(scope.shardSelector, &m_shard);
    Q_ASSERT(labels.isOk() && fields.isOk() && shard.isOk());
}

bool ViewFilter::passes(const Object &object) const
{
    if (!m_scope.namespaceName.isEmpty() && object.namespaceName() != m_scope.namespaceName)
        return false;
    return (m_labels.isEmpty() || m_labels.matches(object))
        && (m_fields.isEmpty() || m_fields.matches(object)) && m_shard.matches(object);
}

Object ViewFilter::shown(const Object &object) const
{
    return m_scope.isMetadataOnly && !object.isMetadataOnly() ? priv::metadataOnly(object) : object;
}

bool ViewFilter::isTransparent() const
{
    return m_scope.namespaceName.isEmpty() && m_labels.isEmpty() && m_fields.isEmpty()
        && m_shard.isEmpty() && !m_scope.isMetadataOnly;
}

} // namespace davit::cache
