#include "resource.h"

#include <QtCore/qurl.h>

namespace davit::transport {
namespace {

QByteArray encoded(const QString &text)
{
    return QUrl::toPercentEncoding(text); // all but letters, digits and -._~ : '+' and ',' too
}

class Query
{
public:
    void add(const char *name, const QByteArray &encodedValue)
    {
        m_text += m_text.isEmpty() ? '?' : '&';
        m_text += name;
        m_text += '=';
        m_text += encodedValue;
    }
    void addText(const char *name, const QString &value)
    {
        if (!value.isEmpty())
            add(name, encoded(value));
    }
    QByteArray take() { return std::move(m_text); }

private:
    QByteArray m_text;
};

QByteArray collectionPath(const Resource &resource, const QString &namespaceName)
{
    const Gvk &gvk = resource.gvk;
    QByteArray path
        = gvk.group.isEmpty() ? QByteArrayLiteral("/api/") : "/apis/" + encoded(gvk.group) + '/';
    path += encoded(gvk.version);
    if (resource.isNamespaced && !namespaceName.isEmpty())
        path += "/namespaces/" + encoded(namespaceName);
    return path + '/' + encoded(resource.plural);
}

// The rule of the Kubernetes API for what becomes one segment of a path.
bool isPathSegment(const QString &text)
{
    return !text.isEmpty() && text != QLatin1String(".") && text != QLatin1String("..")
        && !text.contains(u'/') && !text.contains(u'%');
}

Error invalidSegment(const Resource &resource, const char *what, const QString &text)
{
    return Error(ErrorCode::InvalidArgument,
        QStringLiteral("%1: \"%2\" cannot be %3: it is empty, \".\", \"..\", or holds '/' or '%'")
            .arg(toString(resource.gvk), text, QLatin1String(what)));
}

} // namespace

Error kindNotServed(const Gvk &gvk)
{
    return Error(ErrorCode::KindNotServed,
        QStringLiteral("%1: the cluster does not serve this kind; install its CRD, or check its "
                       "group and version")
            .arg(toString(gvk)));
}

QByteArray collectionTarget(
    const Resource &resource, const QString &namespaceName, const ListOptions &options)
{
    Query query;
    if (options.isWatch)
        query.add("watch", "true");
    query.addText("labelSelector", options.labelSelector);
    query.addText("fieldSelector", options.fieldSelector);
    query.addText("shardSelector", options.shardSelector);
    query.addText("resourceVersion", options.resourceVersion);
    query.addText("resourceVersionMatch", options.resourceVersionMatch);
    query.addText("continue", options.continueToken);
    if (options.limit > 0)
        query.add("limit", QByteArray::number(options.limit));
    if (options.allowWatchBookmarks)
        query.add("allowWatchBookmarks", "true");
    if (options.sendInitialEvents)
        query.add("sendInitialEvents", *options.sendInitialEvents ? "true" : "false");
    if (options.timeoutSeconds)
        query.add("timeoutSeconds", QByteArray::number(*options.timeoutSeconds));
    return collectionPath(resource, namespaceName) + query.take();
}

Status objectTarget(const Resource &resource, const ObjectKey &key, const QString &subresource,
    const QByteArray &query, QByteArray *target)
{
    if (!isPathSegment(key.name))
        return invalidSegment(resource, "a name", key.name);
    if (resource.isNamespaced && key.namespaceName.isEmpty()) {
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1 %2: a namespace is needed").arg(toString(resource.gvk), key.name));
    }
    if (resource.isNamespaced && !isPathSegment(key.namespaceName))
        return invalidSegment(resource, "a namespace", key.namespaceName);
    if (!subresource.isEmpty() && !isPathSegment(subresource))
        return invalidSegment(resource, "a subresource", subresource);
    QByteArray path = collectionPath(resource, key.namespaceName) + '/' + encoded(key.name);
    if (!subresource.isEmpty())
        path += '/' + encoded(subresource);
    if (!query.isEmpty())
        path += '?' + query;
    *target = path;
    return {};
}

} // namespace davit::transport
