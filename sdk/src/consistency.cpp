#include <davit/consistency.h>

DAVIT_BEGIN_NAMESPACE

class ConsistencyPrivate : public QSharedData
{
public:
    ConsistencyType type = ConsistencyType::Unset;
    QString resourceVersion;
    std::chrono::milliseconds timeout{10'000};
};

Consistency::Consistency(ConsistencyType type, const QString &resourceVersion)
    : d(new ConsistencyPrivate)
{
    d->type = type;
    d->resourceVersion = resourceVersion;
}

Consistency::Consistency(const Consistency &other) = default;
Consistency &Consistency::operator=(const Consistency &other) = default;
Consistency::~Consistency() = default;

Consistency Consistency::any()
{
    return Consistency(ConsistencyType::Any, QString());
}

Consistency Consistency::ownWrites()
{
    return Consistency(ConsistencyType::OwnWrites, QString());
}

Consistency Consistency::notOlderThan(const QString &resourceVersion)
{
    return Consistency(ConsistencyType::NotOlderThan, resourceVersion);
}

Consistency &Consistency::timeout(std::chrono::milliseconds limit)
{
    d->timeout = limit;
    return *this;
}

ConsistencyType Consistency::type() const noexcept
{
    return d->type;
}

QString Consistency::resourceVersion() const
{
    return d->resourceVersion;
}

std::chrono::milliseconds Consistency::timeout() const
{
    return d->timeout;
}

DAVIT_END_NAMESPACE
