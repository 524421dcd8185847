#include "witnesstransport.h"

using namespace davit::transport;

class WitnessTransport::Sink final : public ResponseSink
{
public:
    Sink(ResponseSink &real, std::shared_ptr<Books> books) : m_real(real), m_books(std::move(books))
    { }

    void onHead(const ResponseHead &head) override
    {
        if (head.httpStatus == 410)
            ++m_books->expired;
        m_real.onHead(head);
    }
    void onBytes(const QByteArray &bytes) override
    {
        // The Status of an expired watch comes as one small frame, so it is not cut in practice;
        // were it cut, the test would fail and not pass by mistake.
        const bool isText = bytes.contains(R"("type":"ERROR")") && bytes.contains(R"("code":410)");
        // In protobuf: field 1, five bytes; and field 6, the varint of 410.
        const bool isWire = bytes.contains("\x0a\x05"
                                           "ERROR")
            && bytes.contains("\x30\x9a\x03");
        if (isText || isWire)
            ++m_books->expired;
        m_real.onBytes(bytes);
    }
    void onFinished(const davit::Error &error) override { m_real.onFinished(error); }

private:
    ResponseSink &m_real;
    const std::shared_ptr<Books> m_books;
};

// Keeps the sink alive as long as the exchange may speak to it.
class WitnessTransport::WitnessedExchange final : public Exchange
{
public:
    std::unique_ptr<Sink> sink;
    std::unique_ptr<Exchange> real; // destroyed first
};

WitnessTransport::WitnessTransport(Transport &real) : m_real(real) { }

std::unique_ptr<Exchange> WitnessTransport::start(
    const Request &request, davit::support::Executor &executor, ResponseSink &sink)
{
    if (request.target.contains("watch=true") || request.target.contains("watch=1"))
        ++m_books->watches;
    else if (request.method == "GET")
        ++m_books->lists;
    auto exchange = std::make_unique<WitnessedExchange>();
    exchange->sink = std::make_unique<Sink>(sink, m_books);
    exchange->real = m_real.start(request, executor, *exchange->sink);
    return exchange;
}
