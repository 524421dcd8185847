#include "endpoints.h"

#include "webserver.h"

#include <observability/metricsregistry.h>
#include <observability/probechecks.h>

namespace davit::web {

namespace {

using observability::ProbeChecks;
using observability::ProbeDetail;
using observability::ProbeReply;

WebReply answer(const ProbeChecks &checks, const QString &root, const WebRequest &request)
{
    const ProbeDetail detail
        = request.hasParameter("verbose") ? ProbeDetail::Verbose : ProbeDetail::Brief;
    const QString name = request.path.mid(root.size() + 1);
    const ProbeReply reply = name.isEmpty() ? checks.all(request.parameter("exclude"), detail)
                                            : checks.one(name, detail);
    WebReply out;
    out.httpStatus = reply.httpStatus;
    out.body = reply.text;
    return out;
}

void addProbe(WebServer &server, const QByteArray &root, const ProbeChecks &checks)
{
    const auto handler = [&checks, name = QString::fromUtf8(root)](
                             const WebRequest &request) { return answer(checks, name, request); };
    server.route(root, handler);
    server.route(root + '/', handler);
}

} // namespace

void addProbes(WebServer &server, const ProbeChecks &healthz, const ProbeChecks &readyz)
{
    addProbe(server, "/healthz", healthz);
    addProbe(server, "/readyz", readyz);
}

void addMetrics(WebServer &server, const observability::MetricsRegistry &registry)
{
    server.route("/metrics", [&registry](const WebRequest &) {
        return WebReply{200, "text/plain; version=0.0.4; charset=utf-8", registry.text()};
    });
}

} // namespace davit::web
