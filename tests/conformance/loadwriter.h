// The second client of the convergence test: creates, patches, deletes and re-creates ConfigMaps at
// a rate of its own, and goes on when the API server dies and comes back. Contract:
//   - Names are cm-0 to cm-(objects - 1); each belongs to one of its writers, so that it never
//   conflicts with itself. The label "half" is 0 or 1 and changes now and then.
//   - A write counts when the server answered 2xx. After a broken connection the same write is
//   tried again until it is known to have happened, by this try or an earlier one.
//   - Of a server that may forget, an object that is not there is created.
// Lives in a thread of its own; the figures may be read from any.
#pragma once

#include "apiconnection.h"

#include <QtCore/qelapsedtimer.h>
#include <QtCore/qobject.h>
#include <atomic>
#include <memory>
#include <random>
#include <vector>

class QNetworkAccessManager;
class QNetworkReply;
class QTimer;

class LoadWriter : public QObject
{
    Q_OBJECT
public:
    enum class Work : quint8 { CreateAll, Churn };
    enum class Server : quint8 { Remembers, MayForget };

    LoadWriter(const ApiConnection &connection, const QByteArray &namespaceName, int objects,
        int writers = 12, Server server = Server::Remembers);
    ~LoadWriter() override;

    // Churn stops after `writes`; CreateAll after one creation each. The figures start at zero.
    // [thread-safe]
    void begin(Work work, int writes, int ratePerSecond);
    // Churn finishes with the writes that have begun. [thread-safe]
    void finishSoon();

    int writes() const { return m_writes; } // [thread-safe]
    int lostAnswers() const { return m_lostAnswers; } // [thread-safe]
    // Over the time in which the server answered: what it was down for is taken off. [thread-safe]
    double ratePerSecond() const;

Q_SIGNALS:
    void finished();
    // The server answered something that the writer cannot have caused.
    void failed(const QString &text);

private:
    enum class Verb : quint8 { Create, Patch, Delete };
    struct Lane
    {
        QNetworkAccessManager *manager = nullptr;
        bool isBusy = false;
        Verb verb = Verb::Create;
        int object = 0;
    };

    void run(Work work, int writes, int ratePerSecond); // [writer's thread]
    void onTick();
    void choose(Lane &lane, int laneNumber);
    void send(int laneNumber);
    void onAnswer(int laneNumber, QNetworkReply &reply);
    void succeed(Lane &lane);
    void finish();
    QByteArray target(const Lane &lane) const;

    const ApiConnection m_connection;
    const QByteArray m_namespace;
    const int m_writers;
    const Server m_server;
    std::vector<bool> m_exists;
    std::vector<std::unique_ptr<QNetworkAccessManager>> m_managers;
    std::vector<Lane> m_lanes;
    QTimer *m_tick = nullptr;
    std::mt19937 m_random{7};
    Work m_work = Work::CreateAll;
    int m_target = 0;
    int m_begun = 0;
    int m_nextToCreate = 0;
    int m_rate = 0;
    double m_tokens = 0;
    QElapsedTimer m_clock;
    qint64 m_lastTickMs = 0;
    qint64 m_downSinceMs = -1;
    std::atomic<qint64> m_downMs = 0;
    std::atomic<qint64> m_elapsedMs = 0;
    std::atomic<int> m_writes = 0;
    std::atomic<int> m_lostAnswers = 0;
};
