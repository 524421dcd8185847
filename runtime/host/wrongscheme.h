// An address with http:// of a server that speaks TLS, or with https:// of one that does not: the
// one sentence about it, for "davit run", "davit check" and "davit get". Test: tst_serverwait,
// tst_check.
#pragma once

#include <davit/error.h>

namespace davit::host {

// What a request ended with; `body` is the beginning.
struct SchemeWitness
{
    Error error;
    int httpStatus = 0; // 0: no answer
    QByteArray body;
};

// Whether the request failed at the proxy, whose name the error begins to tell. [thread-safe]
bool isFaultOfProxy(const Error &error);
// Names server, fault and what to write in `source`; empty where the scheme is not the fault, or
// nobody can know. [thread-safe]
QString wrongScheme(const QString &server, const QString &source, const SchemeWitness &witness);

} // namespace davit::host
