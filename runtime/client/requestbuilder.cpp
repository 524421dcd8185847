#include "requestbuilder.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qurl.h>
#include <QtCore/qurlquery.h>

namespace davit::client {
namespace {

constexpr qsizetype kMaxFieldManagerLength = 128;
constexpr char kTable[] = "application/json;as=Table;g=meta.k8s.io;v=v1";
constexpr char kPartialList[]
    = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
constexpr char kPartialObject[]
    = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

class Query
{
public:
    void add(const char *name, const QString &value)
    {
        if (value.isEmpty())
            return;
        if (!m_text.isEmpty())
            m_text += '&';
        m_text += name;
        m_text += '=';
        m_text += QUrl::toPercentEncoding(value);
    }
    QByteArray text() const { return m_text; }

private:
    QByteArray m_text;
};

QString durationText(std::chrono::milliseconds time) // C-22
{
    return time.count() % 1000 == 0 ? QStringLiteral("%1s").arg(time.count() / 1000)
                                    : QStringLiteral("%1ms").arg(time.count());
}

Status checkFieldManager(const QString &name)
{
    bool isGood = !name.isEmpty() && name.size() <= kMaxFieldManagerLength;
    for (const QChar c : name)
        isGood &= c.isPrint();
    return isGood
        ? Status::ok()
        : Status(ErrorCode::InvalidArgument,
            QStringLiteral("field manager \"%1\": 1 to 128 printable characters are needed")
                .arg(name));
}

QByteArray patchContentType(PatchType type) // C-29
{
    switch (type) {
    case PatchType::Merge:
        return "application/merge-patch+json";
    case PatchType::Json:
        return "application/json-patch+json";
    case PatchType::Apply:
        return "application/apply-patch+yaml";
    case PatchType::StrategicMerge:
        return "application/strategic-merge-patch+json";
    case PatchType::Unset:
        break;
    }
    return {};
}

QString validationText(FieldValidation validation) // E-34
{
    switch (validation) {
    case FieldValidation::Ignore:
        return QStringLiteral("Ignore");
    case FieldValidation::Warn:
        return QStringLiteral("Warn");
    case FieldValidation::Strict:
        return QStringLiteral("Strict");
    case FieldValidation::Unset:
        break;
    }
    return {};
}

QString matchText(ResourceVersionMatch match) // C-23
{
    switch (match) {
    case ResourceVersionMatch::Exact:
        return QStringLiteral("Exact");
    case ResourceVersionMatch::NotOlderThan:
        return QStringLiteral("NotOlderThan");
    case ResourceVersionMatch::Unset:
        break;
    }
    return {};
}

QByteArray deleteOptions(const RequestOptions &options) // E-34
{
    QJsonObject body{{QStringLiteral("apiVersion"), QStringLiteral("v1")},
        {QStringLiteral("kind"), QStringLiteral("DeleteOptions")}};
    switch (options.propagation()) {
    case Propagation::Background:
        body.insert(QStringLiteral("propagationPolicy"), QStringLiteral("Background"));
        break;
    case Propagation::Foreground:
        body.insert(QStringLiteral("propagationPolicy"), QStringLiteral("Foreground"));
        break;
    case Propagation::Orphan:
        body.insert(QStringLiteral("propagationPolicy"), QStringLiteral("Orphan"));
        break;
    case Propagation::Unset:
        break;
    }
    QJsonObject preconditions;
    if (!options.preconditionUid().isEmpty())
        preconditions.insert(QStringLiteral("uid"), options.preconditionUid());
    if (!options.preconditionResourceVersion().isEmpty())
        preconditions.insert(
            QStringLiteral("resourceVersion"), options.preconditionResourceVersion());
    if (!preconditions.isEmpty())
        body.insert(QStringLiteral("preconditions"), preconditions);
    if (options.isDryRun())
        body.insert(QStringLiteral("dryRun"), QJsonArray{QStringLiteral("All")});
    if (options.gracePeriod().count() >= 0)
        body.insert(QStringLiteral("gracePeriodSeconds"), qint64(options.gracePeriod().count()));
    return QJsonDocument(body).toJson(QJsonDocument::Compact);
}

Status checkKind(const transport::Resource &resource, const VerbCall &call)
{
    const bool carriesObject = call.verb == Verb::Create || call.verb == Verb::Update;
    if (carriesObject && call.object.isNull())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("%1 %2: the object is null")
                .arg(verbName(call.verb), resource.gvk.kind));
    if (call.verb == Verb::Patch && (!call.patch || patchContentType(call.patch->type()).isEmpty()))
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("%1: the patch has no type")
                .arg(operationName(call.verb, resource.gvk, call.key)));
    return Status::ok();
}

// The path of a collection that needs a namespace where its kind has them, and what is wrong.
Status checkedCollection(const transport::Resource &resource, Verb verb, const ObjectKey &key)
{
    // What a path segment may be is decided in one place: ask it with a name that is always good.
    QByteArray unused;
    const Status status = transport::objectTarget(
        resource, {key.namespaceName, QStringLiteral("x")}, QString(), {}, &unused);
    return status.isOk()
        ? status
        : Status(status.error().withContext(operationName(verb, resource.gvk, key)));
}

// create addresses the collection; a namespaced object needs its namespace (C-20).
Status createTarget(const transport::Resource &resource, const VerbCall &call, const Query &query,
    QByteArray *target)
{
    const QString inNamespace
        = call.key.namespaceName.isEmpty() ? call.options.namespaceName() : call.key.namespaceName;
    if (const Status status = checkedCollection(resource, call.verb, {inNamespace, call.key.name});
        !status.isOk())
        return status;
    *target = transport::collectionTarget(resource, inNamespace);
    if (!query.text().isEmpty())
        *target += '?' + query.text();
    return Status::ok();
}

} // namespace

QString verbName(Verb verb)
{
    switch (verb) {
    case Verb::Get:
        return QStringLiteral("get");
    case Verb::List:
        return QStringLiteral("list");
    case Verb::Create:
        return QStringLiteral("create");
    case Verb::Update:
        return QStringLiteral("update");
    case Verb::Patch:
        return QStringLiteral("patch");
    case Verb::Delete:
        return QStringLiteral("delete");
    case Verb::DeleteCollection:
        return QStringLiteral("deletecollection");
    }
    return QString();
}

QString operationName(Verb verb, const Gvk &gvk, const ObjectKey &key)
{
    const QString text = verbName(verb) + QLatin1Char(' ') + gvk.kind;
    if (!key.name.isEmpty())
        return text + QLatin1Char(' ') + toString(key);
    return key.namespaceName.isEmpty() ? text : text + QStringLiteral(" in ") + key.namespaceName;
}

namespace {
Status buildCollectionDelete(
    const transport::Resource &resource, const RequestOptions &options, transport::Request *request)
{
    const ObjectKey key{options.namespaceName(), QString()};
    if (const Status status = checkedCollection(resource, Verb::DeleteCollection, key);
        !status.isOk())
        return status;
    transport::ListOptions list;
    list.labelSelector = options.labelSelector();
    list.fieldSelector = options.fieldSelector();
    request->method = "DELETE";
    request->body = deleteOptions(options);
    request->contentType = "application/json";
    request->target = transport::collectionTarget(resource, options.namespaceName(), list);
    request->target += request->target.contains('?') ? '&' : '?';
    request->target += "timeout=" + durationText(options.timeout()).toLatin1();
    return Status::ok();
}
} // namespace

Status buildRequest(const transport::Resource &resource, const VerbCall &call,
    const QString &fieldManager, transport::Request *request)
{
    if (const Status status = checkKind(resource, call); !status.isOk())
        return status;
    const RequestOptions &options = call.options;
    if (call.verb == Verb::List) {
        request->accept = kTable;
        return buildListRequest(resource, options, request);
    }
    if (call.verb == Verb::DeleteCollection)
        return buildCollectionDelete(resource, options, request);
    Query query;
    if (call.verb == Verb::Get) {
        request->method = "GET";
        if (options.payload() == Payload::Metadata)
            request->accept = kPartialObject;
        query.add("resourceVersion", options.resourceVersion());
    } else if (call.verb == Verb::Delete) {
        request->method = "DELETE";
        request->body = deleteOptions(options);
        request->contentType = "application/json";
    } else {
        const QString manager
            = options.fieldManager().isEmpty() ? fieldManager : options.fieldManager();
        if (const Status status = checkFieldManager(manager); !status.isOk())
            return status.error().withContext(operationName(call.verb, resource.gvk, call.key));
        query.add("fieldManager", manager);
        if (options.isDryRun())
            query.add("dryRun", QStringLiteral("All"));
        if (call.verb == Verb::Patch) {
            request->method = "PATCH";
            request->body = call.patch->body();
            request->contentType = patchContentType(call.patch->type());
            if (call.patch->type() == PatchType::Apply && options.isForced())
                query.add("force", QStringLiteral("true"));
        } else {
            request->method = call.verb == Verb::Create ? "POST" : "PUT";
            request->body = call.object.toJson();
            request->contentType = "application/json";
        }
        query.add("fieldValidation", validationText(options.fieldValidation()));
    }
    query.add("timeout", durationText(options.timeout()));
    if (call.verb == Verb::Create && options.subresource().isEmpty())
        return createTarget(resource, call, query, &request->target);
    const Status status = transport::objectTarget(
        resource, call.key, options.subresource(), query.text(), &request->target);
    return status.isOk()
        ? status
        : Status(status.error().withContext(operationName(call.verb, resource.gvk, call.key)));
}

AccessRequest accessOf(const transport::Resource &resource, const VerbCall &call)
{
    const QString group = resource.gvk.group;
    const QString &subresource = call.options.subresource();
    if (call.verb == Verb::List)
        return {verbName(call.verb), group, resource.plural, QString(),
            exactName(call.options.fieldSelector())};
    if (call.verb == Verb::DeleteCollection || (call.verb == Verb::Create && subresource.isEmpty()))
        return {verbName(call.verb), group, resource.plural, QString(), QString()};
    return {verbName(call.verb), group, resource.plural, subresource, call.key.name};
}

Status accessOfTarget(const QByteArray &target, AccessRequest *access)
{
    const auto refused = [&target](const char *why) {
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("get %1: %2").arg(QString::fromUtf8(target), QString::fromLatin1(why)));
    };
    const qsizetype mark = target.indexOf('?');
    const QString path = QUrl::fromPercentEncoding(target.left(mark < 0 ? target.size() : mark));
    QStringList parts = path.split(QLatin1Char('/'));
    if (parts.takeFirst() != QString() || parts.isEmpty() || target.contains('#'))
        return refused("a path begins with '/' and has no '#'");
    if (parts.size() > 1 && parts.last().isEmpty())
        parts.removeLast();
    for (const QString &part : std::as_const(parts))
        if (part == QLatin1StringView(".") || part == QLatin1StringView("..")
            || (part.isEmpty() && parts.size() > 1))
            return refused("a path has no empty segments and none of dots");
    const QUrlQuery query(mark < 0 ? QString() : QString::fromUtf8(target.mid(mark + 1)));
    const bool isCore = parts[0] == QLatin1StringView("api");
    const qsizetype prefix = isCore ? 2 : 3;
    if ((!isCore && parts[0] != QLatin1StringView("apis")) || parts.size() <= prefix) {
        *access = {QStringLiteral("get"), {}, {}, {}, {}, path};
        return Status::ok();
    }
    if (parts[prefix] == QLatin1StringView("watch") || query.hasQueryItem(QStringLiteral("watch")))
        return refused("a watch does not end; use an informer");
    access->group = isCore ? QString() : parts[1];
    parts = parts.mid(prefix);
    if (parts.size() > 2 && parts[0] == QLatin1StringView("namespaces")
        && !(isCore && parts.size() == 3
            && (parts[2] == QLatin1StringView("status")
                || parts[2] == QLatin1StringView("finalize"))))
        parts = parts.mid(2);
    access->resource = parts[0];
    access->name = parts.value(1);
    access->subresource = parts.value(2);
    access->verb = access->name.isEmpty() ? QStringLiteral("list") : QStringLiteral("get");
    if (access->name.isEmpty())
        access->name
            = exactName(query.queryItemValue(QStringLiteral("fieldSelector"), QUrl::FullyDecoded));
    return Status::ok();
}

Status buildListRequest(
    const transport::Resource &resource, const RequestOptions &options, transport::Request *request)
{
    transport::ListOptions list;
    list.labelSelector = options.labelSelector();
    list.fieldSelector = options.fieldSelector();
    list.limit = options.limit();
    list.continueToken = options.continueToken();
    if (list.continueToken.isEmpty()) { // a later page has its version in the token
        list.resourceVersion = options.resourceVersion();
        list.resourceVersionMatch = matchText(options.resourceVersionMatch());
    }
    request->method = "GET";
    request->channel = transport::Channel::List;
    if (options.payload() == Payload::Metadata && request->accept != kTable)
        request->accept = kPartialList;
    if (!options.namespaceName().isEmpty())
        if (const Status status
            = checkedCollection(resource, Verb::List, {options.namespaceName(), QString()});
            !status.isOk())
            return status;
    request->target = transport::collectionTarget(resource, options.namespaceName(), list);
    request->target += request->target.contains('?') ? '&' : '?';
    request->target += "timeout=" + durationText(options.timeout()).toLatin1();
    return Status::ok();
}

} // namespace davit::client
