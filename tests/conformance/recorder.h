// A handler that keeps what it heard: the receiver of one view of a shared informer, as a plugin's
// Informer is one. Lives in the thread that made it.
#pragma once

#include "convergence.h"

#include <davit/priv/backends.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qobject.h>
#include <memory>

class Recorder : public QObject
{
    Q_OBJECT
public:
    // Begins to listen at once. `backend` is owned.
    explicit Recorder(std::unique_ptr<davit::priv::InformerBackend> backend);
    ~Recorder() override;

    const std::vector<convergence::Heard> &heard() const { return m_heard; }
    bool hasSynced() const { return m_hasSynced; }
    // What the store behind the view holds now.
    convergence::World stored() const;

protected:
    bool event(QEvent *event) override;

private:
    void hear(const davit::priv::Notification &notification);

    const std::unique_ptr<davit::priv::InformerBackend> m_backend;
    std::vector<convergence::Heard> m_heard;
    bool m_hasSynced = false;
};

// Faults of a plugin that has none.
class NoFaults final : public davit::priv::FaultSink
{
public:
    void fault(const char *, const QString &, const QString &) noexcept override { }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }
};
