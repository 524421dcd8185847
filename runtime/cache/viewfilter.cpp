#include "viewfilter.h"

#include <davit/priv/poolaccess.h>

#include <QtCore/qstringlist.h>
#include <algorithm>

namespace davit::cache {
namespace {

// Field selectors that can be judged by an object's metadata alone.
bool isAboutMetadata(const QString &fieldSelector)
{
    const QStringList terms = fieldSelector.split(u',', Qt::SkipEmptyParts);
    return std::all_of(terms.begin(), terms.end(), [](const QString &term) {
        return term.trimmed().startsWith(QLatin1StringView("metadata."));
    });
}

} // namespace

bool WatchScope::covers(const WatchScope &narrow) const
{
    if (gvk != narrow.gvk || (isMetadataOnly && !narrow.isMetadataOnly))
        return false;
    if (!namespaceName.isEmpty() && namespaceName != narrow.namespaceName)
        return false;
    if (!labelSelector.isEmpty() && labelSelector != narrow.labelSelector)
        return false;
    if (fieldSelector == narrow.fieldSelector)
        return true;
    return fieldSelector.isEmpty() && (!isMetadataOnly || isAboutMetadata(narrow.fieldSelector));
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
    if (isMetadataOnly)
        text += QStringLiteral(" (metadata)");
    return text;
}

bool operator==(const WatchScope &a, const WatchScope &b)
{
    return a.gvk == b.gvk && a.namespaceName == b.namespaceName
        && a.labelSelector == b.labelSelector && a.fieldSelector == b.fieldSelector
        && a.isMetadataOnly == b.isMetadataOnly;
}

ViewFilter::ViewFilter(const WatchScope &scope) : m_scope(scope)
{
    const Status labels = LabelSelector::parse(scope.labelSelector, &m_labels);
    const Status fields = FieldSelector::parse(scope.fieldSelector, &m_fields);
    Q_ASSERT(labels.isOk() && fields.isOk());
}

bool ViewFilter::passes(const Object &object) const
{
    if (!m_scope.namespaceName.isEmpty() && object.namespaceName() != m_scope.namespaceName)
        return false;
    return (m_labels.isEmpty() || m_labels.matches(object))
        && (m_fields.isEmpty() || m_fields.matches(object));
}

Object ViewFilter::shown(const Object &object) const
{
    return m_scope.isMetadataOnly && !object.isMetadataOnly() ? priv::metadataOnly(object) : object;
}

bool ViewFilter::isTransparent() const
{
    return m_scope.namespaceName.isEmpty() && m_labels.isEmpty() && m_fields.isEmpty()
        && !m_scope.isMetadataOnly;
}

} // namespace davit::cache
