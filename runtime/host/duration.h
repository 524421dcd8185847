// Lengths of time as Go programs write them: "30s", "1h30m", "250ms", "0", "-1s".
// Source: Go's time.ParseDuration. Test: tst_commandline.
#pragma once

#include <QtCore/qstring.h>
#include <chrono>
#include <optional>

namespace davit::host {

// Nothing when the text is none or too long for milliseconds. A number needs its unit (ns, us, ms,
// s, m, h), but for 0. Fractions below a millisecond are cut. [thread-safe]
std::optional<std::chrono::milliseconds> parseDuration(QStringView text);

} // namespace davit::host
