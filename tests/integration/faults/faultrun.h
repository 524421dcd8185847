// Informers behind faults: 20 writers change ConfigMaps of an API server directly, five sets of
// informers watch them through a FaultProxy, three of them through a FaultGateway as well, and
// faults are played; in the end all must agree. Lives in the thread of a test with an event loop.
#pragma once

#include "faultplan.h"

#include <testing/faultproxy.h>
#include <transport/clusterconfig.h>

#include <apiconnection.h>
#include <convergence.h>
#include <functional>
#include <informerrig.h>
#include <loadthread.h>

// Where the server is and what can be done to it.
struct FaultTarget
{
    quint16 port = 0;
    std::optional<QSslConfiguration> tls; // of the gateway; absent: the server speaks plain HTTP
    davit::transport::ClusterConfig config; // of the way without a gateway; its port is replaced
    ApiConnection connection; // of the writers
    LoadWriter::Server memory = LoadWriter::Server::Remembers;
    std::function<void(Fault::Kind)> strikeServer; // of the server's own faults
};

class FaultRun : public QObject
{
    Q_OBJECT
public:
    explicit FaultRun(const FaultTarget &target);
    ~FaultRun() override;

    // Objects are written, informers have synced; else a sentence.
    QString begin();
    // Plays the fault and returns when it is over; a sentence when it could not be played. What
    // becomes of it in the informers goes on meanwhile.
    QString play(const Fault &fault);
    // Ends the faults; then the writers, once each handler has heard an event of each kind; waits
    // until all agree, then says what does not.
    QStringList disagreements(convergence::History history);
    // After disagreements(): leaves out one event of each kind at random, of each handler, and says
    // where nobody noticed.
    QStringList unnoticedDrops(quint32 seed, convergence::History history) const;
    // "12 lists, 340 watches, …" of all informers.
    QString summary() const;

private:
    bool eachHeardEachKind() const;
    QString phases() const; // of all reflectors, for messages
    struct Handler
    {
        QString name;
        const Recorder *recorder;
        QByteArray selector; // of the fresh list
        convergence::World fresh; // the list at the end
    };

    QString addRig(const char *name, bool isBehindGateway, davit::cache::InitialSync sync,
        const QStringList &selectors);
    QString playAnswer(const Fault &fault);
    convergence::World listed(const QByteArray &selector) const;
    QStringList check(Handler &handler, convergence::History history) const;

    const FaultTarget m_target;
    FaultGateway m_gateway;
    davit::testing::FaultProxy m_direct;
    std::unique_ptr<davit::testing::FaultProxy> m_indirect; // before the gateway
    LoadThread m_load;
    std::vector<std::unique_ptr<InformerRig>> m_rigs;
    std::vector<Handler> m_handlers;
};
