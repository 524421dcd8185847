#include "keepforever.h"

#include <mutex>
#include <vector>

namespace davit::support {

void keepForever(std::shared_ptr<void> object)
{
    static auto &mutex = *new std::mutex;
    static auto &kept = *new std::vector<std::shared_ptr<void>>;
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(object));
}

} // namespace davit::support
