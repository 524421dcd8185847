#include "workkey.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace davit::workqueue {

size_t qHash(const WorkKey &key, size_t seed)
{
    // The parts are hashed apart, so that the processor reads them at once.
    const auto hashOf = [seed](const QString &text) {
        return XXH3_64bits_withSeed(text.constData(), size_t(text.size()) * sizeof(QChar), seed);
    };
    constexpr size_t kSpread = 0x9e3779b97f4a7c15U;
    const size_t object = hashOf(key.object.name) + kSpread * hashOf(key.object.namespaceName);
    return key.clusterName.isEmpty() ? object : object * kSpread + hashOf(key.clusterName);
}

QString toString(const WorkKey &key)
{
    const QString object = davit::toString(key.object);
    return key.clusterName.isEmpty() ? object : key.clusterName + QLatin1Char(':') + object;
}

} // namespace davit::workqueue
