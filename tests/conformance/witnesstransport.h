// Stands before a transport and sees what the server answered, changing nothing: so that a test can
// say "the server answered 410" instead of believing it.
#pragma once

#include <transport/transport.h>

#include <atomic>
#include <memory>

class WitnessTransport final : public davit::transport::Transport
{
public:
    explicit WitnessTransport(davit::transport::Transport &real); // borrowed

    std::unique_ptr<davit::transport::Exchange> start(const davit::transport::Request &request,
        davit::support::Executor &executor, davit::transport::ResponseSink &sink) override;
    QString serverName() const override { return m_real.serverName(); }

    // Watches that were asked for, and lists. [thread-safe]
    int watches() const { return m_books->watches; }
    int lists() const { return m_books->lists; }
    // Answers 410, by status line or as an ERROR event of a watch. [thread-safe]
    int expired() const { return m_books->expired; }

private:
    struct Books
    {
        std::atomic<int> watches = 0;
        std::atomic<int> lists = 0;
        std::atomic<int> expired = 0;
    };
    class Sink;
    class WitnessedExchange;

    davit::transport::Transport &m_real;
    const std::shared_ptr<Books> m_books = std::make_shared<Books>();
};
