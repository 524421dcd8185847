// What goes into a request and comes out of it; implicitly shared. Test: tst_clienttypes.
#pragma once

#include <QtCore/qlist.h>
#include <QtCore/qshareddata.h>
#include <davit/error.h>
#include <davit/informerrequest.h>
#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
class ObjectReplyPrivate;
// One object or an error. All methods: [thread-safe].
class DAVIT_EXPORT ObjectReply
{
public:
    ObjectReply(); // an Unset error and a null object
    explicit ObjectReply(const Object &object);
    explicit ObjectReply(const Error &error);
    ObjectReply(const ObjectReply &other);
    ObjectReply &operator=(const ObjectReply &other);
    ~ObjectReply();
    bool isOk() const noexcept;
    Object object() const; // null unless isOk()
    Error error() const;

private:
    QExplicitlySharedDataPointer<ObjectReplyPrivate> d;
};

class ListReplyPrivate;
// One page of objects or an error. All methods: [thread-safe].
class DAVIT_EXPORT ListReply
{
public:
    ListReply();
    explicit ListReply(const Error &error);
    ListReply(const QList<Object> &objects, const QString &resourceVersion,
        const QString &continueToken, qint64 remainingItemCount);
    ListReply(const ListReply &other);
    ListReply &operator=(const ListReply &other);
    ~ListReply();
    bool isOk() const noexcept;
    QList<Object> objects() const;
    QString resourceVersion() const;
    QString continueToken() const; // empty on the last page
    qint64 remainingItemCount() const; // after this page; -1 when the server does not say
    Error error() const;

private:
    QExplicitlySharedDataPointer<ListReplyPrivate> d;
};

class BodyReplyPrivate;
// The bytes of an answer, whatever they are, or an error. All methods: [thread-safe].
class DAVIT_EXPORT BodyReply
{
public:
    BodyReply();
    explicit BodyReply(const QByteArray &body);
    explicit BodyReply(const Error &error);
    BodyReply(const BodyReply &other);
    BodyReply &operator=(const BodyReply &other);
    ~BodyReply();
    bool isOk() const noexcept;
    QByteArray body() const;
    Error error() const;

private:
    QExplicitlySharedDataPointer<BodyReplyPrivate> d;
};

enum class PatchType : quint8 { Unset = 0, Merge, Json, Apply, StrategicMerge };

class PatchPrivate;
// A change to an object, in one of the four forms of the API server. All methods: [thread-safe].
class DAVIT_EXPORT Patch
{
public:
    // RFC 7386: members set, null removes, arrays whole.
    static Patch merge(const QByteArray &json);
    // RFC 6902: a list of operations.
    static Patch json(const QByteArray &json);
    // Server-side apply: JSON (or YAML) of the fields you own.
    static Patch apply(const QByteArray &json);
    // Built-in kinds only.
    static Patch strategicMerge(const QByteArray &json);
    // The merge patch that makes `after` of `before`; with an optimistic lock it carries before's
    // resourceVersion (E-28, E-29). Where that is impossible (a null object, a lock without a
    // resourceVersion) the patch is of type Unset, and Client::patch() fails with InvalidArgument.
    static Patch difference(
        const Object &before, const Object &after, bool withOptimisticLock = false);
    Patch(const Patch &other);
    Patch &operator=(const Patch &other);
    ~Patch();
    PatchType type() const noexcept;
    QByteArray body() const;

private:
    Patch(PatchType type, const QByteArray &body);
    QExplicitlySharedDataPointer<PatchPrivate> d;
};

enum class Propagation : quint8 { Unset = 0, Background, Foreground, Orphan };

// What the server does about fields that it does not know, and fields that stand there twice.
enum class FieldValidation : quint8 {
    Unset = 0, // the server's default, Warn
    Ignore,
    Warn, // a warning in the host's log
    Strict // BadRequest
};

// What a list that names a resourceVersion is given. Source: Kubernetes API concepts, "Semantics
// for get and list".
enum class ResourceVersionMatch : quint8 {
    Unset = 0, // NotOlderThan; with a limit, and a version other than "0", Exact
    Exact, // the state at this version; Expired when the server no longer has it
    NotOlderThan // this state or a later one
};

class RequestOptionsPrivate;
// Options of a request; each verb reads those that its API knows. Setters return the options, to be
// chained: [any one thread]. Getters: [thread-safe].
class DAVIT_EXPORT RequestOptions
{
public:
    RequestOptions();
    RequestOptions(const RequestOptions &other);
    RequestOptions &operator=(const RequestOptions &other);
    ~RequestOptions();

    RequestOptions &inNamespace(const QString &namespaceName);
    RequestOptions &labelSelector(const QString &text);
    RequestOptions &fieldSelector(const QString &text);
    RequestOptions &limit(qint64 items); // 0: no limit
    RequestOptions &continueToken(const QString &token);
    RequestOptions &resourceVersion(const QString &version);
    RequestOptions &subresource(const QString &name); // "status", "scale"
    RequestOptions &fieldManager(const QString &name); // default: davit/<plugin Id>
    RequestOptions &force(bool on = true); // apply: take fields from other managers
    RequestOptions &dryRun(bool on = true);
    RequestOptions &propagation(Propagation policy);
    RequestOptions &preconditionUid(const QString &uid);
    RequestOptions &preconditionResourceVersion(const QString &version);
    RequestOptions &timeout(std::chrono::milliseconds deadline); // for the whole call; default 30 s
    RequestOptions &fieldValidation(FieldValidation validation); // create, update, patch, apply
    RequestOptions &gracePeriod(std::chrono::seconds period); // delete; 0: at once
    // get, list: with Payload::Metadata the server sends no more than that (isMetadataOnly()).
    RequestOptions &payload(Payload payload);
    // list, table: together with resourceVersion(), else the server answers Invalid. Not sent with
    // a continueToken, which has its version in it.
    RequestOptions &resourceVersionMatch(ResourceVersionMatch match);

    QString namespaceName() const;
    QString labelSelector() const;
    QString fieldSelector() const;
    qint64 limit() const;
    QString continueToken() const;
    QString resourceVersion() const;
    QString subresource() const;
    QString fieldManager() const;
    bool isForced() const;
    bool isDryRun() const;
    Propagation propagation() const;
    QString preconditionUid() const;
    QString preconditionResourceVersion() const;
    std::chrono::milliseconds timeout() const;
    FieldValidation fieldValidation() const;
    std::chrono::seconds gracePeriod() const; // negative: the kind's own
    Payload payload() const;
    ResourceVersionMatch resourceVersionMatch() const;

private:
    QSharedDataPointer<RequestOptionsPrivate> d;
};
DAVIT_END_NAMESPACE
