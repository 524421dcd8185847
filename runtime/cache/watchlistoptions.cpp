#include "watchlistoptions.h"

namespace davit::cache {

std::optional<transport::ListOptions> asWatchList(const transport::ListOptions &list)
{
    const QString notOlderThan = QStringLiteral("NotOlderThan");
    if (list.isWatch || !list.continueToken.isEmpty()
        || (list.limit > 0 && list.resourceVersion != QLatin1StringView("0")))
        return std::nullopt;
    if (!list.resourceVersionMatch.isEmpty()
        && (list.resourceVersionMatch != notOlderThan || list.resourceVersion.isEmpty()))
        return std::nullopt;
    transport::ListOptions watch = list;
    watch.limit = 0;
    watch.resourceVersionMatch = notOlderThan;
    watch.isWatch = true;
    watch.allowWatchBookmarks = true;
    watch.sendInitialEvents = true;
    return watch;
}

} // namespace davit::cache
