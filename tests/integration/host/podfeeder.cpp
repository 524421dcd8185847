#include "podfeeder.h"

#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>
#include <QUrl>
#include <QUrlQuery>

namespace {

constexpr size_t kRememberedEvents = 6000;
constexpr qint64 kMostUnsentBytes = 4 << 20; // of a watch that is slower
constexpr qint64 kBookmarksEveryMs = 30000;

void writeChunk(QTcpSocket &socket, const QByteArray &text)
{
    socket.write(QByteArray::number(text.size(), 16) + "\r\n" + text + "\r\n");
}

void writeWhole(QTcpSocket &socket, const QByteArray &status, const QByteArray &body)
{
    socket.write("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: "
        + QByteArray::number(body.size()) + "\r\n\r\n" + body);
}

// What stands between the quotes behind `member`: where, and how long. The first one is the Pod's.
std::pair<qsizetype, qsizetype> placeOf(const QByteArray &pod, const char *member)
{
    const QByteArray head = '"' + QByteArray(member) + "\":\"";
    const qsizetype at = pod.indexOf(head) + head.size();
    return {at, pod.indexOf('"', at) - at};
}

QByteArray keyOf(const QByteArray &pod)
{
    const auto [space, spaceBytes] = placeOf(pod, "namespace");
    const auto [name, nameBytes] = placeOf(pod, "name");
    return pod.mid(space, spaceBytes) + '/' + pod.mid(name, nameBytes);
}

QByteArray bookmark(const char *kind, qint64 version, bool isEnd)
{
    return R"({"type":"BOOKMARK","object":{"apiVersion":"v1","kind":")" + QByteArray(kind)
        + R"(","metadata":{"resourceVersion":")" + QByteArray::number(version) + '"'
        + (isEnd ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") + "}}}\n";
}

} // namespace

PodFeeder::PodFeeder(int pods, int replacedEachSecond)
    : m_pods(pods), m_replacedEachSecond(replacedEachSecond)
{
    start();
    while (port() == 0)
        QThread::msleep(1);
}

PodFeeder::~PodFeeder()
{
    quit();
    wait();
}

void PodFeeder::run()
{
    while (int(m_present.size()) < m_pods)
        add();
    m_clock.start();
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    connect(&server, &QTcpServer::newConnection, &server, [this, &server] {
        while (QTcpSocket *const socket = server.nextPendingConnection())
            accept(socket);
    });
    QTimer ticker;
    ticker.setTimerType(Qt::PreciseTimer);
    connect(&ticker, &QTimer::timeout, &server, [this] { onTick(); });
    ticker.start(10);
    m_port.storeRelease(server.serverPort());
    exec();
}

void PodFeeder::accept(QTcpSocket *socket)
{
    connect(socket, &QTcpSocket::disconnected, socket, [this, socket] {
        std::erase_if(m_watches, [socket](const Watch &watch) { return watch.socket == socket; });
        socket->deleteLater();
    });
    connect(socket, &QTcpSocket::readyRead, socket, [this, socket] {
        const QByteArray request = socket->readAll();
        if (request.startsWith("GET "))
            serve(*socket, request.split(' ').value(1));
    });
}

void PodFeeder::serve(QTcpSocket &socket, const QByteArray &target)
{
    const bool isOfPods = target.startsWith("/api/v1/pods");
    if (target == "/api/v1")
        return writeWhole(socket, "200 OK",
            R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[)"
            R"({"name":"pods","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]},)"
            R"({"name":"configmaps","namespaced":true,"kind":"ConfigMap",)"
            R"("verbs":["get","list","watch","patch"]}]})");
    if (!isOfPods && !target.startsWith("/api/v1/configmaps"))
        return writeWhole(socket, "404 Not Found", "{}");
    if (target.contains("watch=true"))
        return watch(socket, target);
    if (isOfPods)
        return list(socket, target);
    writeWhole(socket, "200 OK",
        R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})");
}

// All, or the first page, which has the version that is asked for whenever a watch begins anew.
void PodFeeder::list(QTcpSocket &socket, const QByteArray &target) const
{
    const bool isPage = target.contains("limit=") && !target.contains("resourceVersion=0");
    QByteArray body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")"
        + QByteArray::number(lastVersion())
        + (isPage ? R"(","continue":"nobody goes on"},"items":[)" : R"("},"items":[)");
    for (const QByteArray &pod : m_present) {
        body += pod + ',';
        if (isPage)
            break;
    }
    body.chop(1);
    writeWhole(socket, "200 OK", body + "]}");
}

void PodFeeder::watch(QTcpSocket &socket, const QByteArray &target)
{
    const QUrlQuery query(QUrl::fromEncoded(target));
    const auto number = [&](const char *name) {
        return query.queryItemValue(QLatin1StringView(name)).toLongLong();
    };
    socket.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    Watch watch{&socket, number("resourceVersion"),
        m_clock.elapsed() + number("timeoutSeconds") * 1000, target.startsWith("/api/v1/pods")};
    if (target.contains("sendInitialEvents=true")) {
        watch.seen = lastVersion();
        if (watch.isOfPods)
            for (const QByteArray &pod : m_present)
                writeChunk(socket, R"({"type":"ADDED","object":)" + pod + "}\n");
        writeChunk(socket, bookmark(watch.isOfPods ? "Pod" : "ConfigMap", watch.seen, true));
    }
    m_watches.push_back(watch);
}

void PodFeeder::onTick()
{
    const qint64 now = m_clock.elapsed();
    const qint64 wanted = m_wanted.loadAcquire();
    if (wanted > 0 && m_begunMs < 0)
        m_begunMs = now;
    const qint64 due = std::min(wanted, (now - m_begunMs) * m_replacedEachSecond / 1000);
    while (m_begunMs >= 0 && replaced() < due) {
        removeOldest();
        add();
        m_replaced.storeRelease(replaced() + 1);
    }
    const bool isBookmarkDue = now >= m_nextBookmarkMs;
    if (isBookmarkDue)
        m_nextBookmarkMs = now + kBookmarksEveryMs;
    for (Watch &watch : m_watches) {
        feed(watch);
        if (isBookmarkDue && (!watch.isOfPods || watch.seen == lastVersion()))
            writeChunk(*watch.socket,
                bookmark(watch.isOfPods ? "Pod" : "ConfigMap", lastVersion(), false));
        if (now >= watch.endsAtMs)
            watch.socket->write("0\r\n\r\n");
    }
    std::erase_if(m_watches, [now](const Watch &watch) { return now >= watch.endsAtMs; });
}

void PodFeeder::feed(Watch &watch)
{
    const qint64 first = lastVersion() - qint64(m_events.size()) + 1;
    if (!watch.isOfPods || watch.seen == lastVersion())
        return;
    if (watch.seen + 1 < first) {
        m_expired.fetchAndAddRelaxed(1);
        writeChunk(*watch.socket,
            R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","reason":"Expired","code":410}})"
            "\n");
        watch.endsAtMs = 0;
        return;
    }
    while (watch.seen < lastVersion() && watch.socket->bytesToWrite() < kMostUnsentBytes)
        writeChunk(*watch.socket, m_events[size_t(++watch.seen - first)]);
}

void PodFeeder::add()
{
    QByteArray pod = m_generator.next();
    while (m_names.contains(keyOf(pod)))
        pod = m_generator.next();
    m_names.insert(keyOf(pod));
    remember("ADDED", pod);
    const auto [at, bytes] = placeOf(pod, "resourceVersion");
    m_present.push_back(pod.replace(at, bytes, QByteArray::number(lastVersion())));
}

void PodFeeder::removeOldest()
{
    m_names.remove(keyOf(m_present.front()));
    remember("DELETED", m_present.front());
    m_present.pop_front();
}

void PodFeeder::remember(const char *type, const QByteArray &pod)
{
    m_version.storeRelease(lastVersion() + 1);
    QByteArray line = R"({"type":")" + QByteArray(type) + R"(","object":)" + pod + "}\n";
    const auto [at, bytes] = placeOf(line, "resourceVersion");
    m_events.push_back(line.replace(at, bytes, QByteArray::number(lastVersion())));
    if (m_events.size() > kRememberedEvents)
        m_events.pop_front();
}
