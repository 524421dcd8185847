#include "restmapper.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

namespace davit::client {
namespace {

using Nanoseconds = std::chrono::nanoseconds;
using Resources = std::vector<ApiResource>;

struct GroupVersion
{
    void forget()
    {
        isKnown = false;
        isOutdated = isAsking;
        resources.clear();
    }

    bool isKnown = false;
    bool isAsking = false;
    bool isOutdated = false; // forgotten while it was asked for
    Nanoseconds askedAt{0};
    Resources resources;
    std::vector<std::pair<Gvk, RestMapper::Done>> waiting;
};

struct Root
{
    enum class Form { Unknown, Aggregated, Lists };
    Form form = Form::Unknown;
    bool isAsking = false;
    bool isOutdated = false; // forgotten while it was asked for
    Nanoseconds askedAt{0};
    std::vector<ApiGroup> groups; // their order; resources only as they came, see GroupVersion
    std::vector<std::function<void(const Error &)>> waiting;
};

const ApiResource *findKind(const Resources &resources, const QString &kind)
{
    const auto found = std::find_if(resources.begin(), resources.end(),
        [&](const ApiResource &entry) { return entry.resource.gvk.kind == kind; });
    return found == resources.end() ? nullptr : &*found;
}

// Gives each resource that fits to `take`, in the most preferred of the versions where it does.
template <typename Fits, typename Take>
void eachPreferred(const std::vector<ApiGroup> &groups, Fits &&fits, Take &&take)
{
    for (const ApiGroup &group : groups) {
        QStringList taken; // in a more preferred version
        for (const ApiVersion &version : group.versions)
            for (const ApiResource &entry : version.resources) {
                if (!fits(entry) || taken.contains(entry.resource.plural))
                    continue;
                taken.append(entry.resource.plural);
                take(entry);
            }
    }
}

// An answer of the server, though a refusal: it has no such document for us.
bool isRefusal(const Error &error)
{
    return error.httpStatus() >= 400 && error.httpStatus() < 500
        && error.code() != ErrorCode::TooManyRequests && error.code() != ErrorCode::Unauthorized;
}

} // namespace

struct RestMapper::Core : std::enable_shared_from_this<Core>
{
    Core(RestClient &client, const support::TimeSource &clock) : rest(client), time(clock) { }

    using Ready = std::function<void(const Error &)>;
    using Choice = std::function<Resources(const std::vector<ApiGroup> &)>;

    void resolve(const Gvk &gvk, Done done);
    void askRoot(DiscoveryRoot root);
    void rootAnswered(DiscoveryRoot root, const RawReply &reply);
    Root::Form readRoot(DiscoveryRoot which, const QByteArray &body);
    void askGroup(const Gvk &gvk);
    void groupAnswered(const Gvk &gvk, const RawReply &reply);
    static Result<transport::Resource> lookUp(const GroupVersion &group, const Gvk &gvk);
    // No error when the fault is empty.
    Error malformed(const Gvk &gvk, const QString &fault) const;

    void select(const Choice &choice, const Found &found, bool mayAskAgain);
    void gather(Ready ready, Nanoseconds maxAge);
    void gatherLists(const Ready &ready, Nanoseconds maxAge);
    std::vector<ApiGroup> catalogue();
    Root &of(DiscoveryRoot root) { return roots[size_t(root)]; }

    RestClient &rest;
    const support::TimeSource &time;
    std::mutex mutex;
    std::map<QString, GroupVersion> groups; // by "apps/v1"; GUARDED_BY(mutex)
    std::array<Root, 2> roots; // GUARDED_BY(mutex)
};

Result<transport::Resource> RestMapper::Core::lookUp(const GroupVersion &group, const Gvk &gvk)
{
    const ApiResource *const found = findKind(group.resources, gvk.kind);
    if (!found)
        return transport::kindNotServed(gvk);
    return found->resource;
}

void RestMapper::Core::resolve(const Gvk &gvk, Done done)
{
    const std::lock_guard lock(mutex);
    GroupVersion &group = groups[apiVersion(gvk)];
    Root &root = of(rootOf(gvk.group));
    if (!group.isAsking) {
        const auto age = time.monotonic() - group.askedAt;
        const bool isThere = findKind(group.resources, gvk.kind) != nullptr;
        const Nanoseconds life = isThere ? Nanoseconds(kKnownLife) : Nanoseconds(kUnknownLife);
        if (group.isKnown && age < life) {
            rest.executor().post(
                [done = std::move(done), result = lookUp(group, gvk)] { done(result); });
            return;
        }
        if (root.form == Root::Form::Unknown) {
            root.waiting.emplace_back(
                [self = shared_from_this(), gvk, done = std::move(done)](const Error &error) {
                    if (error.isError())
                        done(error);
                    else
                        self->resolve(gvk, done); // its group is known now, or is asked for
                });
            askRoot(rootOf(gvk.group));
            return;
        }
        group.isAsking = true;
        askGroup(gvk);
    }
    group.waiting.emplace_back(gvk, std::move(done));
}

void RestMapper::Core::askRoot(DiscoveryRoot which)
{
    Root &root = of(which);
    if (root.isAsking)
        return;
    root.isAsking = true;
    Call call;
    call.request.target = rootTarget(which);
    call.operation = QStringLiteral("discover %1").arg(QString::fromLatin1(call.request.target));
    call.request.accept = kAggregatedAccept;
    rest.send(call, [self = shared_from_this(), which](const RawReply &reply) {
        self->rootAnswered(which, reply);
    });
}

void RestMapper::Core::rootAnswered(DiscoveryRoot which, const RawReply &reply)
{
    std::vector<Ready> waiting;
    Error error = isRefusal(reply.error) ? Error() : reply.error;
    {
        const std::lock_guard lock(mutex);
        Root &root = of(which);
        root.isAsking = false;
        if (std::exchange(root.isOutdated, false) && !error.isError())
            return askRoot(which);
        if (!error.isError()) {
            root.form = readRoot(which, reply.body);
            root.askedAt = time.monotonic();
        }
        waiting.swap(root.waiting);
    }
    for (const Ready &ready : waiting)
        ready(error);
}

// Spreads an aggregated document over the groups. Locked.
Root::Form RestMapper::Core::readRoot(DiscoveryRoot which, const QByteArray &body)
{
    Root &root = of(which);
    std::vector<ApiGroup> read;
    if (!readAggregated(body, &read)) {
        root.groups.clear();
        readGroups(body, &root.groups);
        return Root::Form::Lists;
    }
    for (auto &[name, group] : groups) { // a version that is gone is known to be empty
        const bool isOurs = name.contains(QLatin1Char('/')) == (which == DiscoveryRoot::Groups);
        if (!isOurs || group.isAsking)
            continue;
        group.isKnown = true;
        group.askedAt = time.monotonic();
        group.resources.clear();
    }
    for (const ApiGroup &entry : read)
        for (const ApiVersion &version : entry.versions) {
            GroupVersion &group = groups[apiVersion({entry.name, version.name, {}})];
            group.isKnown = !version.isStale; // who needs it asks it itself
            group.askedAt = time.monotonic();
            group.resources = version.resources;
        }
    root.groups = std::move(read);
    return Root::Form::Aggregated;
}

void RestMapper::Core::askGroup(const Gvk &gvk)
{
    Call call;
    call.operation = QStringLiteral("discover %1").arg(apiVersion(gvk));
    call.request.target = discoveryTarget(gvk);
    rest.send(call, [self = shared_from_this(), gvk](const RawReply &reply) {
        self->groupAnswered(gvk, reply);
    });
}

Error RestMapper::Core::malformed(const Gvk &gvk, const QString &fault) const
{
    if (fault.isEmpty())
        return {};
    return Error(ErrorCode::MalformedReply,
        QStringLiteral("discover %1: what %2 answers to GET %3 is no APIResourceList: it %4; check "
                       "what serves that path there, a proxy or the group's APIService")
            .arg(apiVersion(gvk), rest.serverName(), QString::fromUtf8(discoveryTarget(gvk)),
                fault));
}

void RestMapper::Core::groupAnswered(const Gvk &gvk, const RawReply &reply)
{
    Resources read;
    Error error = reply.error;
    if (error.code() == ErrorCode::NotFound)
        error = Error(); // a group that nobody serves (yet): an empty list
    else if (!error.isError())
        error = malformed(gvk, readResources(reply.body, gvk, &read));

    std::vector<std::pair<Done, Result<transport::Resource>>> answers;
    {
        const std::lock_guard lock(mutex);
        GroupVersion &group = groups[apiVersion(gvk)];
        if (std::exchange(group.isOutdated, false) && !error.isError())
            return askGroup(gvk);
        group.isAsking = false;
        if (!error.isError()) {
            group.isKnown = true;
            group.askedAt = time.monotonic();
            group.resources = std::move(read);
        }
        for (auto &[asked, done] : group.waiting) {
            const bool isThere = findKind(group.resources, asked.kind) != nullptr;
            answers.emplace_back(std::move(done),
                error.isError() && !isThere ? Result<transport::Resource>(error)
                                            : lookUp(group, asked));
        }
        group.waiting.clear();
    }
    for (const auto &[done, result] : answers)
        done(result);
}

// Both roots, not older than `maxAge`, and on servers of the old form every list of resources.
void RestMapper::Core::gather(Ready ready, Nanoseconds maxAge)
{
    struct Join
    {
        int open = 0;
        Error error;
    };
    const auto join = std::make_shared<Join>();
    const auto one
        = [self = shared_from_this(), join, ready = std::move(ready), maxAge](const Error &error) {
              if (error.isError() && !join->error.isError())
                  join->error = error;
              if (--join->open > 0)
                  return;
              if (join->error.isError())
                  ready(join->error);
              else
                  self->gatherLists(ready, maxAge);
          };
    const std::lock_guard lock(mutex);
    join->open = int(roots.size()) + 1;
    for (const DiscoveryRoot which : {DiscoveryRoot::Core, DiscoveryRoot::Groups}) {
        Root &root = of(which);
        if (root.form != Root::Form::Unknown && time.monotonic() - root.askedAt < maxAge) {
            rest.executor().post([one] { one(Error()); });
            continue;
        }
        root.waiting.emplace_back(one);
        askRoot(which);
    }
    rest.executor().post([one] { one(Error()); }); // all of it runs on the executor
}

void RestMapper::Core::gatherLists(const Ready &ready, Nanoseconds maxAge)
{
    std::vector<Gvk> missing;
    {
        const std::lock_guard lock(mutex);
        for (const Root &root : roots)
            for (const ApiGroup &group : root.groups)
                for (const ApiVersion &version : group.versions) {
                    const Gvk gvk{group.name, version.name, QString()};
                    const GroupVersion &known = groups[apiVersion(gvk)];
                    if (root.form == Root::Form::Lists
                        && (!known.isKnown || time.monotonic() - known.askedAt >= maxAge))
                        missing.push_back(gvk);
                }
    }
    if (missing.empty())
        return ready(Error());
    const auto open = std::make_shared<size_t>(missing.size());
    for (const Gvk &gvk :
        missing) // one that fails is as if it had no resources: others still count
        resolve(gvk, [open, ready](const Result<transport::Resource> &) {
            if (--*open == 0)
                ready(Error());
        });
}

// Groups in the server's order with the resources that are known now.
std::vector<ApiGroup> RestMapper::Core::catalogue()
{
    const std::lock_guard lock(mutex);
    std::vector<ApiGroup> all;
    for (const Root &root : roots)
        for (const ApiGroup &group : root.groups) {
            all.push_back(group);
            for (ApiVersion &version : all.back().versions)
                version.resources = groups[apiVersion({group.name, version.name, {}})].resources;
        }
    return all;
}

void RestMapper::Core::select(const Choice &choice, const Found &found, bool mayAskAgain)
{
    const Nanoseconds life = mayAskAgain ? Nanoseconds(kKnownLife) : Nanoseconds(kUnknownLife);
    gather(
        [self = shared_from_this(), choice, found, mayAskAgain](const Error &error) {
            if (error.isError())
                return found(error);
            const Resources chosen = choice(self->catalogue());
            if (chosen.empty() && mayAskAgain) // it may have come since
                return self->select(choice, found, false);
            found(chosen);
        },
        life);
}

RestMapper::RestMapper(RestClient &rest, const support::TimeSource &time)
    : m_core(std::make_shared<Core>(rest, time))
{ }

RestMapper::~RestMapper() = default;

void RestMapper::resolve(const Gvk &gvk, Done done)
{
    m_core->resolve(gvk, std::move(done));
}

void RestMapper::find(const QString &name, Found found)
{
    const auto choice = [name](const std::vector<ApiGroup> &groups) {
        Resources byName;
        Resources byShortName;
        NameMatch match = NameMatch::None;
        eachPreferred(
            groups,
            [&](const ApiResource &entry) {
                match = matchName(entry, name);
                return match != NameMatch::None;
            },
            [&](const ApiResource &entry) {
                (match == NameMatch::Name ? byName : byShortName).push_back(entry);
            });
        byName.insert(byName.end(), byShortName.begin(), byShortName.end());
        return byName;
    };
    m_core->select(
        choice,
        [name, found = std::move(found)](const Result<Resources> &result) {
            if (result.isOk() && result.value().empty())
                found(Error(ErrorCode::KindNotServed,
                    QStringLiteral("the cluster serves no resource, kind or short name \"%1\"")
                        .arg(name)));
            else
                found(result);
        },
        true);
}

void RestMapper::category(const QString &name, Found found)
{
    const auto choice = [name](const std::vector<ApiGroup> &groups) {
        Resources chosen;
        eachPreferred(
            groups, [&](const ApiResource &entry) { return entry.categories.contains(name); },
            [&](const ApiResource &entry) { chosen.push_back(entry); });
        return chosen;
    };
    m_core->select(choice, found, true);
}

void RestMapper::forget(const Gvk &gvk)
{
    const std::lock_guard lock(m_core->mutex);
    m_core->groups[apiVersion(gvk)].forget();
    Root &root = m_core->of(rootOf(gvk.group)); // whose answer on its way has the group in it, too
    root.isOutdated = root.isAsking;
}

void RestMapper::forgetGroup(const QString &group)
{
    const std::lock_guard lock(m_core->mutex);
    for (auto &[name, entry] : m_core->groups)
        if (gvkFrom(name, u"").group == group)
            entry.forget();
    // A version that nobody has heard of yet is in the root's document alone.
    Root &root = m_core->of(rootOf(group));
    root.isOutdated = root.isAsking;
    root.askedAt = -Nanoseconds(kKnownLife);
}

} // namespace davit::client
