#include "cachelog.h"

namespace davit::cache {
Q_LOGGING_CATEGORY(cacheLog, "davit.cache", QtInfoMsg)
} // namespace davit::cache
