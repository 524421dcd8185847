// What the API server warns of (Warning headers, code 299), told in the log once a text. One of
// these serves all who ask the same server: clients, informers. Source: BEHAVIOURS.md C-18. Tests:
// tst_pluginclient, c18_warningsOnceAText; tst_restlisterwatcher, c18_warnings.
#pragma once

#include <davit/logging.h>

#include <QtCore/qset.h>
#include <mutex>

namespace davit::transport {

class ServerWarnings
{
public:
    static constexpr qsizetype kMaxTexts = 256; // then one line says that no more are told

    explicit ServerWarnings(const Logger &log = {}) : m_log(log) { }
    Q_DISABLE_COPY_MOVE(ServerWarnings)

    // [thread-safe]
    void tell(const QList<QByteArray> &texts);

private:
    const Logger m_log;
    std::mutex m_mutex;
    QSet<QByteArray> m_told; // GUARDED_BY(m_mutex)
    bool m_isFull = false; // GUARDED_BY(m_mutex)
};

} // namespace davit::transport
