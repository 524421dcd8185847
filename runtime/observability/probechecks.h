// The named checks behind /healthz or /readyz, and the text that answers them. Contract: M-18 to
// M-21 of the field's health handler (controller-runtime): "ok" when all pass, else the sorted
// list. Test: tst_probechecks, T108.
#pragma once

#include <davit/status.h>

#include <QtCore/qbytearray.h>
#include <QtCore/qstringlist.h>
#include <functional>
#include <map>

namespace davit::observability {

struct ProbeReply
{
    int httpStatus = 200;
    QByteArray text; // UTF-8, text/plain
};

enum class ProbeDetail : quint8 { Unset = 0, Brief, Verbose };

class ProbeChecks
{
public:
    // Called on the web server's threads, several at once; must return at once.
    using Check = std::function<bool()>;
    // Lines that stand in a list before its last line, each with its newline; for people.
    using Notes = std::function<QByteArray()>;

    // `name` is what the last line says: "readyz".
    explicit ProbeChecks(const QString &name);

    // InvalidArgument for a name that is taken, empty or holds '/'; Unsupported after freeze()
    // (M-21). [host-thread]
    Status add(const QString &name, Check check);
    void setNotes(Notes notes);
    // The server starts: from now on nothing changes. Without any check one "ping" passes (M-20).
    // [host-thread]
    void freeze();

    // The answer for all checks but the excluded ones. Requires freeze(). [thread-safe]
    ProbeReply all(const QStringList &excluded, ProbeDetail detail) const;
    // The answer for one check; 404 for an unknown one (M-19). [thread-safe]
    ProbeReply one(const QString &name, ProbeDetail detail) const;

private:
    const QString m_name;
    std::map<QString, Check> m_checks;
    Notes m_notes;
    bool m_isFrozen = false;
};

} // namespace davit::observability
