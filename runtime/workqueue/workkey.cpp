#include "workkey.h"

namespace davit::workqueue {

QString toString(const WorkKey &key)
{
    const QString object = davit::toString(key.object);
    return key.clusterName.isEmpty() ? object : key.clusterName + QLatin1Char(':') + object;
}

} // namespace davit::workqueue
