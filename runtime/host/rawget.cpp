#include "rawget.h"

#include "clusterchoice.h"
#include "servercalls.h"
#include "wrongscheme.h"

#include <observability/redaction.h>

#include <QtCore/qurl.h>
#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace davit::host {

namespace {

// What is sent as it stands: "/" first, nothing that would have to be escaped, and no segment that
// Qt, or the server once it has decoded them, would take out.
bool isPath(const QByteArray &text)
{
    const QByteArrayList segments
        = QByteArray::fromPercentEncoding(text.split('?').first()).mid(1).split('/');
    const bool isPlain = std::none_of(segments.begin(), segments.end() - 1,
                             [](const QByteArray &segment) { return segment.isEmpty(); })
        && !segments.contains(".") && !segments.contains("..");
    return text.startsWith('/') && isPlain && !text.contains('#')
        && QUrl::fromEncoded("http://h" + text, QUrl::StrictMode).isValid();
}

// The server's bytes where nothing has to be hidden.
QByteArray withoutSecrets(const QByteArray &body)
{
    const QString text = QString::fromUtf8(body);
    const QString safe = observability::redacted(text);
    return safe == text ? body : safe.toUtf8();
}

} // namespace

QueryExit rawGet(const GetOptions &options, QString *sentence)
{
    const QByteArray path = options.path.toUtf8();
    if (!isPath(path)) {
        *sentence = QStringLiteral("--raw \"%1\" is no path; write it as /api/v1/namespaces, "
                                   "percent-encoded where it must be, without . and ..")
                        .arg(options.path);
        return QueryExit::Configuration;
    }
    const Result<transport::ClusterConfig> config
        = chosenCluster(options.kubeconfig, options.context);
    if (!config.isOk()) {
        *sentence = config.error().message();
        return QueryExit::Configuration;
    }
    ServerCalls calls(config.value());
    bool endsLine = true;
    const auto print = [&](const QByteArray &bytes) {
        endsLine = bytes.endsWith('\n');
        return std::fwrite(bytes.constData(), 1, size_t(bytes.size()), stdout)
            == size_t(bytes.size())
            && std::fflush(stdout) == 0;
    };
    const ServerAnswer answer = calls.stream(path, print);
    if (!answer.isGood() && !answer.body.isEmpty()) // some servers repeat the request
        print(withoutSecrets(answer.body));
    if (!endsLine && ::isatty(STDOUT_FILENO) == 1) // elsewhere the bytes are the server's
        std::fputc('\n', stdout);
    if (answer.isGood())
        return QueryExit::Done;
    if (const QString fault = wrongScheme(calls.serverName(), config.value().source,
            {answer.error, answer.httpStatus, answer.body});
        !fault.isEmpty()) {
        *sentence = fault;
        return answer.error.isError() ? exitOf(answer) : QueryExit::Configuration;
    }
    const QString what = answer.fault;
    const QString begin = QStringLiteral("GET %1").arg(calls.serverName());
    *sentence = what.startsWith(begin) || !answer.httpStatus
        ? what
        : begin + QStringLiteral("%1: %2").arg(options.path.section(u'?', 0, 0), what);
    const QueryExit exit = exitOf(answer);
    if (exit == QueryExit::NoConnection || exit == QueryExit::RefusedCredentials)
        *sentence += QStringLiteral("; davit check looks for the reason");
    return exit;
}

} // namespace davit::host
