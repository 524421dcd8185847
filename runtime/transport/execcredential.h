// Runs the program that a kubeconfig names for credentials. Contract:
//   - it runs when a request needs a credential and none is cached: the first time, ten seconds
//   before the expirationTimestamp, and after a 401 to the cached one. However many requests wait,
//   it runs once.
//   - it gets KUBERNETES_EXEC_INFO with "interactive"; a terminal on stdin only where
//   interactiveMode allows it. Its stderr is ours.
//   - a run has a time limit of one minute and may print 1 MiB; then its whole process group is
//   killed (B63). Requests that wait for it say so, and that it is not the server that is slow.
//   - what it prints must be an ExecCredential of the configured version with a token, or a
//   certificate and its key.
//   - no program outlives the host: endExecPrograms() ends them with their groups. When the host is
//   killed (SIGKILL) the kernel ends the program itself; its children live on, as nobody is left to
//   end their group. An interactive program stays in the terminal's group, so only itself is ended.
// Lives on [io-thread]. Only the end of the transport destroys it: then a program that still runs
// is killed and reaped, which blocks that thread until the kernel has done so (one second at most).
// Source: Kubernetes client-go credential plugins; BEHAVIOURS.md C-64 to C-73, cases B01, B03.
// Test: tst_exec, tst_execend, tst_davit (execProgramEndsWithTheHost).
#pragma once

#include "credential.h"

#include <QtCore/qprocess.h>
#include <deque>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace davit::transport {

struct ExecOutput
{
    QByteArray token;
    QByteArray certificatePem;
    QByteArray keyPem;
    std::optional<std::chrono::nanoseconds> expires; // UTC
};

// The sentence of the error says what is wrong, without the text. [thread-safe]
Result<ExecOutput> parseExecOutput(const QByteArray &text, const QString &apiVersion);
// The value of KUBERNETES_EXEC_INFO, one JSON object. [thread-safe]
QByteArray execInfo(const ClusterConfig &config, bool isInteractive);

// Kills the programs that run, of all transports; for a process that leaves by _exit. [thread-safe]
void endExecPrograms() noexcept;

class ExecCredential final : public Credential
{
public:
    // Takes a client certificate and key that the program printed.
    using CertificateTaker
        = std::function<Status(const QByteArray &certificatePem, const QByteArray &keyPem)>;

    // config.exec is set. `time` is borrowed. `onRun`, which may be empty, hears of each run's end.
    ExecCredential(const ClusterConfig &config, const support::TimeSource &time,
        CertificateTaker taker, std::function<void(const ExecRun &)> onRun = {});
    ~ExecCredential() override; // kills a run under way

    void prepare(std::function<void()> ready) override;
    Result<QByteArray> token() override;
    bool renew(const QByteArray &refused) override;
    QString awaited() const override;
    std::optional<std::chrono::nanoseconds> expires() const override;

private:
    bool isFresh() const;
    void run();
    void takeOutput();
    void giveUp(const QString &what);
    void onEnded();
    void noteEnd();
    QString installHint();
    void conclude(const Error &error);
    Error fault(const QString &what) const;
    void killGroup();
    void forgetRunning();

    const ClusterConfig m_config;
    const ExecConfig m_exec;
    const support::TimeSource &m_time;
    const CertificateTaker m_takeCertificate;
    const std::function<void(const ExecRun &)> m_onRun;
    ExecRun m_run; // the last one
    std::optional<ExecOutput> m_output;
    Error m_error; // of the last run
    std::unique_ptr<QProcess> m_process; // while it runs
    pid_t m_target = 0; // what kill() gets for it; negative: its group; 0: none runs
    QByteArray m_printed; // by the run under way
    QString m_givenUp; // why the run under way was killed; else empty
    std::vector<std::function<void()>> m_waiting;
    std::deque<std::chrono::nanoseconds> m_hintedAt; // in the last hour
};

} // namespace davit::transport
