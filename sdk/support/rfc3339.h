// Times as JSON of Kubernetes has them. Source: RFC 3339; apimachinery's Time and MicroTime. Tests:
// tst_leaselock (B44), tst_logwriter.
#pragma once

#include <QtCore/qstring.h>
#include <chrono>
#include <optional>

namespace davit::support {

// "2026-01-02T03:04:05.000000Z" of a time since 1970 with `digits` of a fraction, 0 to 9; what is
// finer is dropped. Of MicroTime the server takes six and nothing else. [thread-safe]
QString rfc3339(std::chrono::nanoseconds utc, int digits);
// With 0 to 9 digits of a fraction, and Z or an offset, since others write other forms (B44). What
// the type cannot hold (before 1678, after 2261) is the first or last second that it can. Nothing
// for other texts. [thread-safe]
std::optional<std::chrono::nanoseconds> parseRfc3339(QStringView text);

} // namespace davit::support
