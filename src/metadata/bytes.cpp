#include "metadata/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "satin/error.h"

namespace satin::io {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> base64_values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    table[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::uint8_t>(i);
  return table;
}();

}  // namespace

void damaged(const char* format, const std::string& detail) {
  throw Error(ErrorKind::input, std::string("the ") + format + " data is damaged: " + detail +
                                    ". Get an undamaged copy of the file.");
}

void truncated(const char* format) {
  throw Error(ErrorKind::input, std::string("the ") + format +
                                    " data ends before the picture does. Get a complete copy of the file.");
}

void unsupported(const char* format, const std::string& detail, const std::string& advice) {
  throw Error(ErrorKind::input, std::string(format) + " with " + detail + " is not read. " + advice);
}

void not_read(const char* format, const std::string& reason, const std::string& advice) {
  throw Error(ErrorKind::input,
              std::string("the ") + format + " file is not read, because " + reason + ". " + advice);
}

void not_decoded(const char* format, const std::string& library, const std::string& reason,
                 const std::string& advice) {
  for (const char* words :
       {"nsupported", "not supported", "not implemented", "nknown compression", "critical chunk"})
    if (reason.find(words) != std::string::npos) not_read(format, library + " says: " + reason, advice);
  damaged(format, reason);
}

bool starts_with(Bytes bytes, std::string_view magic, std::size_t at) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool Sink::write(const void* data, std::size_t size) noexcept {
  try {
    if (position + size > bytes.size()) {
      if (position + size > bytes.capacity()) bytes.reserve(std::max(position + size, bytes.capacity() * 2));
      bytes.resize(position + size);
    }
  } catch (const std::exception&) {
    return false;
  }
  if (size != 0) std::memcpy(bytes.data() + position, data, size);
  position += size;
  return true;
}

void Sink::add(Bytes more) {
  if (!write(more.data(), more.size())) throw std::bad_alloc();
}

void Sink::u8(unsigned value) {
  const char c = static_cast<char>(value);
  text({&c, 1});
}

void Sink::le16(unsigned value) {
  u8(value & 255);
  u8(value >> 8 & 255);
}

void Sink::le32(std::uint32_t value) {
  le16(value & 65535);
  le16(value >> 16);
}

void Sink::be32(std::uint32_t value) {
  for (unsigned shift = 32; shift > 0; shift -= 8) u8(value >> (shift - 8) & 255);
}

void swap_bytes(std::byte* data, std::size_t samples, std::size_t size) {
  for (std::size_t i = 0; i < samples; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

std::optional<FileBytes> from_base64(std::string_view text) {
  FileBytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;  // number of pending bits
  for (const char sign : text) {
    if (sign == '=' || sign == ' ' || sign == '\n' || sign == '\r' || sign == '\t') continue;
    const std::uint8_t value = base64_values[static_cast<unsigned char>(sign)];
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
    for (std::size_t k = 0; k < 4; ++k) text += k <= given ? base64_digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace satin::io
