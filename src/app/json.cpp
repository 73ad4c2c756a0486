#include "app/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/utf8.h"

namespace satin::app {
namespace {

std::string escaped(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  const unsigned code = static_cast<unsigned char>(c);
  if (code >= 0x20) return {c};
  constexpr std::string_view digits = "0123456789abcdef";
  return std::string("\\u00") + digits[code / 16] + digits[code % 16];
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
    const std::size_t length = sequence_length(text);
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
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return raw({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
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

}  // namespace satin::app
