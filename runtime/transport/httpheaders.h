// The User-Agent that we send, what else Qt can send, and readers of the response headers the
// runtime looks at. Source: RFC 9110 10.2.3 (Retry-After), RFC 9111 5.5 of its predecessor RFC 7234
// (Warning). Test: tst_httpheaders.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qdatetime.h>
#include <QtCore/qlist.h>
#include <chrono>

namespace davit::transport {

// "davit/0.1.0 (linux/amd64)" and who asks, if somebody does: " replicator/1.2.0" (C-30). The words
// for system and processor are Go's, as in what others send. [thread-safe]
QByteArray hostUserAgent(const QByteArray &asker = {});
// "Wed, 21 Oct 2026 07:28:00 GMT", the form of RFC 9110 5.6.7 that is sent; null when it is none.
// [thread-safe]
QDateTime httpDate(const QByteArray &value);
// "3" or "Wed, 21 Oct 2026 07:28:00 GMT" (against `utcNow`, never below zero); negative when it is
// neither. [thread-safe]
std::chrono::milliseconds retryAfter(const QByteArray &value, std::chrono::nanoseconds utcNow);
// The texts of `299 agent "text"`, of a header line that may hold several of them; other codes and
// malformed entries are left out. [thread-safe]
QList<QByteArray> warningTexts(const QByteArray &value);

// False from Qt 6.8 on: of several lines with one name it sends the last one. [thread-safe]
bool canRepeatHeaders();

} // namespace davit::transport
