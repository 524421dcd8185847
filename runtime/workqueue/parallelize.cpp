#include "parallelize.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace davit::workqueue {
namespace {

class Run
{
public:
    Run(const std::stop_token &stop, const Pieces &pieces,
        const std::function<void(qsizetype)> &work)
        : m_stop(stop)
        , m_work(work)
        , m_count(pieces.count)
        , m_chunkSize(std::max<qsizetype>(pieces.chunkSize, 1))
    { }

    qsizetype chunks() const { return m_count / m_chunkSize + (m_count % m_chunkSize ? 1 : 0); }
    // Takes chunks until there are none.
    void takeChunks()
    {
        for (;;) {
            const qsizetype chunk = m_next.fetch_add(1);
            if (chunk >= chunks() || !runChunk(chunk * m_chunkSize))
                return;
        }
    }
    Status status() const { return m_fault; }

private:
    // False when it was stopped.
    bool runChunk(qsizetype begin)
    {
        const qsizetype end = begin + std::min(m_chunkSize, m_count - begin);
        for (qsizetype piece = begin; piece < end; ++piece) {
            if (m_stop.stop_requested())
                return false;
            try {
                m_work(piece);
            } catch (const std::exception &e) {
                note(piece, QString::fromUtf8(e.what()));
                return true;
            } catch (...) {
                note(piece, QStringLiteral("something that is no std::exception"));
                return true;
            }
        }
        return true;
    }

    void note(qsizetype piece, const QString &what)
    {
        const std::lock_guard lock(m_mutex);
        if (m_fault.isOk())
            m_fault = Status(ErrorCode::PluginFault,
                QStringLiteral("piece %1 of %2 threw: %3").arg(piece).arg(m_count).arg(what));
    }

    const std::stop_token m_stop;
    const std::function<void(qsizetype)> &m_work;
    const qsizetype m_count;
    const qsizetype m_chunkSize;
    std::atomic<qsizetype> m_next{0};
    std::mutex m_mutex;
    Status m_fault; // GUARDED_BY(m_mutex) while workers run
};

} // namespace

Status parallelizeUntil(
    const std::stop_token &stop, const Pieces &pieces, const std::function<void(qsizetype)> &work)
{
    if (pieces.workers < 1 || pieces.count < 1)
        return Status::ok();
    Run run(stop, pieces, work);
    const auto workers = std::min<qsizetype>(pieces.workers, run.chunks());
    std::vector<std::jthread> others;
    others.reserve(std::size_t(workers));
    for (qsizetype i = 1; i < workers; ++i)
        others.emplace_back([&run] { run.takeChunks(); });
    run.takeChunks();
    others.clear(); // joins
    return run.status();
}

} // namespace davit::workqueue
