// The outcome of a call that yields nothing else: ok, or an Error. What exported functions return
// instead of throwing. ABI: frozen; it is an Error, which has a d-pointer, and nothing else.
#pragma once

#include <davit/error.h>

DAVIT_BEGIN_NAMESPACE
class [[nodiscard,
    gnu::visibility("default")]] Status // DAVIT_EXPORT does not mix with [[ ]] in GCC
{
public:
    // Ok.
    Status() noexcept;
    // Not ok, unless `error` is no error.
    Status(const Error &error);
    Status(ErrorCode code, const QString &message);
    Status(const Status &other) noexcept;
    Status &operator=(const Status &other) noexcept;
    ~Status();
    static Status ok()
    {
        return Status();
    }

    // [thread-safe]
    bool isOk() const noexcept;
    // No error when isOk(). [thread-safe]
    Error error() const noexcept;

private:
    Error m_error;
};
DAVIT_END_NAMESPACE
