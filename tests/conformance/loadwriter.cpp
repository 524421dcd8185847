#include "loadwriter.h"

#include <QtCore/qtimer.h>
#include <QtNetwork/qnetworkaccessmanager.h>
#include <QtNetwork/qnetworkreply.h>

// A QNetworkAccessManager keeps six connections a host.
static constexpr int kLanesPerManager = 6;

LoadWriter::LoadWriter(const ApiConnection &connection, const QByteArray &namespaceName,
    int objects, int writers, Server server)
    : m_connection(connection)
    , m_namespace(namespaceName)
    , m_writers(writers)
    , m_server(server)
    , m_exists(size_t(objects), false)
{ }

LoadWriter::~LoadWriter() = default;

void LoadWriter::begin(Work work, int writes, int ratePerSecond)
{
    m_writes = m_lostAnswers = 0;
    m_downMs = m_elapsedMs = 0;
    QMetaObject::invokeMethod(
        this, [this, work, writes, ratePerSecond] { run(work, writes, ratePerSecond); },
        Qt::QueuedConnection);
}

void LoadWriter::finishSoon()
{
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (m_writes >= m_target)
                return;
            m_target = m_begun;
            if (m_writes == m_target)
                finish();
        },
        Qt::QueuedConnection);
}

void LoadWriter::run(Work work, int writes, int ratePerSecond)
{
    m_work = work;
    m_target = work == Work::CreateAll ? int(m_exists.size()) : writes;
    m_rate = ratePerSecond;
    m_begun = m_nextToCreate = 0;
    m_downSinceMs = -1;
    m_tokens = 0;
    if (m_lanes.empty()) {
        for (int i = 0; i < m_writers; i += kLanesPerManager)
            m_managers.push_back(std::make_unique<QNetworkAccessManager>());
        m_lanes.resize(size_t(m_writers));
        for (size_t i = 0; i < m_lanes.size(); ++i)
            m_lanes[i].manager = m_managers[i / kLanesPerManager].get();
        m_tick = new QTimer(this);
        connect(m_tick, &QTimer::timeout, this, &LoadWriter::onTick);
    }
    m_clock.start();
    m_lastTickMs = 0;
    m_tick->start(5);
}

double LoadWriter::ratePerSecond() const
{
    const qint64 upMs = m_elapsedMs - m_downMs;
    return upMs > 0 ? double(m_writes) * 1000.0 / double(upMs) : 0;
}

void LoadWriter::onTick()
{
    const qint64 nowMs = m_clock.elapsed();
    // What was missed while the server was away is not made up for: at most a tenth of a second.
    m_tokens = qMin(m_tokens + double(nowMs - m_lastTickMs) * m_rate / 1000.0, m_rate / 10.0);
    m_lastTickMs = nowMs;
    for (size_t i = 0; i < m_lanes.size() && m_tokens >= 1 && m_begun < m_target; ++i) {
        Lane &lane = m_lanes[i];
        if (lane.isBusy)
            continue;
        m_tokens -= 1;
        ++m_begun;
        choose(lane, int(i));
        send(int(i));
    }
}

void LoadWriter::choose(Lane &lane, int laneNumber)
{
    lane.isBusy = true;
    if (m_work == Work::CreateAll) {
        lane.object = m_nextToCreate++;
        lane.verb = Verb::Create;
        return;
    }
    const int lanes = int(m_lanes.size());
    const int mine = (int(m_exists.size()) - laneNumber + lanes - 1) / lanes;
    lane.object = laneNumber + lanes * int(m_random() % unsigned(mine));
    if (!m_exists[size_t(lane.object)])
        lane.verb = Verb::Create;
    else
        lane.verb = m_random() % 10 == 0 ? Verb::Delete : Verb::Patch;
}

QByteArray LoadWriter::target(const Lane &lane) const
{
    const QByteArray collection = "/api/v1/namespaces/" + m_namespace + "/configmaps";
    if (lane.verb == Verb::Create)
        return collection;
    return collection + "/cm-" + QByteArray::number(lane.object);
}

void LoadWriter::send(int laneNumber)
{
    Lane &lane = m_lanes[size_t(laneNumber)];
    QNetworkRequest request = m_connection.request(target(lane));
    request.setTransferTimeout(5000);
    const QByteArray labels
        = m_begun % 5 == 0 ? R"("labels":{"half":"1"})" : R"("labels":{"half":"0"})";
    const QByteArray data = R"("data":{"n":")" + QByteArray::number(m_begun) + R"("}})";
    QNetworkReply *reply = nullptr;
    switch (lane.verb) {
    case Verb::Create:
        request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
        reply = lane.manager->post(request,
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm-)"
                + QByteArray::number(lane.object) + R"(",)" + labels + "}," + data);
        break;
    case Verb::Patch:
        request.setHeader(
            QNetworkRequest::ContentTypeHeader, QStringLiteral("application/merge-patch+json"));
        reply = lane.manager->sendCustomRequest(
            request, "PATCH", "{\"metadata\":{" + labels + "}," + data);
        break;
    case Verb::Delete:
        reply = lane.manager->deleteResource(request);
        break;
    }
    connect(reply, &QNetworkReply::finished, this, [this, laneNumber, reply] {
        onAnswer(laneNumber, *reply);
        reply->deleteLater();
    });
}

void LoadWriter::onAnswer(int laneNumber, QNetworkReply &reply)
{
    Lane &lane = m_lanes[size_t(laneNumber)];
    const int status = reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (status >= 200 && status < 300 && reply.error() == QNetworkReply::NoError)
        return succeed(lane);
    // An earlier try, whose answer was lost, has happened after all: nobody else writes these
    // names.
    if ((lane.verb == Verb::Create && status == 409)
        || (lane.verb == Verb::Delete && status == 404))
        return succeed(lane);
    if (lane.verb == Verb::Patch && status == 404 && m_server == Server::MayForget) {
        lane.verb = Verb::Create;
        return send(laneNumber);
    }
    if (status >= 400 && status < 500 && status != 429) {
        Q_EMIT failed(QStringLiteral("HTTP %1 for %2: %3")
                          .arg(status)
                          .arg(reply.url().path(), QString::fromUtf8(reply.readAll().left(300))));
        return;
    }
    // Away, starting, or overloaded: try the same again.
    if (m_downSinceMs < 0)
        m_downSinceMs = m_clock.elapsed();
    ++m_lostAnswers;
    QTimer::singleShot(100, this, [this, laneNumber] { send(laneNumber); });
}

void LoadWriter::succeed(Lane &lane)
{
    const qint64 nowMs = m_clock.elapsed();
    if (m_downSinceMs >= 0) {
        m_downMs += nowMs - m_downSinceMs;
        m_downSinceMs = -1;
    }
    m_elapsedMs = nowMs;
    m_exists[size_t(lane.object)] = lane.verb != Verb::Delete;
    lane.isBusy = false;
    if (++m_writes == m_target)
        finish();
}

void LoadWriter::finish()
{
    m_tick->stop();
    Q_EMIT finished();
}
