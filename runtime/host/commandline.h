// What the user asked for, from the arguments of the process. Contract:
//   - Nothing but the arguments, the environment and where davit is installed is looked at; files
//   and directories are checked by those who use them.
//   - What is wrong is one sentence that names the flag, the fault and the next step.
// Flag names: those of kubebuilder's manager where they exist. Test: tst_commandline.
#pragma once

#include <davit/result.h>
#include <observability/logwriter.h>

#include <QtCore/qstringlist.h>
#include <chrono>
#include <variant>

namespace davit::host {

// lib/davit/plugins of the prefix where this executable lies; where that has none, as a build tree,
// /usr/lib/davit/plugins. [thread-safe]
QString defaultPluginDir();

struct RunOptions
{
    QStringList pluginDirs{defaultPluginDir()};
    QString kubeconfig; // empty: KUBECONFIG, then in-cluster, then ~/.kube/config
    QString context; // empty: the kubeconfig's current one
    bool isEmbedded = false;
    QString embeddedObjectsDir; // empty: none
    QString metricsAddress = QStringLiteral(":8080");
    QString probeAddress = QStringLiteral(":8081");
    std::chrono::milliseconds gracefulTimeout{30000}; // M-13: 0 does not wait, negative for ever
    std::chrono::milliseconds cacheSyncTimeout{120000};
    double requestsPerSecond = 0; // of the process; not positive: no limit
    int requestBurst = 0; // so many at once; set when there is a limit
    bool isLeaderElected = false; // the rest of these is for that
    std::chrono::milliseconds leaseDuration{15000};
    std::chrono::milliseconds renewDeadline{10000};
    std::chrono::milliseconds retryPeriod{2000};
    QString leaseName = QStringLiteral("davit");
    QString leaseNamespace; // empty: that of the pod
    QString stateDir; // empty: the default of statedir.h
    QString configFile; // empty: none
    bool areCoreDumpsAllowed = false; // and that a debugger of this user attaches
    observability::LogSettings log;
    bool isEncodingChosen = false; // else: console on a terminal, JSON elsewhere
};

struct InspectOptions
{
    QStringList files;
};

// Loads a library and ends: what davit run does in a process of its own with each plugin first.
struct TryOptions
{
    QString file;
};

struct CheckOptions
{
    QString kubeconfig; // as in RunOptions
    QString context; // empty: the kubeconfig's current one
    QStringList pluginDirs; // empty: the default one, where it exists
    bool isLeaderElected = false; // then the rights on this Lease are looked at, too
    QString leaseName = QStringLiteral("davit");
    QString leaseNamespace; // empty: that of the pod
};

struct GetOptions
{
    QString path; // "/api/v1/nodes?limit=1"
    QString kubeconfig; // as in RunOptions
    QString context;
};

// Something to print, and the process is done.
struct Text
{
    QString text;
};

using Command
    = std::variant<RunOptions, InspectOptions, TryOptions, CheckOptions, GetOptions, Text>;

// `arguments` without the program's name, as the system gave them. InvalidArgument with the
// sentence. [host-thread]
Result<Command> parseCommandLine(const QStringList &arguments);
// What asks this very program for TryOptions, but for the file. [thread-safe]
QStringList trialProgram();

} // namespace davit::host
