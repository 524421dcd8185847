#include "restmapper.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qurl.h>

namespace davit::client {
namespace {

using Resources = std::map<QString, transport::Resource>;

// What makes the answer no APIResourceList; empty when it is one. As Go decodes it: a list that is
// null or left out is empty, and one wrong type spoils the whole.
QString readResources(const QByteArray &body, const Gvk &groupVersion, Resources *byKind)
{
    QJsonParseError parse;
    const QJsonDocument document = QJsonDocument::fromJson(body, &parse);
    if (parse.error != QJsonParseError::NoError)
        return QStringLiteral("is no JSON");
    const QString listKind = document.object().value(QLatin1StringView("kind")).toString();
    if (listKind != QLatin1StringView("APIResourceList"))
        return listKind.isEmpty() ? QStringLiteral("has no kind")
                                  : QStringLiteral("is a %1").arg(listKind);
    const QJsonValue list = document.object().value(QLatin1StringView("resources"));
    if (!list.isArray() && !list.isNull() && !list.isUndefined())
        return QStringLiteral("has resources that are no list");
    const QJsonArray entries = list.toArray();
    for (qsizetype i = 0; i < entries.size(); ++i) {
        const QJsonObject entry = entries.at(i).toObject();
        const QJsonValue isNamespaced = entry.value(QLatin1StringView("namespaced"));
        const QString plural = entry.value(QLatin1StringView("name")).toString();
        const QString kind = entry.value(QLatin1StringView("kind")).toString();
        if (plural.isEmpty() || kind.isEmpty()
            || (!isNamespaced.isBool() && !isNamespaced.isUndefined()))
            return QStringLiteral("has a wrong name, kind or namespaced in resources[%1]").arg(i);
        if (plural.contains(QLatin1Char('/')))
            continue; // a subresource
        transport::Resource resource;
        resource.gvk = {groupVersion.group, groupVersion.version, kind};
        resource.plural = plural;
        resource.isNamespaced = isNamespaced.toBool();
        byKind->emplace(kind, resource);
    }
    return {};
}

} // namespace

struct RestMapper::Core : std::enable_shared_from_this<Core>
{
    Core(RestClient &rest, const support::TimeSource &time) : rest(rest), time(time) { }

    void resolve(const Gvk &gvk, Done done);
    void ask(const Gvk &gvk);
    void answered(const Gvk &gvk, const RawReply &reply);
    static Result<transport::Resource> lookUp(const Group &group, const Gvk &gvk);
    // No error when the fault is empty.
    Error malformed(const Gvk &gvk, const QString &fault) const;

    RestClient &rest;
    const support::TimeSource &time;
    std::mutex mutex;
    std::map<QString, Group> groups; // by "apps/v1"; GUARDED_BY(mutex)
};

Result<transport::Resource> RestMapper::Core::lookUp(const Group &group, const Gvk &gvk)
{
    const auto found = group.byKind.find(gvk.kind);
    if (found == group.byKind.end())
        return transport::kindNotServed(gvk);
    return found->second;
}

void RestMapper::Core::resolve(const Gvk &gvk, Done done)
{
    const std::lock_guard lock(mutex);
    Group &group = groups[apiVersion(gvk)];
    if (!group.isAsking) {
        const auto age = time.monotonic() - group.askedAt;
        const bool isThere = group.byKind.count(gvk.kind) > 0;
        const std::chrono::nanoseconds life = isThere ? std::chrono::nanoseconds(kKnownLife)
                                                      : std::chrono::nanoseconds(kUnknownLife);
        if (group.isKnown && age < life) {
            rest.executor().post(
                [done = std::move(done), result = lookUp(group, gvk)] { done(result); });
            return;
        }
        group.isAsking = true;
        ask(gvk);
    }
    group.waiting.emplace_back(gvk, std::move(done));
}

void RestMapper::Core::ask(const Gvk &gvk)
{
    Call call;
    call.operation = QStringLiteral("discover %1").arg(apiVersion(gvk));
    call.request.target = discoveryTarget(gvk);
    rest.send(call,
        [self = shared_from_this(), gvk](const RawReply &reply) { self->answered(gvk, reply); });
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

void RestMapper::Core::answered(const Gvk &gvk, const RawReply &reply)
{
    Resources byKind;
    Error error = reply.error;
    if (error.code() == ErrorCode::NotFound)
        error = Error(); // a group that nobody serves (yet): an empty list
    else if (!error.isError())
        error = malformed(gvk, readResources(reply.body, gvk, &byKind));

    std::vector<std::pair<Done, Result<transport::Resource>>> answers;
    {
        const std::lock_guard lock(mutex);
        Group &group = groups[apiVersion(gvk)];
        group.isAsking = false;
        if (!error.isError()) {
            group.isKnown = true;
            group.askedAt = time.monotonic();
            group.byKind = std::move(byKind);
        }
        for (auto &[asked, done] : group.waiting) {
            const bool isThere = group.byKind.count(asked.kind) > 0;
            answers.emplace_back(std::move(done),
                error.isError() && !isThere ? Result<transport::Resource>(error)
                                            : lookUp(group, asked));
        }
        group.waiting.clear();
    }
    for (const auto &[done, result] : answers)
        done(result);
}

RestMapper::RestMapper(RestClient &rest, const support::TimeSource &time)
    : m_core(std::make_shared<Core>(rest, time))
{ }

RestMapper::~RestMapper() = default;

void RestMapper::resolve(const Gvk &gvk, Done done)
{
    m_core->resolve(gvk, std::move(done));
}

void RestMapper::forget(const Gvk &gvk)
{
    const std::lock_guard lock(m_core->mutex);
    Group &group = m_core->groups[apiVersion(gvk)];
    group.isKnown = false;
    group.byKind.clear();
}

QByteArray discoveryTarget(const Gvk &gvk)
{
    const QByteArray version = QUrl::toPercentEncoding(gvk.version);
    if (gvk.group.isEmpty())
        return "/api/" + version;
    return "/apis/" + QUrl::toPercentEncoding(gvk.group) + '/' + version;
}

} // namespace davit::client
