// The body of a refusal, and an ERROR event's object: always an error with a code and a sentence.
#include "fuzzing.h"

#include "codec/statusdecoder.h"

using namespace davit;

static void check(const Error &error)
{
    fuzzing::require(error.isError());
    fuzzing::require(error.message().startsWith(QLatin1String("get: ")));
    fuzzing::require(error.message().size() > 5);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size < 2)
        return 0;
    const QByteArray body(reinterpret_cast<const char *>(data + 2), qsizetype(size - 2));
    const QByteArray method = data[1] % 2 == 0 ? QByteArray("GET") : QByteArray("POST");
    const std::chrono::milliseconds retryAfter(data[1] % 3 == 0 ? -1 : 1000);
    return fuzzing::leavingNothing([&] {
        const Error refused
            = codec::errorFromReply(QStringLiteral("get"), method, 400 + data[0], body, retryAfter);
        check(refused);
        fuzzing::require(refused.retryAfter() >= retryAfter);
        check(codec::errorFromStatus(QStringLiteral("get"), body));
    });
}
