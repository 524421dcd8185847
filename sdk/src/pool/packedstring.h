// Strings whose text has a shorter form: UUIDs, times, hex, addresses, digits. Only text that reads
// back byte for byte the same is packed. Test: tst_object, packedStrings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace davit::priv::pool {

constexpr std::size_t kMaxPackedBytes = 2 + 255;

// Writes tag and bytes to `out` (room for kMaxPackedBytes); the bytes written, or 0 when `text` is
// nothing special.
std::size_t packString(std::string_view text, std::uint8_t *out) noexcept;
// Appends the text of what packString() wrote.
void unpackString(const std::uint8_t *p, std::string &out);
// Appends 2 * `count` lower-case hex digits.
void appendHex(const std::uint8_t *bytes, std::size_t count, std::string &out);
// Writes text.size() / 2 bytes; false unless all of `text` is lower-case hex of even size.
bool packHex(std::string_view text, std::uint8_t *out) noexcept;
// How many bytes at the end of `text` are lower-case hex, an even number of at most 510.
std::size_t trailingHex(std::string_view text) noexcept;
// The size of what Kubernetes generated behind the last "-" of a name (Pods of a ReplicaSet, token
// volumes): 5 to 10 of the letters it uses; 0 when there is no such end.
std::size_t generatedSuffix(std::string_view text) noexcept;

} // namespace davit::priv::pool
