// A transport that plays answers, and the time and the executor that its callers run on.
#pragma once

#include <support/timesource.h>
#include <transport/transport.h>

#include <map>
#include <vector>

namespace scripted {

using namespace davit;
using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

class ManualExecutor final : public support::Executor
{
public:
    void post(Work work) override { m_waiting.push_back(std::move(work)); }
    void run()
    {
        while (!m_waiting.empty()) {
            std::vector<Work> batch;
            batch.swap(m_waiting);
            for (Work &work : batch)
                work();
        }
    }

private:
    std::vector<Work> m_waiting;
};

class ManualTime final : public support::TimeSource
{
public:
    Nanoseconds monotonic() const override { return m_now; }
    Nanoseconds utc() const override { return m_now; }
    TimerId callAfter(
        Nanoseconds delay, support::Executor &executor, support::Executor::Work work) override
    {
        m_timers.emplace(++m_lastId, Timer{m_now + delay, &executor, std::move(work)});
        return m_lastId;
    }
    void cancel(TimerId id) override { m_timers.erase(id); }
    void advance(Nanoseconds by)
    {
        m_now += by;
        for (auto it = m_timers.begin(); it != m_timers.end();) {
            if (it->second.due > m_now) {
                ++it;
                continue;
            }
            it->second.executor->post(std::move(it->second.work));
            it = m_timers.erase(it);
        }
    }
    size_t waiting() const { return m_timers.size(); }

private:
    struct Timer
    {
        Nanoseconds due;
        support::Executor *executor;
        support::Executor::Work work;
    };
    Nanoseconds m_now{0};
    std::map<TimerId, Timer> m_timers;
    TimerId m_lastId = 0;
};

// One answer: a status with Retry-After in seconds (-1: none), or the way the connection broke.
struct Answer
{
    int status = 0;
    int retryAfter = -1;
    ErrorCode error = ErrorCode::Unset;
};

// Gives one answer after another, and counts what it was asked.
class ScriptedTransport final : public Transport
{
public:
    struct Asked
    {
        std::chrono::nanoseconds at;
        std::chrono::milliseconds totalDeadline;
    };
    ScriptedTransport(QList<Answer> answers, const ManualTime &time, std::vector<Asked> &asked)
        : m_answers(std::move(answers)), m_time(time), m_asked(asked)
    { }
    std::unique_ptr<Exchange> start(
        const Request &request, support::Executor &executor, ResponseSink &sink) override
    {
        m_asked.push_back({m_time.monotonic(), request.totalDeadline});
        auto isAlive = std::make_shared<bool>(true);
        if (m_answers.isEmpty())
            return std::make_unique<Handle>(isAlive); // silent
        const Answer answer = m_answers.size() > 1 ? m_answers.takeFirst() : m_answers.first();
        executor.post([answer, isAlive, &sink] {
            if (*isAlive && answer.status) {
                sink.onHead({answer.status, {}, std::chrono::seconds(answer.retryAfter), {}});
                if (*isAlive)
                    sink.onBytes("body"_ba);
            }
            if (*isAlive) {
                sink.onFinished(answer.error == ErrorCode::Unset
                        ? Error()
                        : Error(answer.error, QStringLiteral("broken")));
            }
        });
        return std::make_unique<Handle>(isAlive);
    }
    QString serverName() const override { return QStringLiteral("scripted"); }

private:
    class Handle final : public Exchange
    {
    public:
        explicit Handle(std::shared_ptr<bool> isAlive) : m_isAlive(std::move(isAlive)) { }
        ~Handle() override { *m_isAlive = false; }

    private:
        std::shared_ptr<bool> m_isAlive;
    };
    QList<Answer> m_answers;
    const ManualTime &m_time;
    std::vector<Asked> &m_asked;
};

class Log final : public ResponseSink
{
public:
    void onHead(const ResponseHead &head) override
    {
        text.append(QByteArray::number(head.httpStatus));
    }
    void onBytes(const QByteArray &bytes) override { text.append(bytes); }
    void onRetry(int httpStatus, std::chrono::milliseconds wait) override
    {
        retries.append(httpStatus);
        waits.append(int(wait.count()));
    }
    void onFinished(const Error &error) override
    {
        text.append(error.isError() ? error.message().toUtf8() : "end"_ba);
        code = error.code();
    }
    QByteArrayList text;
    QList<int> retries;
    QList<int> waits; // ms
    ErrorCode code = ErrorCode::Unset;
};

} // namespace scripted
