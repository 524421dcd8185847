#include "queueobserver.h"

namespace davit::workqueue {

QueueObserver::~QueueObserver() = default;

} // namespace davit::workqueue
