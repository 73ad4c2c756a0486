#pragma once
// The range of the known values of a depth image: the least, the largest and two percentiles, exactly, by
// radix selection. Values have keys of their order; every pass counts one digit of those keys that begin as a
// sought one does, from the highest digit on.

#include <cstdint>
#include <cstring>

#include "core/maths/atomics.h"
#include "depth/maths/circle_of_confusion.h"

namespace satin {

inline constexpr int span_digits = 256;  ///< values of a digit
inline constexpr int span_digit_bits = 8;
inline constexpr int span_run = 64;  ///< columns of one thread

/// What is sought: the least value, the 0.5 and the 99.5 percentile, the largest value.
inline constexpr int span_ends = 4;

/// A sought value between two passes.
struct SpanEnd {
  std::uint32_t prefix = 0;  ///< digits of its key that are known
  std::uint32_t rank = 0;    ///< among the keys that begin with them
};

/// The counts of one pass, and what is known before and after it: even passes read the first row of `ends`
/// and write the second, odd ones the other way round.
struct DepthSpan {
  std::uint32_t counts[span_ends][span_digits] = {};
  SpanEnd ends[2][span_ends] = {};
  std::uint32_t known = 0;
  std::uint32_t held = 0;  ///< known values that reach the largest radius
  std::uint32_t silhouettes = 0;
  std::uint32_t ramps = 0;  ///< of the silhouettes
  std::uint32_t soft = 0;   ///< 1: the depth is soft

  /// The first end with the prefix of this one: it counts for both.
  [[nodiscard]] SATIN_HD int counted_by(int end, int pass) const {
    const SpanEnd* now = ends[pass % 2];
    int first = end;
    while (first > 0 && now[first - 1].prefix == now[end].prefix) --first;
    return first;
  }
};

/// Keys are in the order of the values.
template <class T>
SATIN_HD std::uint32_t depth_key(T value) {
  if constexpr (sizeof(T) < sizeof(float)) {
    return value;
  } else {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
  }
}
template <class T>
SATIN_HD T depth_of_key(std::uint32_t key) {
  if constexpr (sizeof(T) < sizeof(float)) {
    return static_cast<T>(key);
  } else {
    const std::uint32_t bits = (key >> 31U) != 0 ? key & 0x7FFFFFFFU : ~key;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

/// Begins a pass, which finds one more digit after the first `pass` ones; one place a digit.
struct ClearDepthCounts {
  DepthSpan* span;
  int pass;

  SATIN_HD void operator()(int x, int /*y*/) const {
    for (auto& counts : span->counts) counts[x] = 0;
    if (x != 0 || pass != 0) return;
    for (SpanEnd& end : span->ends[0]) end = {};
  }
};

/// Counts the digits of a run of columns. A few counts of neighbouring digits are held, so that pixels that
/// hardly differ reach the memory that all share together.
inline constexpr int counts_held = 4;

template <class T>
struct CountDepthDigits {
  DepthRule rule;
  DepthRows<T> depth;
  std::int64_t width;
  DepthSpan* span;
  int pass;

  SATIN_HD void operator()(int x, int y) const {
    const int shift = static_cast<int>(sizeof(T) - 1) * span_digit_bits - pass * span_digit_bits;
    SpanEnd ends[span_ends];
    for (int end = 0; end < span_ends; ++end) ends[end] = span->ends[pass % 2][end];
    const T* row = depth.row(y);
    const std::int64_t first = std::int64_t{x} * span_run;
    const std::int64_t last = first + span_run < width ? first + span_run : width;
    std::uint32_t* counters[counts_held] = {};
    std::uint32_t counts[counts_held] = {};
    for (std::int64_t u = first; u < last; ++u) {
      const T stored = row[u * depth.channels];
      if (!depth_value(static_cast<double>(stored), rule).known) continue;
      const std::uint32_t digits = depth_key(stored) >> static_cast<unsigned>(shift);
      int end = 0;
      while (end < span_ends && ends[end].prefix != digits >> span_digit_bits) ++end;
      if (end == span_ends) continue;
      std::uint32_t* own = span->counts[end] + digits % span_digits;
      const std::uint32_t place = digits % counts_held;
      if (own != counters[place]) {
        if (counts[place] != 0) add_shared(counters[place], counts[place]);
        counters[place] = own;
        counts[place] = 0;
      }
      ++counts[place];
    }
    for (int place = 0; place < counts_held; ++place)
      if (counts[place] != 0) add_shared(counters[place], counts[place]);
  }
};

/// The next digit of every end, one thread each.
struct ChooseDepthDigits {
  DepthSpan* span;
  int pass;

  SATIN_HD void operator()(int x, int /*y*/) const {
    std::uint32_t known = 0;
    for (int digit = 0; digit < span_digits; ++digit) known += counts_of(x)[digit];
    choose(x, 0, rank_among(x, known));
  }

  [[nodiscard]] SATIN_HD const std::uint32_t* counts_of(int end) const {
    return span->counts[span->counted_by(end, pass)];
  }
  /// The rank of an end among the keys that are counted for it, `known` in the first pass.
  [[nodiscard]] SATIN_HD std::uint32_t rank_among(int end, std::uint32_t known) const {
    if (pass != 0) return span->ends[pass % 2][end].rank;
    if (end == 0) span->known = known;
    const std::uint32_t last = known == 0 ? 0 : known - 1;
    const std::uint32_t low = end == 0 || end == span_ends - 1 ? 0 : last / 200;
    return end < span_ends / 2 ? low : last - low;
  }
  /// The digit is `digit` or a later one; `rank` is among these.
  SATIN_HD void choose(int end, std::uint32_t digit, std::uint32_t rank) const {
    const std::uint32_t* counts = counts_of(end);
    while (digit + 1 < span_digits && rank >= counts[digit]) rank -= counts[digit++];
    span->ends[(pass + 1) % 2][end] = {span->ends[pass % 2][end].prefix << span_digit_bits | digit, rank};
  }
};

/// The ends as values, and whether a focus that is given lies among them; one thread. What later steps count
/// depends on the rule and begins at 0, also where the ends are those of the run before.
template <class T>
struct TellDepthSpan {
  DepthRule rule;
  DepthSpan* span;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    span->held = span->silhouettes = span->ramps = span->soft = 0;
    if (span->known == 0) return;
    double values[span_ends];
    for (int end = 0; end < span_ends; ++end) {
      const std::uint32_t key = span->ends[sizeof(T) % 2][end].prefix;
      values[end] = rule.offset + rule.gain * static_cast<double>(depth_of_key<T>(key));
    }
    const bool falls = values[0] > values[span_ends - 1];
    state->lowest = falls ? values[3] : values[0];
    state->highest = falls ? values[0] : values[3];
    const double a = rule.distances ? 1 / values[1] : values[1];
    const double b = rule.distances ? 1 / values[2] : values[2];
    state->low = a < b ? a : b;
    state->high = a < b ? b : a;
    if (rule.focus_given && !reaches_focus()) state->problems |= focus_outside;
  }

 private:
  /// A focus between two codes, or as near to a float as text says it, is one that the depth has.
  SATIN_HD bool reaches_focus() const {
    const double low = state->lowest;
    const double high = state->highest;
    const double size = -low > high ? -low : high;
    const double rounding =
        sizeof(T) < sizeof(float) ? (rule.gain < 0 ? -rule.gain : rule.gain) : size * 1e-6;
    return rule.focus + rule.sharp_range >= low - rounding &&
           rule.focus - rule.sharp_range <= high + rounding;
  }
};

/// Counts the radii of a run of columns that reach the largest one.
struct CountHeld {
  Rows<const SignedRadius256> radii;
  std::int64_t width;
  SignedRadius256 largest;
  DepthSpan* span;

  SATIN_HD void operator()(int x, int y) const {
    const SignedRadius256* row = radii.row(y);
    const std::int64_t first = std::int64_t{x} * span_run;
    const std::int64_t last = first + span_run < width ? first + span_run : width;
    std::uint32_t count = 0;
    for (std::int64_t u = first; u < last; ++u) count += holds(row[u]) ? 1U : 0U;
    if (count != 0) add_shared(&span->held, count);
  }
  [[nodiscard]] SATIN_HD bool holds(SignedRadius256 radius) const {
    return radius >= largest || (radius <= -largest && radius != unknown_radius);
  }
};

struct TellHeld {
  DepthSpan* span;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    if (span->held > span->known / 2) state->problems |= mostly_held;
  }
};

}  // namespace satin
