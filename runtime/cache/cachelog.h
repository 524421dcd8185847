// The log category of this layer.
#pragma once

#include <QtCore/qloggingcategory.h>

namespace davit::cache {
Q_DECLARE_LOGGING_CATEGORY(cacheLog)
} // namespace davit::cache
