#include <davit/controllerbuilder.h>
#include <davit/priv/backends.h>
#include <davit/priv/controllerspec.h>

#include <support/dnsnames.h>
#include <support/threadcheck.h>

DAVIT_BEGIN_NAMESPACE

using priv::ControllerSpec;
using priv::SourceSpec;

namespace {

constexpr int kMostWorkers = 64;

void keepFirst(ControllerSpec &spec, const QString &fault)
{
    if (spec.firstError.isOk())
        spec.firstError = Status(ErrorCode::InvalidArgument,
            QStringLiteral("controller \"%1\": %2").arg(spec.name, fault));
}

void addSource(ControllerSpec &spec, SourceSpec source)
{
    LabelSelector labels;
    FieldSelector fields;
    ShardSelector shard;
    for (const Status &status : {LabelSelector::parse(source.request.labelSelector(), &labels),
             FieldSelector::parse(source.request.fieldSelector(), &fields),
             ShardSelector::parse(source.request.shardSelector(), &shard)})
        if (!status.isOk())
            keepFirst(spec,
                toString(source.request.gvk()) + QStringLiteral(": ") + status.error().message());
    source.request.delivery(priv::kLatestOfController);
    spec.sources.push_back(std::move(source));
}

void checkWhole(ControllerSpec &spec)
{
    using Kind = SourceSpec::Kind;
    bool hasSelf = false;
    bool hasMapped = false;
    bool hasOwner = false;
    for (const SourceSpec &source : spec.sources) {
        hasSelf |= source.kind == Kind::Self;
        hasMapped |= source.kind == Kind::Mapped;
        hasOwner |= source.kind == Kind::Owner;
    }
    if (!hasSelf && !hasMapped)
        keepFirst(spec, QStringLiteral("it has no source; call watches() or mapped()"));
    if (hasOwner && !hasSelf)
        keepFirst(spec, QStringLiteral("owns() needs a watches() that names the owner's kind"));
    if (!spec.reconciler)
        keepFirst(spec, QStringLiteral("the reconciler is null"));
}

} // namespace

KeyMapper::~KeyMapper() = default;

ControllerBuilder::ControllerBuilder(HostContext &host, const QString &name) : d(new ControllerSpec)
{
    d->host = &host;
    d->name = name;
    if (!support::isDnsLabel(name))
        keepFirst(*d,
            QStringLiteral("a name is 1 to 63 lower-case letters, digits and dashes, and neither "
                           "begins nor ends with a dash"));
}

ControllerBuilder::~ControllerBuilder()
{
    delete d;
}

ControllerBuilder &ControllerBuilder::watches(const InformerRequest &request)
{
    addSource(*d, {SourceSpec::Kind::Self, request, {}, {}});
    return *this;
}

ControllerBuilder &ControllerBuilder::owns(const InformerRequest &request)
{
    addSource(*d, {SourceSpec::Kind::Owner, request, {}, {}});
    return *this;
}

ControllerBuilder &ControllerBuilder::mapped(const InformerRequest &request, KeyMapper *mapper)
{
    if (!mapper)
        keepFirst(*d, toString(request.gvk()) + QLatin1StringView(": the mapper is null"));
    addSource(*d, {SourceSpec::Kind::Mapped, request, {}, std::shared_ptr<KeyMapper>(mapper)});
    return *this;
}

ControllerBuilder &ControllerBuilder::where(const Predicate &predicate)
{
    if (d->sources.empty()) {
        keepFirst(*d, QStringLiteral("where() comes after the source that it narrows"));
        return *this;
    }
    SourceSpec &source = d->sources.back();
    source.predicate = source.predicate && predicate;
    return *this;
}

ControllerBuilder &ControllerBuilder::workers(int count)
{
    if (count < 1 || count > kMostWorkers)
        keepFirst(*d, QStringLiteral("%1 workers are not 1 to %2").arg(count).arg(kMostWorkers));
    d->workers = count;
    return *this;
}

ControllerBuilder &ControllerBuilder::retryDelays(
    std::chrono::milliseconds base, std::chrono::milliseconds max)
{
    if (base.count() <= 0 || max < base)
        keepFirst(*d,
            QStringLiteral("retry delays of %1 ms to %2 ms are no growing delays")
                .arg(base.count())
                .arg(max.count()));
    d->retryBase = base;
    d->retryMax = max;
    return *this;
}

ControllerBuilder &ControllerBuilder::reconcileTimeout(std::chrono::milliseconds timeout)
{
    if (timeout.count() < 0)
        keepFirst(*d, QStringLiteral("a reconcile time-out of %1 ms").arg(timeout.count()));
    d->reconcileTimeout = timeout;
    return *this;
}

Status ControllerBuilder::reconcileWithOwned(Reconciler *reconciler)
{
    d->reconciler.reset(reconciler);
    checkWhole(*d);
    if (!d->host)
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("controller \"%1\": reconcileWith() was called twice").arg(d->name));
    HostContext &host = *d->host;
    DAVIT_ASSERT_THREAD(*host.backend().informerParent());
    d->host = nullptr;
    if (!d->firstError.isOk())
        return d->firstError;
    auto spec = std::make_unique<ControllerSpec>(*d);
    spec->host = &host;
    d->reconciler.reset();
    return host.backend().startController(std::move(spec));
}

DAVIT_END_NAMESPACE
