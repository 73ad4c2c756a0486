#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace satin::batch {

/// A path as messages show it: on one line, with nothing that a terminal would obey.
[[nodiscard]] inline std::string quoted(const std::filesystem::path& path) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "'";
  for (const char c : path.native()) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (code < 0x20 || code == 0x7F) {
      text += "\\x";
      text += digits[code / 16];
      text += digits[code % 16];
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace satin::batch
