#include "queueorder.h"

namespace davit::workqueue {

QueueOrder::~QueueOrder() = default;

} // namespace davit::workqueue
