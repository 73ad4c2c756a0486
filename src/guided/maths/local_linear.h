#pragma once
// Arithmetic of the guided filter, which fits a picture p by a linear function of a guide I in every window.
//
// The coefficients of the window around k, with n pixels, are a_k = (cov(I, I) + eps)^-1 cov(I, p) and
// b_k = mean(p) - a_k mean(I) (He, Sun and Tang, Guided image filtering, 2010, equations 5 and 6; 14 and 15
// for colours). Covariances times n^2 are exact integers, n sum(u v) - sum(u) sum(v). a_k and b_k are rounded
// to fixed point, so that their sums are exact too. The result is q_i = mean(a_k) I_i + mean(b_k) (equation
// 8).

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "means/maths/mean.h"
#include "pixels/maths/real_pixel.h"
#include "satin/view.h"
#include "statistics/maths/local_statistics.h"

namespace satin {

/// How the pixels of a picture or a guide become the integers that are summed: stored values, colours times
/// straight alpha, or floats in fixed point.
struct LinearRead {
  Type type = Type::u8;
  int channels = 1;
  Order order = Order::rgb;
  bool weighted = false;  ///< the last channel is straight alpha
  int float_bits = 0;     ///< floats become integers up to 2^float_bits
  int cut = 0;            ///< low bits removed from 16-bit colours times alpha
};

/// Returns the index in a pixel of channel c, where colours count from red.
SATIN_HD int stored_channel(const LinearRead& read, int c) {
  return read.order == Order::bgr && read.channels >= 3 && c < 3 ? 2 - c : c;
}

SATIN_HD FixedExponents linear_exponents(const LinearRead& read, const Measured* measured) {
  return read.type == Type::f32 ? fixed_exponents(*measured, read.float_bits) : FixedExponents{};
}

/// A value in units of its step.
struct LinearValue {
  std::int64_t whole = 0;  ///< rounded value, which is summed
  double rest = 0;         ///< value - whole
};

template <class T>
SATIN_HD LinearValue linear_value(const T* pixel, int c, const LinearRead& read, FixedExponents exponents) {
  const int at = stored_channel(read, c);
  const int alpha = read.channels - 1;
  const bool multiplied = read.weighted && at != alpha;
  if constexpr (std::is_same_v<T, float>) {
    const int exponent = read.weighted && at == alpha ? exponents.alpha : exponents.colour;
    double value = finite_value(pixel[at]);
    if (multiplied) value = value * finite_value(pixel[alpha]);
    const std::int64_t whole = to_fixed(value, exponent);
    return {whole, value * power_of_two(exponent) - static_cast<double>(whole)};
  } else {
    const std::uint64_t value = pixel[at];
    if (!multiplied) return {static_cast<std::int64_t>(value), 0};
    const std::uint64_t product = value * pixel[alpha];
    if (read.cut == 0) return {static_cast<std::int64_t>(product), 0};
    const auto whole =
        static_cast<std::int64_t>((product + (std::uint64_t{1} << (read.cut - 1))) >> read.cut);
    return {whole, static_cast<double>(product) * power_of_two(-read.cut) - static_cast<double>(whole)};
  }
}

/// Returns the size of one step of channel c, in stored values, or in stored values times alpha if weighted.
SATIN_HD double linear_step(const LinearRead& read, int c, FixedExponents exponents) {
  const bool alpha = read.weighted && c == read.channels - 1;
  if (read.type == Type::f32) return power_of_two(-(alpha ? exponents.alpha : exponents.colour));
  return read.weighted && !alpha ? power_of_two(read.cut) : 1.0;
}

/// Returns white in steps of a colour.
SATIN_HD double linear_white(const LinearRead& read, FixedExponents exponents) {
  if (read.type == Type::f32) return power_of_two(exponents.colour);
  const double stored = read.type == Type::u8 ? 255.0 : 65535.0;
  return read.weighted ? stored * stored * power_of_two(-read.cut) : stored;
}

/// Converts eps from values with white = 1 to steps of the guide.
SATIN_HD double linear_eps(double eps, const LinearRead& guide, FixedExponents exponents) {
  const double white = linear_white(guide, exponents);
  return eps * white * white;
}

/// The indices of sums and coefficients of a window. Sums: the guides, their products (00, 01, 02, 11, 12,
/// 22), and for every channel of the picture that is not a guide, the channel and its products with the
/// guides. Coefficients: for every channel its slopes, then its offset.
struct LinearLayout {
  int guides = 1;              ///< 1 or 3 channels of the guide
  int channels = 1;            ///< channels of the picture
  bool guides_itself = false;  ///< the picture's first channels are the guides

  /// Returns the first channel of the picture that is not a guide.
  [[nodiscard]] SATIN_HD constexpr int first_own() const { return guides_itself ? guides : 0; }
  [[nodiscard]] SATIN_HD constexpr int products() const { return guides * (guides + 1) / 2; }
  [[nodiscard]] SATIN_HD constexpr int sums() const {
    return guides + products() + (channels - first_own()) * (1 + guides);
  }
  [[nodiscard]] SATIN_HD constexpr int product(int i, int j) const {
    return i <= j ? guides + i * (2 * guides - i + 1) / 2 + j - i : product(j, i);
  }
  [[nodiscard]] SATIN_HD constexpr int channel(int c) const {
    return c < first_own() ? c : guides + products() + (c - first_own()) * (1 + guides);
  }
  [[nodiscard]] SATIN_HD constexpr int cross(int c, int j) const {
    return c < first_own() ? product(c, j) : channel(c) + 1 + j;
  }
  /// Returns the number of values that a pixel reads: the guides and the picture's own channels.
  [[nodiscard]] SATIN_HD constexpr int values() const { return guides + channels - first_own(); }
  [[nodiscard]] SATIN_HD constexpr int coefficients() const { return channels * (guides + 1); }
};

/// Returns n sum(u v) - sum(u) sum(v), rounded to double. Sums are signed and below 2^63; n is below 2^32.
SATIN_HD double covariance_numerator(std::uint64_t count, std::int64_t sum_uv, std::int64_t sum_u,
                                     std::int64_t sum_v) {
  const auto product = [](std::int64_t a, std::int64_t b) {
    Wide wide = multiply(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
    if (a < 0) wide.high -= static_cast<std::uint64_t>(b);
    if (b < 0) wide.high -= static_cast<std::uint64_t>(a);
    return wide;
  };
  const Wide difference = product(static_cast<std::int64_t>(count), sum_uv) - product(sum_u, sum_v);
  const bool negative = (difference.high >> 63) != 0;
  const double magnitude = to_double(negative ? Wide{} - difference : difference);
  return negative ? -magnitude : magnitude;
}

/// The factorization L D L^T of the matrix M = n^2 (cov(I, I) + eps): the inverses of D, and L below its
/// diagonal.
struct LinearFactors {
  double inverse0 = 0, inverse1 = 0, inverse2 = 0;
  double lower10 = 0, lower20 = 0, lower21 = 0;
};

/// `ridge` is n^2 eps. No exact pivot is below it, so rounded ones are kept from falling below it.
SATIN_HD LinearFactors linear_factors(double m00, double ridge) {
  return {1.0 / (m00 + ridge), 0, 0, 0, 0, 0};
}

SATIN_HD LinearFactors linear_factors(double m00, double m01, double m02, double m11, double m12, double m22,
                                      double ridge) {
  LinearFactors f;
  f.inverse0 = 1.0 / (m00 + ridge);
  f.lower10 = m01 * f.inverse0;
  f.lower20 = m02 * f.inverse0;
  const double d1 = (m11 + ridge) - f.lower10 * m01;
  f.inverse1 = 1.0 / (d1 > ridge ? d1 : ridge);
  const double below = m12 - f.lower20 * m01;
  f.lower21 = below * f.inverse1;
  const double d2 = ((m22 + ridge) - f.lower20 * m02) - f.lower21 * below;
  f.inverse2 = 1.0 / (d2 > ridge ? d2 : ridge);
  return f;
}

struct LinearSlopes {
  double s0 = 0, s1 = 0, s2 = 0;
};

SATIN_HD LinearSlopes linear_slopes(const LinearFactors& f, double r0) { return {r0 * f.inverse0, 0, 0}; }

/// Solves M s = r.
SATIN_HD LinearSlopes linear_slopes(const LinearFactors& f, double r0, double r1, double r2) {
  const double y1 = r1 - f.lower10 * r0;
  const double y2 = (r2 - f.lower20 * r0) - f.lower21 * y1;
  LinearSlopes s;
  s.s2 = y2 * f.inverse2;
  s.s1 = y1 * f.inverse1 - f.lower21 * s.s2;
  s.s0 = (r0 * f.inverse0 - f.lower10 * s.s1) - f.lower20 * s.s2;
  return s;
}

/// Fixed-point format of slopes and offsets, from choose_linear_bits().
struct LinearFormat {
  int slope_range = 0;      ///< slopes are clamped to +-2^slope_range
  int slope_fraction = 0;   ///< fraction bits of slopes
  int offset_fraction = 0;  ///< fraction bits of offsets
};

/// 1.5 * 2^52. Adding it to a number below 2^51 in magnitude rounds to the nearest integer, ties to even, and
/// leaves the integer in the low bits.
inline constexpr double integer_shift = 6755399441055744.0;

SATIN_HD double nearest_whole(double value) { return (value + integer_shift) - integer_shift; }

/// Converts a whole number below 2^51 in magnitude to an integer.
SATIN_HD std::int64_t integer_of(double whole) {
  return static_cast<std::int64_t>(bits_of(whole + integer_shift) - bits_of(integer_shift));
}

/// Returns the clamped slope in steps of 2^-slope_fraction.
SATIN_HD double quantised_slope(double slope, double limit, double scale) {
  const double below = slope < limit ? slope : limit;
  return nearest_whole((below > -limit ? below : -limit) * scale);
}

/// Returns the offset mean(p) - (slopes . mean(I)) in steps of 2^-offset_fraction. For a constant p it is
/// exact: it has less than 2^36 steps, so the rounding of 1 / n cannot move it to another one.
SATIN_HD double quantised_offset(double picture_sum, double slope, double guide_sum, double inverse_count,
                                 double scale) {
  return nearest_whole((picture_sum - slope * guide_sum) * inverse_count * scale);
}

SATIN_HD double quantised_offset(double picture_sum, LinearSlopes slopes, double sum0, double sum1,
                                 double sum2, double inverse_count, double scale) {
  const double line = (slopes.s0 * sum0 + slopes.s1 * sum1) + slopes.s2 * sum2;
  return nearest_whole((picture_sum - line) * inverse_count * scale);
}

/// Returns q_i in steps of the picture, from the sums of slopes and offsets over the windows that cover the
/// pixel.
SATIN_HD double linear_result(double slope_sum, double offset_sum, double guide, double slope_step,
                              double offset_step, double inverse_count) {
  return (slope_sum * guide * slope_step + offset_sum * offset_step) * inverse_count;
}

SATIN_HD double linear_result(double sum0, double sum1, double sum2, double offset_sum, double guide0,
                              double guide1, double guide2, double slope_step, double offset_step,
                              double inverse_count) {
  const double slopes = (sum0 * guide0 + sum1 * guide1) + sum2 * guide2;
  return (slopes * slope_step + offset_sum * offset_step) * inverse_count;
}

}  // namespace satin
