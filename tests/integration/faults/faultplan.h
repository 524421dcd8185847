// A row of random faults, the same for the same seed: what happens, to whom, and how much.
#pragma once

#include "faultgateway.h"

#include <QtCore/qlist.h>
#include <QtCore/qmetatype.h>
#include <QtCore/qstring.h>

#include <convergence.h>

struct Fault
{
    // Of connections that pass through a FaultProxy, and of answers that pass through the gateway.
    enum class Kind : quint8 {
        Cut, // every connection that is open, now
        Reset,
        CutAfterBytes, // a connection, in the middle of a frame
        ResetAfterBytes,
        Stall, // nothing passes for a while, then reset
        Refuse, // new connections for a while
        HoldBack, // what the server sends is held back for a while, and lost with the connection
        Delay, // every piece comes late for a while
        BadAnswer,
        // Of the server:
        EndWatches, // cleanly
        ExpireWatches, // by an ERROR event, 410
        ExpireHistory, // and cut: the next watch is told 410
        Restart,
        Restore // an older state, with its lower resourceVersion
    };
    Kind kind = Kind::Cut;
    bool isBehindGateway = false; // which of the two ways to the server; BadAnswer: yes
    int amount = 0; // bytes or milliseconds
    BadAnswer answer;
    QString name; // for the log
};

// How often something comes in a hundred faults; the rest is of connections and answers.
struct ServerFaults
{
    int endWatches = 0;
    int expireWatches = 0;
    int expireHistory = 0;
    int restarts = 0;
    int restores = 0;
};

// In a random order; where `count` allows it (60 does), each kind that the server has and each of
// badAnswers() is among them.
QList<Fault> planFaults(quint32 seed, int count, const ServerFaults &server);

// Every answer that is bad in a way of its own; for the plan, and one by one for rows.
struct NamedAnswer
{
    const char *name;
    BadAnswer answer;
};
const QList<NamedAnswer> &badAnswers();

Q_DECLARE_METATYPE(BadAnswer)
Q_DECLARE_METATYPE(ServerFaults)
Q_DECLARE_METATYPE(convergence::History)
