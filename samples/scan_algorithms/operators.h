#pragma once
// The associative operators of the scans. They are constexpr, and so work in CUDA kernels too.

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

namespace study {

/// The type that an operator combines.
template <class Op>
using ValueOf = decltype(Op::identity());

struct Sum {
  static constexpr std::uint32_t identity() { return 0; }
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

struct Minus {
  constexpr std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a - b; }
};

struct Less {
  constexpr bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};

/// State of a segmented scan: the sum of the last segment in a range of values, and whether a segment begins
/// in that range. (f1, v1) + (f2, v2) = (f1 | f2, f2 ? v2 : v1 + v2). Associative, but not commutative.
struct Flagged {
  std::uint32_t flag;
  std::uint32_t value;
  friend constexpr bool operator==(const Flagged&, const Flagged&) = default;
};

struct FlaggedSum {
  static constexpr Flagged identity() { return {0, 0}; }
  constexpr Flagged operator()(const Flagged& a, const Flagged& b) const {
    return {a.flag | b.flag, b.flag != 0 ? b.value : a.value + b.value};
  }
};

/// Returns x to the power of n, by squaring.
constexpr double power(double x, std::int64_t n) {
  double result = 1;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2 == 1) result *= x;
  return result;
}

/// State of the exponential moving average y_i = alpha x_i + (1 - alpha) y_{i-1}, y_{-1} = 0: the
/// contribution of `length` successive values to the average at the last one. (v1, l1) + (v2, l2) = (v1 (1 -
/// alpha)^l2 + v2, l1 + l2).
struct Smoothed {
  double value;
  std::int64_t length;
};

struct Smoothing {
  static constexpr double alpha = 0.2;
  static constexpr Smoothed identity() { return {0, 0}; }
  static constexpr Smoothed of(double x) { return {alpha * x, 1}; }
  constexpr Smoothed operator()(const Smoothed& a, const Smoothed& b) const {
    return {a.value * power(1 - alpha, b.length) + b.value, a.length + b.length};
  }
};

inline std::string text_of(std::uint32_t value) { return std::to_string(value); }
inline std::string text_of(std::int64_t value) { return std::to_string(value); }
inline std::string text_of(const Flagged& f) {
  return std::to_string(f.flag) + '|' + std::to_string(f.value);
}
inline std::string text_of(double value, int digits = 9) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}
inline std::string text_of(float value) { return text_of(static_cast<double>(value), 6); }
inline std::string text_of(const Smoothed& s) { return text_of(s.value, 4) + ':' + std::to_string(s.length); }

}  // namespace study
