// Either a T or an Error. Header-only sugar: exported functions return Status and fill
// out-parameters.
#pragma once

#include <davit/error.h>
#include <davit/status.h>
#include <utility>
#include <variant>

DAVIT_BEGIN_NAMESPACE
// All methods: [thread-safe].
template <typename T> class [[nodiscard]] Result
{
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) { }
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) { }
    bool isOk() const noexcept { return m_state.index() == 0; }
    // Precondition: isOk(); asserted in debug builds. error() has the opposite precondition.
    const T &value() const &
    {
        Q_ASSERT(isOk());
        return *std::get_if<0>(&m_state);
    }
    T &&value() &&
    {
        Q_ASSERT(isOk());
        return std::move(*std::get_if<0>(&m_state));
    }
    const Error &error() const &
    {
        Q_ASSERT(!isOk());
        return *std::get_if<1>(&m_state);
    }
    Status status() const { return isOk() ? Status() : Status(error()); }

private:
    std::variant<T, Error> m_state;
};
DAVIT_END_NAMESPACE
