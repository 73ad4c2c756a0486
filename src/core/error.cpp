#include "satin/error.h"

namespace satin {
namespace {

/// Bytes of a control character at the front: 1 for ASCII, 2 for C1 as UTF-8 (0xC2 and 0x80 to 0x9F), else 0.
std::size_t control_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  return text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0 ? 2 : 0;
}

}  // namespace

std::string printable(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t end = i + control_length(name.substr(i));
    if (end == i) {
      text += name[i++];
    } else if (name[i] == '\n') {
      text += "\\n";
      i = end;
    }
    for (; i < end; ++i) {
      const auto code = static_cast<unsigned char>(name[i]);
      text += {'\\', 'x', digits[code / 16], digits[code % 16]};
    }
  }
  return text;
}

}  // namespace satin
