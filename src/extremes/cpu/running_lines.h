#pragma once
// Extremes over a window that moves down a series of lines, three comparisons a key whatever the window (van
// Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels, 1992;
// Gil and Werman, Computing 2-D min, median, and max filters, 1993).
//
// The series is cut into segments of one window each. A window is the end of one segment and the beginning of
// the next: a suffix and a prefix, each an extreme that is scanned within its segment.

#include <algorithm>
#include <vector>

#include "extremes/cpu/sliding_extreme_simd.h"

namespace satin::cpu {

template <class Key>
class RunningLines {
 public:
  /// Windows of `window` lines, series of at most `most_lines` lines of at most `most_keys` keys.
  RunningLines(Extreme extreme, std::int64_t window, std::int64_t most_lines, std::size_t most_keys)
      : extreme_(extreme),
        window_(static_cast<std::size_t>(window)),
        stride_(most_keys),
        segment_(static_cast<std::size_t>(std::min(window, most_lines)) * most_keys),
        prefix_(most_keys) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (segment_.size() + prefix_.size()) * sizeof(Key);
  }

  /// Begins a series of lines of `keys` keys.
  void start(std::size_t keys) {
    keys_ = keys;
    position_ = 0;
    taken_ = 0;
    first_segment_ = true;
  }

  /// Where the next line is to be put before take() is called.
  [[nodiscard]] Key* next_line() { return line(position_); }

  /// Takes the next line. `out`, unless it is null, gets the extremes of the window that ends with it, or of
  /// all lines so far if they are fewer.
  void take(Key* out) {
    const Key* next = line(position_);
    const bool whole_segment = position_ + 1 == window_;
    if (position_ == 0) {
      std::copy_n(next, keys_, prefix_.data());
      if (out != nullptr) finish_window(whole_segment, out);
    } else if (out != nullptr && !first_segment_ && !whole_segment) {
      advance_lines(extreme_, next, line(position_ + 1), keys_, prefix_.data(), out);
    } else {
      join_lines(extreme_, next, keys_, prefix_.data());
      if (out != nullptr) std::copy_n(prefix_.data(), keys_, out);
    }
    ++taken_;
    advance();
  }

  /// The same where the series is over and the window still moves on.
  void take_nothing(Key* out) {
    if (out != nullptr && taken_ == 0) {
      std::copy_n(line(position_ + 1), keys_, out);
    } else if (out != nullptr) {
      finish_window(position_ + 1 == window_, out);
    }
    advance();
  }

 private:
  [[nodiscard]] Key* line(std::size_t index) { return segment_.data() + index * stride_; }

  /// Joins the prefix with what the window holds of the segment before.
  void finish_window(bool whole_segment, Key* out) {
    std::copy_n(prefix_.data(), keys_, out);
    if (!first_segment_ && !whole_segment) join_lines(extreme_, line(position_ + 1), keys_, out);
  }

  void advance() {
    if (++position_ == window_) begin_segment();
  }

  /// Lines become suffixes: line i the extreme from i to the end of its segment.
  void begin_segment() {
    for (std::size_t i = taken_; i-- > 1;) join_lines(extreme_, line(i), keys_, line(i - 1));
    position_ = 0;
    taken_ = 0;
    first_segment_ = false;
  }

  Extreme extreme_;
  std::size_t window_;
  std::size_t stride_;
  std::size_t keys_ = 0;
  std::size_t position_ = 0;  ///< in the segment
  std::size_t taken_ = 0;     ///< lines of the segment
  bool first_segment_ = true;
  std::vector<Key> segment_;  ///< lines of this segment up to position_, behind it suffixes of the one before
  std::vector<Key> prefix_;
};

}  // namespace satin::cpu
