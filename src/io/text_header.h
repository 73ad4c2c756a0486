#pragma once
// Headers of words and numbers, as in PNM and PFM.

#include <charconv>
#include <string_view>

#include "io/support.h"

namespace satin::io {

class TextHeader {
 public:
  TextHeader(Bytes bytes, const char* format, std::size_t start)
      : bytes_(bytes), format_(format), at_(start) {}

  [[nodiscard]] std::size_t position() const noexcept { return at_; }

  /// The next word; comments from # to the end of the line are skipped. Empty at the end of the data.
  std::string_view word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < bytes_.size() && !is_space(bytes_[at_]) && bytes_[at_] != std::byte{'#'}) ++at_;
    return text_of(bytes_.subspan(start, at_ - start));
  }

  /// The next non-negative whole number.
  std::uint64_t number() {
    const std::string_view digits = word();
    if (digits.empty()) truncated(format_);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      damaged(format_, "'" + std::string(digits.substr(0, 20)) + "' stands where a number belongs");
    return value;
  }

  /// A single 0 or 1, which may touch its neighbours.
  bool bit() {
    skip_space();
    if (at_ >= bytes_.size()) truncated(format_);
    const std::byte c = bytes_[at_++];
    if (c != std::byte{'0'} && c != std::byte{'1'}) damaged(format_, "a pixel is neither 0 nor 1");
    return c == std::byte{'1'};
  }

  /// Skips the one white-space character between a header and binary data and returns what follows.
  Bytes rest() {
    if (at_ >= bytes_.size()) truncated(format_);
    if (!is_space(bytes_[at_])) damaged(format_, "its header does not end");
    return bytes_.subspan(at_ + 1);
  }

 private:
  static bool is_space(std::byte c) noexcept {
    const auto value = std::to_integer<unsigned>(c);
    return value == ' ' || (value >= 9 && value <= 13);
  }

  void skip_space() noexcept {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == std::byte{'#'}) {
        while (at_ < bytes_.size() && bytes_[at_] != std::byte{'\n'} && bytes_[at_] != std::byte{'\r'}) ++at_;
      } else if (is_space(bytes_[at_])) {
        ++at_;
      } else {
        break;
      }
    }
  }

  Bytes bytes_;
  const char* format_;
  std::size_t at_;
};

}  // namespace satin::io
