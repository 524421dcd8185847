#include "apiclient.h"

#include <support/yaml.h>

#include <QJsonArray>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <httplib.h>

namespace {

std::unique_ptr<httplib::Client> clientFor(const ApiAddress &address)
{
    auto client = address.certificateFile.isEmpty()
        ? std::make_unique<httplib::Client>(address.server.toStdString())
        : std::make_unique<httplib::Client>(address.server.toStdString(),
            address.certificateFile.toStdString(), address.keyFile.toStdString());
    if (!address.caFile.isEmpty())
        client->set_ca_cert_path(address.caFile.toStdString());
    client->set_url_encode(false);
    client->set_read_timeout(90);
    client->set_connection_timeout(10);
    return client;
}

QByteArray memberOfFirst(
    const QJsonObject &config, const char *list, const char *inner, const char *name)
{
    const QJsonObject entry = config[QLatin1String(list)].toArray().first().toObject();
    return entry[QLatin1String(inner)].toObject()[QLatin1String(name)].toString().toUtf8();
}

} // namespace

ApiAddress ApiAddress::fromKubeconfig(const QByteArray &yaml)
{
    const auto parsed = davit::support::yamlToJson(yaml);
    if (!parsed.isOk() || parsed.documents.isEmpty())
        return {};
    const QJsonObject config = QJsonDocument::fromJson(parsed.documents.first()).object();
    return {memberOfFirst(config, "clusters", "cluster", "server"),
        memberOfFirst(config, "clusters", "cluster", "certificate-authority"),
        memberOfFirst(config, "users", "user", "client-certificate"),
        memberOfFirst(config, "users", "user", "client-key")};
}

ApiAnswer apiCall(const ApiAddress &address, const QByteArray &method, const QByteArray &target,
    const QByteArray &body, const QByteArray &contentType, const QByteArray &accept)
{
    httplib::Request request;
    request.method = method.toStdString();
    request.path = target.toStdString();
    request.headers.emplace("Accept", accept.toStdString());
    request.headers.emplace("User-Agent", "contract/1");
    if (!body.isEmpty()) {
        request.headers.emplace("Content-Type", contentType.toStdString());
        request.body = body.toStdString();
    }
    const httplib::Result result = clientFor(address)->send(request);
    if (!result)
        return {};
    return {result->status, QByteArray::fromStdString(result->body)};
}

struct ApiWatch::Private
{
    std::unique_ptr<httplib::Client> client;
    std::thread thread;
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    QByteArray pending; // all GUARDED_BY(mutex)
    QList<QJsonObject> events;
    int code = 0;
    bool hasEnded = false;

    bool receive(const char *bytes, std::size_t size)
    {
        const std::lock_guard lock(mutex);
        pending.append(bytes, qsizetype(size));
        for (qsizetype end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
            events.append(QJsonDocument::fromJson(pending.left(end)).object());
            pending.remove(0, end + 1);
        }
        changed.notify_all();
        return true;
    }

    template <typename Condition> bool wait(const Condition &condition, int milliseconds) const
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::milliseconds(milliseconds), condition);
    }
};

ApiWatch::ApiWatch(const ApiAddress &address, const QByteArray &target, const QByteArray &accept)
    : d(std::make_unique<Private>())
{
    d->client = clientFor(address);
    d->thread = std::thread([this, target, accept] {
        const httplib::Headers headers{{"Accept", accept.toStdString()}};
        const auto result = d->client->Get(
            target.toStdString(), headers,
            [this](const httplib::Response &head) {
                const std::lock_guard lock(d->mutex);
                d->code = head.status;
                return true;
            },
            [this](const char *bytes, std::size_t size) { return d->receive(bytes, size); });
        Q_UNUSED(result)
        const std::lock_guard lock(d->mutex);
        d->hasEnded = true;
        d->changed.notify_all();
    });
}

ApiWatch::~ApiWatch()
{
    d->client->stop();
    d->thread.join();
}

QList<QJsonObject> ApiWatch::events() const
{
    const std::lock_guard lock(d->mutex);
    return d->events;
}

QStringList ApiWatch::summary() const
{
    QStringList lines;
    for (const QJsonObject &event : events()) {
        const QString type = event[QLatin1String("type")].toString();
        const QJsonObject metadata
            = event[QLatin1String("object")].toObject()[QLatin1String("metadata")].toObject();
        if (type != QLatin1String("BOOKMARK"))
            lines.append(type + QLatin1Char(' ') + metadata[QLatin1String("name")].toString());
    }
    return lines;
}

bool ApiWatch::hasEnded() const
{
    const std::lock_guard lock(d->mutex);
    return d->hasEnded;
}

int ApiWatch::code() const
{
    const std::lock_guard lock(d->mutex);
    return d->code;
}

bool ApiWatch::waitFor(
    const std::function<bool(const QList<QJsonObject> &)> &isEnough, int milliseconds) const
{
    return d->wait([&] { return isEnough(d->events); }, milliseconds);
}

bool ApiWatch::waitForCount(int events, int milliseconds) const
{
    return d->wait([&] { return d->events.size() >= events; }, milliseconds);
}

bool ApiWatch::waitForEnd(int milliseconds) const
{
    return d->wait([&] { return d->hasEnded; }, milliseconds);
}
