#include "probechecks.h"

namespace davit::observability {

ProbeChecks::ProbeChecks(const QString &name) : m_name(name) { }

Status ProbeChecks::add(const QString &name, Check check)
{
    const QString what = QStringLiteral("add check %1 to %2: ").arg(name, m_name);
    if (m_isFrozen)
        return Status(ErrorCode::Unsupported, what + QStringLiteral("the server runs already"));
    if (name.isEmpty() || name.contains(QLatin1Char('/')))
        return Status(ErrorCode::InvalidArgument, what + QStringLiteral("not a name for a path"));
    if (!m_checks.emplace(name, std::move(check)).second)
        return Status(ErrorCode::InvalidArgument, what + QStringLiteral("the name is taken"));
    return Status::ok();
}

void ProbeChecks::setNotes(Notes notes)
{
    Q_ASSERT(!m_isFrozen);
    m_notes = std::move(notes);
}

void ProbeChecks::freeze()
{
    m_isFrozen = true;
    if (m_checks.empty())
        m_checks.emplace(QStringLiteral("ping"), [] { return true; });
}

ProbeReply ProbeChecks::all(const QStringList &excluded, ProbeDetail detail) const
{
    Q_ASSERT(m_isFrozen);
    QStringList unmatched = excluded;
    unmatched.removeDuplicates();
    QByteArray list;
    bool isGood = true;
    for (const auto &[name, check] : m_checks) {
        if (unmatched.removeAll(name) > 0) {
            list += "[+]" + name.toUtf8() + " excluded: ok\n";
        } else if (check()) {
            list += "[+]" + name.toUtf8() + " ok\n";
        } else {
            isGood = false;
            list += "[-]" + name.toUtf8() + " failed: reason withheld\n";
        }
    }
    if (isGood && detail != ProbeDetail::Verbose)
        return {200, "ok"};
    if (!unmatched.isEmpty()) {
        for (QString &name : unmatched)
            name = QLatin1Char('"') + name + QLatin1Char('"');
        list += "warn: some health checks cannot be excluded: no matches for "
            + unmatched.join(QLatin1String(", ")).toUtf8() + '\n';
    }
    if (m_notes && detail == ProbeDetail::Verbose)
        list += m_notes();
    list += m_name.toUtf8() + (isGood ? " check passed\n" : " check failed\n");
    return {isGood ? 200 : 500, list};
}

ProbeReply ProbeChecks::one(const QString &name, ProbeDetail detail) const
{
    Q_ASSERT(m_isFrozen);
    const auto found = m_checks.find(name);
    if (found == m_checks.end())
        return {404, "404 page not found\n"};
    if (!found->second())
        return {500, "internal server error: " + name.toUtf8() + " check failed\n"};
    if (detail != ProbeDetail::Verbose)
        return {200, "ok"};
    return {200,
        "[+]" + name.toUtf8() + " ok\n" + m_name.toUtf8() + '/' + name.toUtf8()
            + " check passed\n"};
}

} // namespace davit::observability
