// A transport that records what is sent and answers as the test says.
#pragma once

#include <memory>
#include <transport/transport.h>
#include <vector>

class ScriptedTransport final : public davit::transport::Transport
{
public:
    struct Exchange
    {
        davit::transport::Request request;
        davit::support::Executor *executor = nullptr;
        davit::transport::ResponseSink *sink = nullptr; // null once the caller ended it
    };

    std::unique_ptr<davit::transport::Exchange> start(const davit::transport::Request &request,
        davit::support::Executor &executor, davit::transport::ResponseSink &sink) override
    {
        auto exchange = std::make_shared<Exchange>(Exchange{request, &executor, &sink});
        exchanges.push_back(exchange);
        return std::make_unique<Handle>(exchange);
    }
    QString serverName() const override { return QStringLiteral("https://api.example:6443"); }

    // The whole answer to request number `index`, body in two pieces.
    void answer(size_t index, int httpStatus, const QByteArray &body,
        std::chrono::milliseconds retryAfter = std::chrono::milliseconds(-1),
        const QList<QByteArray> &warnings = {})
    {
        davit::transport::ResponseHead head;
        head.httpStatus = httpStatus;
        head.contentType = "application/json";
        head.retryAfter = retryAfter;
        head.warnings = warnings;
        const qsizetype half = body.size() / 2;
        deliver(index, [head](auto &sink) { sink.onHead(head); });
        deliver(index, [part = body.left(half)](auto &sink) { sink.onBytes(part); });
        deliver(index, [part = body.mid(half)](auto &sink) { sink.onBytes(part); });
        deliver(index, [](auto &sink) { sink.onFinished(davit::Error()); });
    }
    void fail(size_t index, const davit::Error &error)
    {
        deliver(index, [error](auto &sink) { sink.onFinished(error); });
    }
    bool isEnded(size_t index) const { return !exchanges.at(index)->sink; }

    std::vector<std::shared_ptr<Exchange>> exchanges;

private:
    struct Handle final : davit::transport::Exchange
    {
        explicit Handle(std::shared_ptr<ScriptedTransport::Exchange> e) : exchange(std::move(e)) { }
        ~Handle() override { exchange->sink = nullptr; }
        std::shared_ptr<ScriptedTransport::Exchange> exchange;
    };

    template <typename F> void deliver(size_t index, F function)
    {
        const auto exchange = exchanges.at(index);
        exchange->executor->post([exchange, function] {
            if (exchange->sink)
                function(*exchange->sink);
        });
    }
};
