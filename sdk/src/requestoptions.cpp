#include <davit/clienttypes.h>

DAVIT_BEGIN_NAMESPACE

class RequestOptionsPrivate : public QSharedData
{
public:
    QString namespaceName;
    QString labelSelector;
    QString fieldSelector;
    qint64 limit = 0;
    QString continueToken;
    QString resourceVersion;
    QString subresource;
    QString fieldManager;
    bool isForced = false;
    bool isDryRun = false;
    Propagation propagation = Propagation::Unset;
    QString preconditionUid;
    QString preconditionResourceVersion;
    std::chrono::milliseconds timeout{30'000};
    FieldValidation fieldValidation = FieldValidation::Unset;
    std::chrono::seconds gracePeriod{-1};
    Payload payload = Payload::Unset;
    ResourceVersionMatch resourceVersionMatch = ResourceVersionMatch::Unset;
};

RequestOptions::RequestOptions() : d(new RequestOptionsPrivate) { }

RequestOptions::RequestOptions(const RequestOptions &other) = default;
RequestOptions &RequestOptions::operator=(const RequestOptions &other) = default;
RequestOptions::~RequestOptions() = default;

RequestOptions &RequestOptions::inNamespace(const QString &namespaceName)
{
    d->namespaceName = namespaceName;
    return *this;
}

RequestOptions &RequestOptions::labelSelector(const QString &text)
{
    d->labelSelector = text;
    return *this;
}

RequestOptions &RequestOptions::fieldSelector(const QString &text)
{
    d->fieldSelector = text;
    return *this;
}

RequestOptions &RequestOptions::limit(qint64 items)
{
    d->limit = items;
    return *this;
}

RequestOptions &RequestOptions::continueToken(const QString &token)
{
    d->continueToken = token;
    return *this;
}

RequestOptions &RequestOptions::resourceVersion(const QString &version)
{
    d->resourceVersion = version;
    return *this;
}

RequestOptions &RequestOptions::subresource(const QString &name)
{
    d->subresource = name;
    return *this;
}

RequestOptions &RequestOptions::fieldManager(const QString &name)
{
    d->fieldManager = name;
    return *this;
}

RequestOptions &RequestOptions::force(bool on)
{
    d->isForced = on;
    return *this;
}

RequestOptions &RequestOptions::dryRun(bool on)
{
    d->isDryRun = on;
    return *this;
}

RequestOptions &RequestOptions::propagation(Propagation policy)
{
    d->propagation = policy;
    return *this;
}

RequestOptions &RequestOptions::preconditionUid(const QString &uid)
{
    d->preconditionUid = uid;
    return *this;
}

RequestOptions &RequestOptions::preconditionResourceVersion(const QString &version)
{
    d->preconditionResourceVersion = version;
    return *this;
}

RequestOptions &RequestOptions::timeout(std::chrono::milliseconds deadline)
{
    d->timeout = deadline;
    return *this;
}

RequestOptions &RequestOptions::fieldValidation(FieldValidation validation)
{
    d->fieldValidation = validation;
    return *this;
}

RequestOptions &RequestOptions::gracePeriod(std::chrono::seconds period)
{
    d->gracePeriod = period;
    return *this;
}

RequestOptions &RequestOptions::payload(Payload payload)
{
    d->payload = payload;
    return *this;
}

RequestOptions &RequestOptions::resourceVersionMatch(ResourceVersionMatch match)
{
    d->resourceVersionMatch = match;
    return *this;
}

QString RequestOptions::namespaceName() const
{
    return d->namespaceName;
}

QString RequestOptions::labelSelector() const
{
    return d->labelSelector;
}

QString RequestOptions::fieldSelector() const
{
    return d->fieldSelector;
}

qint64 RequestOptions::limit() const
{
    return d->limit;
}

QString RequestOptions::continueToken() const
{
    return d->continueToken;
}

QString RequestOptions::resourceVersion() const
{
    return d->resourceVersion;
}

QString RequestOptions::subresource() const
{
    return d->subresource;
}

QString RequestOptions::fieldManager() const
{
    return d->fieldManager;
}

bool RequestOptions::isForced() const
{
    return d->isForced;
}

bool RequestOptions::isDryRun() const
{
    return d->isDryRun;
}

Propagation RequestOptions::propagation() const
{
    return d->propagation;
}

QString RequestOptions::preconditionUid() const
{
    return d->preconditionUid;
}

QString RequestOptions::preconditionResourceVersion() const
{
    return d->preconditionResourceVersion;
}

std::chrono::milliseconds RequestOptions::timeout() const
{
    return d->timeout;
}

FieldValidation RequestOptions::fieldValidation() const
{
    return d->fieldValidation;
}

std::chrono::seconds RequestOptions::gracePeriod() const
{
    return d->gracePeriod;
}

Payload RequestOptions::payload() const
{
    return d->payload;
}

ResourceVersionMatch RequestOptions::resourceVersionMatch() const
{
    return d->resourceVersionMatch;
}

DAVIT_END_NAMESPACE
