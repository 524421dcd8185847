// What tests of "davit check" talk to and read: a server that is not well in one way, a kubeconfig
// for it, and the lines that come of it.
#pragma once

#include "../transport/rawserver.h"
#include "davitcommand.h"
#include "testfile.h"

#include <QMetaType>
#include <atomic>
#include <memory>

// The text of the line about a topic; several are joined.
inline QString finding(const Outcome &outcome, const QString &topic)
{
    QStringList texts;
    for (const QString &line : outcome.out.split(u'\n')) {
        if (line.mid(6, 13).trimmed() == topic)
            texts << line.left(4).trimmed() + QStringLiteral(": ") + line.mid(21).trimmed();
    }
    return texts.join(u'\n');
}

// A server over TLS that is not well in one way.
struct Trouble
{
    QByteArray date; // of its clock; empty: it does not tell
    int versionStatus = 200;
    int identityStatus = 201;
    int rightStatus = 201;
    QByteArray user = "bob";
    QByteArray denied; // a resource
    QByteArray core // the answer to /api/v1
        = R"({"resources":[{"kind":"Secret"},{"kind":"ConfigMap"},{"kind":"Namespace"}]})";
    int coreStatus = 200;
    QByteArray lease; // what it says to a Lease that is created for a try
    int leaseStatus = 201;
    QByteArray cut; // the end of a path: its answer begins and does not come to an end
    QByteArray strange; // the end of a path: it is answered with `words`, 200
    QByteArray words;
    QByteArray busy; // the end of a path: refused with Retry-After, `refusals` times
    int busyStatus = 429;
    QByteArray retryAfter = "1"; // seconds
    std::shared_ptr<std::atomic<int>> refusals;
};

inline void play(const Trouble &trouble, RawConnection &connection)
{
    RawRequest request;
    while (connection.read(request)) {
        int status = trouble.versionStatus;
        QByteArray body = R"({"gitVersion":"v1.37.2"})";
        if (request.target.endsWith("selfsubjectreviews")) {
            status = trouble.identityStatus;
            body = R"({"status":{"userInfo":{"username":")" + trouble.user
                + R"(","groups":["dev"]}}})";
        } else if (request.target.endsWith("accessreviews")) {
            status = trouble.rightStatus;
            const bool isDenied = !trouble.denied.isEmpty()
                && request.body.contains(QByteArray("\"" + trouble.denied + '"'));
            body = isDenied ? R"({"status":{"allowed":false}})" : R"({"status":{"allowed":true}})";
        }
        if (request.method == "POST" && request.target.endsWith("/leases?dryRun=All")) {
            connection.answer(trouble.leaseStatus, trouble.lease);
            continue;
        }
        if (request.target == "/api/v1") {
            status = trouble.coreStatus;
            body = trouble.core;
        }
        if (!trouble.strange.isEmpty() && request.target.endsWith(trouble.strange)) {
            connection.answer(200, trouble.words);
            continue;
        }
        if (!trouble.busy.isEmpty() && request.target.endsWith(trouble.busy)
            && (*trouble.refusals)-- > 0) {
            connection.answer(trouble.busyStatus, R"({"kind":"Status"})",
                "Retry-After: " + trouble.retryAfter + "\r\n");
            continue;
        }
        if (!trouble.cut.isEmpty() && request.target.endsWith(trouble.cut)) {
            connection.beginChunked();
            while (connection.chunk(" ") && !connection.isStopped())
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
            return;
        }
        if (status >= 300)
            body = "{\"kind\":\"Status\",\"reason\":\"Because\",\"message\":\"of User \\\""
                + trouble.user + "\\\"\"}"; // moc does not read raw strings with a backslash
        connection.answer(
            status, body, trouble.date.isEmpty() ? QByteArray() : "Date: " + trouble.date + "\r\n");
    }
}

// One user, whose entry is in flow style.
inline QString writeKubeconfig(const QTemporaryDir &dir, const QByteArray &server,
    const QByteArray &user, const QString &caFile = {})
{
    const QByteArray ca
        = caFile.isEmpty() ? QByteArray() : ", certificate-authority: \"" + caFile.toUtf8() + '"';
    return writeFile(dir, QStringLiteral("kubeconfig"),
        "current-context: c\nclusters: [{name: c, cluster: {server: \"" + server + '"' + ca
            + "}}]\nusers: [{name: u, user: {" + user
            + "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n");
}

Q_DECLARE_METATYPE(Trouble)
