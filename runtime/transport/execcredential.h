// Runs the program that a kubeconfig names for credentials. Contract:
//   - it runs when a request needs a credential and none is cached: the first time, ten seconds
//   before the expirationTimestamp, and after a 401 to the cached one. However many requests wait,
//   it runs once.
//   - it gets KUBERNETES_EXEC_INFO with "interactive"; a terminal on stdin only where
//   interactiveMode allows it. Its stderr is ours.
//   - a run has a time limit of one minute; then its whole process group is killed (B63).
//   - what it prints must be an ExecCredential of the configured version with a token, or a
//   certificate and its key.
// Lives on [io-thread]. Only the end of the transport destroys it: then a program that still runs
// is killed and reaped, which blocks that thread until the kernel has done so (one second at most).
// Source: Kubernetes client-go credential plugins; behaviours.md C-64 to C-73, cases B01, B03.
// Test: tst_exec.
#pragma once

#include "credential.h"

#include <QtCore/qprocess.h>
#include <optional>
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

class ExecCredential final : public Credential
{
public:
    // Takes a client certificate and key that the program printed.
    using CertificateTaker
        = std::function<Status(const QByteArray &certificatePem, const QByteArray &keyPem)>;

    // config.exec is set. `time` is borrowed.
    ExecCredential(
        const ClusterConfig &config, const support::TimeSource &time, CertificateTaker taker);
    ~ExecCredential() override; // kills a run under way

    void prepare(std::function<void()> ready) override;
    Result<QByteArray> token() override;
    bool renew(const QByteArray &refused) override;

private:
    bool isFresh() const;
    void run();
    void onEnded();
    void conclude(const Error &error);
    Error fault(const QString &what) const;
    void killGroup();

    const ClusterConfig m_config;
    const ExecConfig m_exec;
    const support::TimeSource &m_time;
    const CertificateTaker m_takeCertificate;
    std::optional<ExecOutput> m_output;
    Error m_error; // of the last run
    std::unique_ptr<QProcess> m_process; // while it runs
    bool m_isTooLate = false;
    std::vector<std::function<void()>> m_waiting;
};

} // namespace davit::transport
