// Whether a LIST may be asked as a streaming list instead, and with which options. For callers that
// have a list's options; the reflector makes those of its own streaming list itself.
// Source: KEP-3157; BEHAVIOURS.md. Test: tst_watchlistoptions.
#pragma once

#include <transport/resource.h>

#include <optional>

namespace davit::cache {

// The options of the WATCH that answers as this LIST would; nothing where it could not: pages, an
// exact version, and "not older than" without a version. A limit beside the version "0" is left
// out, as servers with a watch cache do not keep it either. [thread-safe]
std::optional<transport::ListOptions> asWatchList(const transport::ListOptions &list);

} // namespace davit::cache
