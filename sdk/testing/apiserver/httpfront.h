// The socket side of the embedded API server: HTTP/1.1 on a loopback port over cpp-httplib, which
// is included in httpfront.cpp alone. A connection has a thread of its own while it is open.
#pragma once

#include "apitypes.h"

#include <memory>

namespace davit::testing::apiserver {

// What becomes of a request beside its answer.
enum class AfterAnswer : unsigned char {
    Keep, // the connection stays open
    DropUnanswered // executed, but the connection is reset instead of the answer
};

class HttpFront
{
public:
    using Handler = std::function<AfterAnswer(const ApiRequest &request, ApiReply *reply)>;

    explicit HttpFront(Handler handler);
    ~HttpFront();
    HttpFront(const HttpFront &) = delete;
    HttpFront &operator=(const HttpFront &) = delete;

    // Listens on 127.0.0.1; port 0 takes a free one. 0 when the port cannot be had.
    int start(int port);
    // Resets what is open and waits for all threads. Streams must end by themselves.
    void stop();
    // Closes every connection that is open now, as a network that breaks.
    void dropConnections();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace davit::testing::apiserver
