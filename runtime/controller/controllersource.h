// One source of a controller: hears an informer on the plugin's thread, asks the predicate, maps to
// keys and queues them. Contract:
//   - What a predicate throws is the plugin's fault, and the event passes: no key is lost. What a
//   mapper throws is the plugin's fault too; its keys are not known.
//   - `onSynced` is called once, after the initial events have been queued (M-1).
//   - A deletion without a last known state is dropped and logged (M-8).
// A child of its informer: predicate and mapper die on the plugin's thread. Test: tst_controller.
#pragma once

#include "keymapping.h"

#include <davit/informer.h>
#include <davit/priv/plugincall.h>

#include <QtCore/qobject.h>
#include <workqueue/priorityqueue.h>

namespace davit::controller {

class ControllerSource final : public QObject
{
public:
    struct Surroundings
    {
        std::shared_ptr<workqueue::PriorityQueue> queue;
        OwnerKind ownerKind;
        priv::FaultSink *faults = nullptr; // borrowed; outlives the source
        Logger log;
        std::function<void()> onSynced;
    };

    // Connects itself to `informer`, which becomes its parent. [plugin-thread]
    ControllerSource(
        Informer &informer, const priv::SourceSpec &spec, const Surroundings &surroundings);
    ~ControllerSource() override;

private:
    void heard(const ObjectEvent &event);
    bool accepts(const ObjectEvent &event);
    void enqueue(const ObjectEvent &event, const std::vector<ObjectKey> &keys);

    priv::SourceSpec m_spec;
    Surroundings m_around;
    const QString m_kind; // "v1 Secret"
    bool m_isSynced = false;
};

} // namespace davit::controller
