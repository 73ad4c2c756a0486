// Text: JSON, numbers in few digits, UTF-8, and names that are safe to print.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "satin/error.h"
#include "satin/json.h"
#include "satin/param.h"

namespace satin {
namespace {

/// Returns the two digits of a byte behind a prefix.
std::string hexadecimal(const char* prefix, char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(byte);
  return std::string(prefix) + digits[code / 16] + digits[code % 16];
}

std::string escaped(char c) {
  constexpr std::string_view special = "\"\\\n\t\r", letters = "\"\\ntr";
  if (const std::size_t found = special.find(c); found != std::string_view::npos)
    return {'\\', letters[found]};
  return static_cast<unsigned char>(c) >= 0x20 ? std::string{c} : hexadecimal("\\u00", c);
}

}  // namespace

JsonWriter& JsonWriter::key(std::string_view name) {
  string(name);
  text_ += ": ";
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      text_ += "\\ufffd";
    else if (length == 1)
      text_ += escaped(text.front());
    else
      text_ += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return raw("null");
  return raw(print_real(value));
}

JsonWriter& JsonWriter::shape(const Shape& shape) {
  key("width").integer(shape.width).key("height").integer(shape.height);
  return key("channels").integer(shape.channels).key("type").string(name_of(shape.type));
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ", ";
  needs_comma_ = true;
}

std::string short_number(double value, int digits) {
  std::array<char, 400> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  std::string result(text.data(), static_cast<std::size_t>(size));
  if (result.find('.') == std::string::npos) return result;
  result.erase(result.find_last_not_of('0') + 1);
  if (result.back() == '.') result.pop_back();
  return result;
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

namespace {

/// Returns the length of a control character at the front: 1 for ASCII, 2 for C1 in UTF-8 (0xC2 and 0x80 to
/// 0x9F), otherwise 0.
std::size_t control_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  return text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0 ? 2 : 0;
}

}  // namespace

std::string printable(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t end = i + control_length(name.substr(i));
    if (end == i) text += name[i++];
    for (; i < end; ++i) text += name[i] == '\n' ? "\\n" : hexadecimal("\\x", name[i]);
  }
  return text;
}

}  // namespace satin
