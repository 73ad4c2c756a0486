// Minima and maxima over rows and series of lines, compiled for every SIMD target.

#if defined(SATIN_SLIDING_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SLIDING_LINES_INL_H
#undef SATIN_SLIDING_LINES_INL_H
#else
#define SATIN_SLIDING_LINES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/workspace.h"
#include "extremes/maths/extreme.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where the windows begin that together make a larger one.
struct JoinedWindows {
  int count = 1;  ///< 1 to 4
  std::size_t offset[4] = {};
};

struct Least {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
};

struct Greatest {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

/// Calls action(op): op(a, b) is the extreme of two vectors.
template <class Action>
void WithExtreme(Extreme extreme, const Action& action) {
  extreme == Extreme::minimum ? action(Least()) : action(Greatest());
}

/// Calls body(d, i) for every vector of keys, then for every key that is left.
template <class Key, class Body>
HWY_INLINE void ForVectors(std::size_t count, const Body& body) {
  const hn::ScalableTag<Key> d;
  const hn::CappedTag<Key, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) body(d, i);
  for (; i < count; ++i) body(one, i);
}

template <int Windows, class Op, class Key>
void JoinCounted(Op op, const Key* from, const JoinedWindows& windows, std::size_t count, Key* out) {
  ForVectors<Key>(count, [=](auto d, std::size_t i) {
    auto value = hn::LoadU(d, from + i + windows.offset[0]);
    for (int k = 1; k < Windows; ++k) value = op(value, hn::LoadU(d, from + i + windows.offset[k]));
    hn::StoreU(value, d, out + i);
  });
}

/// out[i] = extreme over from[i + offset]. `out` may be `from`, if the first offset is 0.
template <class Key>
void JoinWindows(Extreme extreme, const Key* from, const JoinedWindows& windows, std::size_t count,
                 Key* out) {
  WithExtreme(extreme, [&](auto op) {
    switch (windows.count) {
      case 1:
        return JoinCounted<1>(op, from, windows, count, out);
      case 2:
        return JoinCounted<2>(op, from, windows, count, out);
      case 3:
        return JoinCounted<3>(op, from, windows, count, out);
      default:
        return JoinCounted<4>(op, from, windows, count, out);
    }
  });
}

/// into[i] = extreme of into[i] and other[i]
template <class Key>
void JoinLines(Extreme extreme, const Key* other, std::size_t count, Key* into) {
  WithExtreme(extreme, [&](auto op) {
    ForVectors<Key>(count, [=](auto d, std::size_t i) {
      hn::StoreU(op(hn::LoadU(d, into + i), hn::LoadU(d, other + i)), d, into + i);
    });
  });
}

/// prefix[i] = extreme of prefix[i] and line[i]; out[i] = extreme of that and suffix[i]
template <class Key>
void AdvanceLines(Extreme extreme, const Key* line, const Key* suffix, std::size_t count,
                  Key* HWY_RESTRICT prefix, Key* HWY_RESTRICT out) {
  WithExtreme(extreme, [&](auto op) {
    ForVectors<Key>(count, [=](auto d, std::size_t i) {
      const auto grown = op(hn::LoadU(d, prefix + i), hn::LoadU(d, line + i));
      hn::StoreU(grown, d, prefix + i);
      hn::StoreU(op(grown, hn::LoadU(d, suffix + i)), d, out + i);
    });
  });
}

/// Extremes over a window that moves down a series of lines, three comparisons a key whatever the window (van
/// Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels, 1992;
/// Gil and Werman, Computing 2-D min, median, and max filters, 1993).
///
/// The series is cut into segments of one window each. A window is the end of one segment and the beginning
/// of the next: a suffix and a prefix, each an extreme that is scanned within its segment.
template <class Key>
class SlidingLines {
 public:
  /// Windows of `window` lines, series of at most `most_lines` lines of at most `most_keys` keys.
  SlidingLines(Extreme extreme, std::int64_t window, std::int64_t most_lines, std::size_t most_keys)
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
      AdvanceLines(extreme_, next, line(position_ + 1), keys_, prefix_.data(), out);
    } else {
      JoinLines(extreme_, next, keys_, prefix_.data());
      if (out != nullptr) std::copy_n(prefix_.data(), keys_, out);
    }
    ++taken_;
    advance();
  }

  /// Moves the window on where the series of lines is over.
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
    if (!first_segment_ && !whole_segment) JoinLines(extreme_, line(position_ + 1), keys_, out);
  }

  void advance() {
    if (++position_ == window_) begin_segment();
  }

  /// Lines become suffixes: line i the extreme from i to the end of its segment.
  void begin_segment() {
    for (std::size_t i = taken_; i-- > 1;) JoinLines(extreme_, line(i), keys_, line(i - 1));
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
  WorkspaceVector<Key>
      segment_;  ///< lines of this segment up to position_, behind it suffixes of the one before
  WorkspaceVector<Key> prefix_;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
