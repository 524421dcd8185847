// Times of Lease specs. Contract: always six digits and Z when writing, since the server takes
// nothing else there; any RFC 3339 form when reading, since others write other ones (B44).
// Source: apimachinery's MicroTime. Test: tst_leaselock, B44.
#pragma once

#include <QtCore/qstring.h>
#include <chrono>
#include <optional>

namespace davit::client {

// "2026-01-02T03:04:05.000000Z" of a time since 1970; what is finer than a microsecond is dropped.
// [thread-safe]
QString microTime(std::chrono::nanoseconds utc);
// With 0 to 9 digits of a fraction, and Z or an offset. Nothing for other texts. [thread-safe]
std::optional<std::chrono::nanoseconds> parseTime(QStringView text);

} // namespace davit::client
