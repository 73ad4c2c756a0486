#include "metadata/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace satin::io {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::size_t i = 0; i < digits.size(); ++i)
    table[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  return table;
}();

}  // namespace

std::optional<FileBytes> from_base64(std::string_view text) {
  FileBytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;  // of bits that wait
  for (const char sign : text) {
    if (sign == '=' || sign == ' ' || sign == '\n' || sign == '\r' || sign == '\t') continue;
    const std::uint8_t value = values[static_cast<unsigned char>(sign)];
    if (value == no_digit) return std::nullopt;
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> count & 0xFF));
  }
  return count == 6 ? std::nullopt : std::optional(std::move(bytes));
}

std::string to_base64(Bytes bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t given = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < given ? byte_at(bytes, i + k) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= given ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace satin::io
