#include "embeddedapiserver.h"

#include "apiserver/apirouter.h"
#include "apiserver/httpfront.h"

#include <support/yaml.h>

#include <QtCore/qdir.h>
#include <QtCore/qtemporaryfile.h>
#include <QtCore/qurlquery.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace davit::testing {
namespace {

using namespace apiserver;

QByteArray bytesOf(const std::string &text)
{
    return support::toByteArray(text);
}

QByteArray queryText(const ApiRequest &request)
{
    QByteArray text;
    for (const auto &[name, value] : request.query)
        text += (text.isEmpty() ? "" : "&") + bytesOf(name) + '=' + bytesOf(value);
    return text;
}

// The reason that goes with an injected status.
std::string reasonOf(int code)
{
    switch (code) {
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "NotFound";
    case 409:
        return "Conflict";
    case 410:
        return "Expired";
    case 429:
        return "TooManyRequests";
    case 503:
        return "ServiceUnavailable";
    case 504:
        return "Timeout";
    default:
        return code >= 500 ? "InternalError" : "BadRequest";
    }
}

ApiReply injectedReply(const ApiServerFault &fault)
{
    ApiFault refusal{fault.httpStatus, reasonOf(fault.httpStatus),
        "the embedded server was told to answer " + std::to_string(fault.httpStatus),
        Json::object(), {}};
    if (fault.retryAfterSeconds > 0)
        refusal.details["retryAfterSeconds"] = fault.retryAfterSeconds;
    return replyOf(refusal);
}

// Status and message of a refusal as an Error.
Status statusOf(const ApiReply &reply, const QString &what)
{
    if (reply.code < 300)
        return Status::ok();
    Json status;
    QString error;
    QString message = QStringLiteral("HTTP %1").arg(reply.code);
    if (support::parseJson(bytesOf(reply.body), &status, &error))
        message = QString::fromStdString(support::stringMember(status, "message"));
    return Error(ErrorCode::Invalid, QStringLiteral("%1: %2").arg(what, message))
        .withHttpStatus(reply.code)
        .withStatusJson(bytesOf(reply.body));
}

// An object of a folder, and where it stands.
struct FileObject
{
    QString path;
    int document = 0; // of the file, from 1
    int item = -1; // of the list that the document is, from 0
    Json object;
};

// "ConfigMap default/x"
QString titleOf(const Json &object)
{
    const Json metadata = support::membersOf(object, "metadata");
    QString name = QString::fromStdString(support::stringMember(metadata, "name"));
    if (const std::string space = support::stringMember(metadata, "namespace"); !space.empty())
        name.prepend(QString::fromStdString(space) + QLatin1Char('/'));
    return QString::fromStdString(support::stringMember(object, "kind")) + QLatin1Char(' ') + name;
}

QString placeOf(const FileObject &one)
{
    const QString title = titleOf(one.object).trimmed();
    return QStringLiteral("objects file %1: document %2").arg(one.path).arg(one.document)
        + (one.item < 0 ? QString() : QStringLiteral(", items[%1]").arg(one.item))
        + (title.isEmpty() ? QString() : QStringLiteral(", ") + title);
}

// An object that a folder brings twice: which one is meant is not for the server to guess.
Status twice(const FileObject &one, const FileObject &other)
{
    const QString where = other.path == one.path
        ? QStringLiteral("is document %1 too; remove one of the two").arg(other.document)
        : QStringLiteral("is also in %1; remove it from one of the two").arg(other.path);
    return Error(ErrorCode::InvalidConfiguration, QStringLiteral("%1 %2").arg(placeOf(one), where));
}

// "List" or "ConfigMapList", as kubectl takes them.
bool isList(const Json &object)
{
    const QString kind = QString::fromStdString(support::stringMember(object, "kind"));
    return kind == QLatin1String("List")
        || (kind.endsWith(QLatin1String("List")) && object.contains("items"));
}

// What an item of a ConfigMapList leaves out is the list's to say.
void completeItem(const Json &list, Json *item)
{
    const std::string kind = support::stringMember(list, "kind");
    if (kind == "List")
        return;
    if (!item->contains("apiVersion"))
        (*item)["apiVersion"] = support::stringMember(list, "apiVersion");
    if (!item->contains("kind"))
        (*item)["kind"] = kind.substr(0, kind.size() - std::string_view("List").size());
}

// Answers a fault, or an empty text.
QString appendItems(const FileObject &list, std::vector<FileObject> *objects)
{
    if (list.object.contains("items") && !list.object["items"].is_null()
        && !list.object["items"].is_array())
        return QStringLiteral("items of a List must be a list of objects");
    FileObject one{list.path, list.document, -1, {}};
    for (const Json &item : support::itemsOf(list.object, "items")) {
        ++one.item;
        if (!item.is_object())
            return QStringLiteral("document %1, items[%2] is no object; write it as {apiVersion: "
                                  "..., kind: ..., metadata: {...}}")
                .arg(one.document)
                .arg(one.item);
        one.object = item;
        completeItem(list.object, &one.object);
        objects->push_back(one);
    }
    return {};
}

// Appends the objects of a file, those of lists one by one.
Status readObjects(const QString &path, std::vector<FileObject> *objects)
{
    int document = 0;
    const auto refuse = [&path](const QString &what) {
        return Status(
            ErrorCode::InvalidConfiguration, QStringLiteral("objects file %1: %2").arg(path, what));
    };
    if (!QFileInfo(path).isFile()) // it would be left out, or read without an end
        return refuse(QStringLiteral("it is no regular file; remove it or give it another name"));
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return refuse(file.errorString());
    const support::YamlDocuments yaml
        = support::yamlToJson(file.readAll(), support::SameKeys::AreFaults);
    if (!yaml.isOk())
        return refuse(yaml.error);
    for (const QByteArray &json : yaml.documents) {
        ++document;
        Json object;
        QString error;
        if (!support::parseJson(json, &object, &error))
            return refuse(QStringLiteral("document %1: %2").arg(document).arg(error));
        FileObject one{path, document, -1, std::move(object)};
        if (!isList(one.object))
            objects->push_back(std::move(one));
        else if (const QString fault = appendItems(one, objects); !fault.isEmpty())
            return refuse(fault);
    }
    return Status::ok();
}

} // namespace

struct EmbeddedApiServer::Private
{
    EmbeddedApiServerOptions options;
    ApiRouter router;
    std::optional<ApiStore::Backup> saved; // GUARDED_BY(router.store().mutex())
    std::mutex writeMutex; // one write at a time; the first that is taken
    std::mutex lifeMutex; // start and stop; never taken while answering
    std::unique_ptr<HttpFront> front; // GUARDED_BY(lifeMutex)
    mutable std::mutex mutex;
    int port = 0; // all GUARDED_BY(mutex)
    QList<ApiServerRequest> requests;
    QList<ApiServerFault> faults;

    explicit Private(const EmbeddedApiServerOptions &given)
        : options(given)
        , router({std::size_t(std::max(1, given.historyLimitItems)),
                     std::size_t(std::max(qint64(0), given.historyLimitBytes))},
              given.collectsGarbage)
    {
        router.watchControl().bookmarkInterval = given.bookmarkInterval;
    }

    // The first fault that matches; used up by that.
    bool takeFault(const ApiRequest &request, ApiServerFault *taken)
    {
        const QByteArray path = bytesOf(request.path);
        const QByteArray query = queryText(request);
        const std::lock_guard lock(mutex);
        for (qsizetype i = 0; i < faults.size(); ++i) {
            ApiServerFault &fault = faults[i];
            if ((!fault.method.isEmpty() && fault.method != bytesOf(request.method))
                || !path.contains(fault.pathContains) || !query.contains(fault.queryContains))
                continue;
            *taken = fault;
            if (fault.times > 0 && --fault.times == 0)
                faults.removeAt(i);
            return true;
        }
        return false;
    }

    void log(const ApiRequest &request, int httpStatus)
    {
        if (options.requestLimitItems <= 0)
            return;
        const std::lock_guard lock(mutex);
        if (requests.size() >= options.requestLimitItems)
            requests.removeFirst();
        requests.append({bytesOf(request.method), bytesOf(request.path), queryText(request),
            bytesOf(request.userAgent), bytesOf(request.body), httpStatus});
    }

    AfterAnswer answer(const ApiRequest &request, ApiReply *reply)
    {
        ApiServerFault fault;
        const bool hasFault = takeFault(request, &fault);
        if (hasFault && fault.delay.count() > 0)
            std::this_thread::sleep_for(fault.delay);
        const bool isDropped = hasFault && fault.isUnanswered;
        // Writes are remembered in the order in which they are done.
        std::unique_lock order(writeMutex, std::defer_lock);
        if (request.method != "GET")
            order.lock();
        *reply = hasFault && fault.httpStatus != 0 ? injectedReply(fault) : router.handle(request);
        log(request, isDropped ? 0 : reply->code);
        return isDropped ? AfterAnswer::DropUnanswered : AfterAnswer::Keep;
    }

    Status put(const Json &object, const QString &what);
};

EmbeddedApiServer::EmbeddedApiServer(const EmbeddedApiServerOptions &options)
    : d(std::make_unique<Private>(options))
{ }

EmbeddedApiServer::~EmbeddedApiServer()
{
    stop();
}

Status EmbeddedApiServer::start()
{
    const std::lock_guard life(d->lifeMutex);
    if (d->front)
        return Status::ok();
    d->router.watchControl().isStopping = false;
    auto front = std::make_unique<HttpFront>(
        [this](const ApiRequest &request, ApiReply *reply) { return d->answer(request, reply); });
    const quint16 wanted = d->options.port;
    const int port = front->start(wanted);
    if (port == 0)
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("embedded API server: cannot listen on 127.0.0.1:%1").arg(wanted));
    d->front = std::move(front);
    const std::lock_guard lock(d->mutex);
    d->port = port;
    d->options.port = quint16(port); // a restart comes back where clients look for it
    d->router.setAddress("127.0.0.1:" + std::to_string(port));
    return Status::ok();
}

void EmbeddedApiServer::stop()
{
    const std::lock_guard life(d->lifeMutex);
    if (!d->front)
        return;
    d->router.watchControl().isStopping = true;
    d->router.store().changed().notify_all();
    d->front->stop();
    d->front.reset();
}

quint16 EmbeddedApiServer::port() const
{
    const std::lock_guard lock(d->mutex);
    return quint16(d->port);
}

QString EmbeddedApiServer::url() const
{
    return QStringLiteral("http://127.0.0.1:%1").arg(port());
}

QByteArray EmbeddedApiServer::kubeconfig() const
{
    return "apiVersion: v1\n"
           "kind: Config\n"
           "clusters:\n"
           "- name: embedded\n"
           "  cluster:\n"
           "    server: "
        + url().toUtf8()
        + "\n"
          "users:\n"
          "- name: embedded\n"
          "  user: {}\n"
          "contexts:\n"
          "- name: embedded\n"
          "  context:\n"
          "    cluster: embedded\n"
          "    user: embedded\n"
          "current-context: embedded\n";
}

Status EmbeddedApiServer::writeKubeconfig(const QString &path) const
{
    // Beside it and renamed: a link of that name is replaced, and what it names stays as it is.
    QTemporaryFile file(path + QStringLiteral(".XXXXXX"));
    const QByteArray text = kubeconfig();
    QString fault;
    if (!file.open() || file.write(text) != text.size() || !file.flush())
        fault = file.errorString();
    else if (::rename(QFile::encodeName(file.fileName()).constData(),
                 QFile::encodeName(path).constData())
        != 0)
        fault = QString::fromLocal8Bit(std::strerror(errno));
    if (!fault.isEmpty())
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("kubeconfig %1: cannot be written: %2").arg(path, fault));
    file.setAutoRemove(false);
    return Status::ok();
}

Status EmbeddedApiServer::Private::put(const Json &object, const QString &what)
{
    const std::string apiVersion = support::stringMember(object, "apiVersion");
    const std::string kind = support::stringMember(object, "kind");
    if (apiVersion.empty() || kind.empty())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("%1: it has no apiVersion or kind").arg(what));
    const std::string item = router.pathOf(object, true);
    if (item.empty())
        return Status(ErrorCode::KindNotServed,
            QStringLiteral("%1: %2 %3 is not served")
                .arg(what, QString::fromStdString(apiVersion), QString::fromStdString(kind)));
    ApiRequest request;
    request.userAgent = "davit-embedded";
    request.body = support::toStdString(support::dumpJson(object));
    request.contentType = "application/json";
    request.method = "POST";
    request.path = router.pathOf(object, false);
    ApiReply reply = router.handle(request);
    if (reply.code == 409) {
        request.path = item;
        request.method = "GET";
        const Json live = Json::parse(router.handle(request).body, nullptr, false);
        Json whole = object; // a custom resource is only replaced at a version
        whole["metadata"]["resourceVersion"]
            = support::stringMember(support::membersOf(live, "metadata"), "resourceVersion");
        request.method = "PUT";
        request.body = support::toStdString(support::dumpJson(whole));
        reply = router.handle(request);
    }
    if (reply.code < 300 && object.contains("status")) {
        request.method = "PATCH";
        request.contentType = "application/merge-patch+json";
        request.path = item + "/status";
        request.body = support::toStdString(support::dumpJson({{"status", object["status"]}}));
        const ApiReply status = router.handle(request);
        if (status.code != 404) // a kind without the subresource took it with the object
            reply = status;
    }
    return statusOf(reply, what);
}

Status EmbeddedApiServer::put(const QByteArray &objectJson)
{
    Json object;
    QString error;
    if (!support::parseJson(objectJson, &object, &error) || !object.is_object())
        return Status(ErrorCode::InvalidArgument, QStringLiteral("object: %1").arg(error));
    return d->put(object, QStringLiteral("object"));
}

Status EmbeddedApiServer::loadObjects(const QString &folder, qsizetype *count)
{
    const QDir dir(folder);
    if (!dir.exists())
        return Status(ErrorCode::InvalidConfiguration,
            QStringLiteral("objects folder %1: does not exist").arg(folder));
    std::vector<FileObject> objects;
    const QStringList names = dir.entryList(
        {QStringLiteral("*.yaml"), QStringLiteral("*.yml"), QStringLiteral("*.json")},
        QDir::Dirs | QDir::Files | QDir::System, QDir::Name);
    for (const QString &name : names)
        if (const Status status = readObjects(dir.filePath(name), &objects); !status.isOk())
            return status;
    std::stable_partition(objects.begin(), objects.end(), [](const auto &object) {
        const std::string kind = support::stringMember(object.object, "kind");
        return kind == "CustomResourceDefinition" || kind == "Namespace";
    });
    std::map<std::string, const FileObject *> loaded; // by their paths on the server
    for (const FileObject &one : objects) {
        Status status = d->put(one.object, placeOf(one));
        if (const auto [first, isNew] = loaded.emplace(d->router.pathOf(one.object, true), &one);
            status.isOk() && !isNew)
            status = twice(one, *first->second);
        if (!status.isOk())
            return status;
    }
    if (count)
        *count = qsizetype(objects.size());
    return Status::ok();
}

EmbeddedApiServer::Answer EmbeddedApiServer::request(const QByteArray &method,
    const QByteArray &target, const QByteArray &body, const QByteArray &contentType)
{
    ApiRequest request;
    request.method = support::toStdString(method);
    request.contentType = support::toStdString(contentType);
    request.userAgent = "davit-embedded";
    request.body = support::toStdString(body);
    const qsizetype mark = target.indexOf('?');
    request.path = support::toStdString(
        QByteArray::fromPercentEncoding(mark < 0 ? target : target.left(mark)));
    if (mark >= 0) {
        const QUrlQuery query(QString::fromUtf8(target.mid(mark + 1)));
        for (const auto &[name, value] : query.queryItems(QUrl::FullyDecoded))
            request.query.emplace(name.toStdString(), value.toStdString());
    }
    const ApiReply reply = d->router.handle(request);
    if (reply.nextChunk)
        return {405, "a watch needs a connection"};
    return {reply.code, bytesOf(reply.body)};
}

QList<ApiServerRequest> EmbeddedApiServer::requests() const
{
    const std::lock_guard lock(d->mutex);
    return d->requests;
}

int EmbeddedApiServer::countRequests(const QByteArray &method, const QByteArray &pathSuffix) const
{
    const std::lock_guard lock(d->mutex);
    return int(std::count_if(d->requests.begin(), d->requests.end(), [&](const auto &request) {
        return request.method == method && request.path.endsWith(pathSuffix);
    }));
}

void EmbeddedApiServer::clearRequests()
{
    const std::lock_guard lock(d->mutex);
    d->requests.clear();
}

int EmbeddedApiServer::openWatches() const
{
    return d->router.watchControl().openWatches;
}

quint64 EmbeddedApiServer::lastVersion() const
{
    const std::lock_guard lock(d->router.store().mutex());
    return d->router.store().lastVersion();
}

qint64 EmbeddedApiServer::historyBytes() const
{
    const std::lock_guard lock(d->router.store().mutex());
    return qint64(d->router.store().historyBytes());
}

void EmbeddedApiServer::addFault(const ApiServerFault &fault)
{
    const std::lock_guard lock(d->mutex);
    d->faults.append(fault);
}

void EmbeddedApiServer::clearFaults()
{
    const std::lock_guard lock(d->mutex);
    d->faults.clear();
}

void EmbeddedApiServer::expireHistory()
{
    const std::lock_guard lock(d->router.store().mutex());
    d->router.store().forgetHistory();
}

void EmbeddedApiServer::backup()
{
    const std::lock_guard lock(d->router.store().mutex());
    d->saved = d->router.store().backup();
}

void EmbeddedApiServer::restore()
{
    const std::lock_guard lock(d->router.store().mutex());
    if (d->saved)
        d->router.store().restore(*d->saved);
}

void EmbeddedApiServer::endWatches(WatchEnd end)
{
    WatchControl &control = d->router.watchControl();
    control.endsWithExpired = end == WatchEnd::Expired;
    ++control.endedGeneration;
    d->router.store().changed().notify_all();
}

void EmbeddedApiServer::sendBookmarks()
{
    ++d->router.watchControl().bookmarkRequests;
    d->router.store().changed().notify_all();
}

void EmbeddedApiServer::dropConnections()
{
    const std::lock_guard life(d->lifeMutex);
    if (d->front)
        d->front->dropConnections();
}

} // namespace davit::testing
