#include "wrongscheme.h"

namespace davit::host {

namespace {

// What OpenSSL says, in its versions, of an answer that is no TLS record.
bool speaksNoTls(const Error &error)
{
    if (error.code() != ErrorCode::TlsFailure || isFaultOfProxy(error)) // it is the one then
        return false;
    for (const char *words :
        {"wrong version number", "packet length too long", "record layer failure", "http request"})
        if (error.message().contains(QLatin1StringView(words)))
            return true;
    return false;
}

// The words of Go, then nginx.
bool speaksTlsAlone(const SchemeWitness &witness)
{
    return witness.httpStatus == 400
        && (witness.body.contains("to an HTTPS server") || witness.body.contains("to HTTPS port"));
}

} // namespace

bool isFaultOfProxy(const Error &error)
{
    return error.message().contains(QLatin1StringView(": the proxy "));
}

QString wrongScheme(const QString &server, const QString &source, const SchemeWitness &witness)
{
    if (speaksNoTls(witness.error))
        return QStringLiteral("what answers at %1 does not speak TLS (%2); write http:// if that "
                              "server is meant, or correct its address in %3")
            .arg(server, witness.error.message(), source);
    if (speaksTlsAlone(witness))
        return QStringLiteral("the API server %1 speaks TLS alone; write https:// in %2")
            .arg(server, source);
    return {};
}

} // namespace davit::host
