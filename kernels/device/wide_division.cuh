#pragma once
// Divisions of sums beyond 32 bits by estimates in double: of whole numbers to nearest, ties up, exactly, and
// as IEEE arithmetic rounds.

#include <cstdint>

#include "core/maths/fixed_point.h"

namespace satin::kernels {

/// A whole number below 2^51 in magnitude plus this has it in the low bits, as two's complement.
inline constexpr double whole_numbers = 0x1.8p52;
inline constexpr std::uint64_t whole_number_bits = 0x4338000000000000U;

/// floor(value), for magnitudes below 2^51.
__device__ inline std::int64_t floor_of(double value) {
  return __double_as_longlong(__dadd_rd(value, whole_numbers)) - static_cast<std::int64_t>(whole_number_bits);
}

/// A divisor below 2^47.
struct WideDivisor {
  std::uint64_t divisor = 0;
  double inverse = 0;

  __device__ explicit WideDivisor(std::uint64_t of) : divisor(of), inverse(1.0 / static_cast<double>(of)) {}

  /// round(total / divisor), ties up, modulo 2^64; `estimate` is the total with at most seven roundings of
  /// 2^-53 of what was added up, which is below 2^41 times the divisor: that many quotients err by less than
  /// 2^-8. The estimate with 1/2 - 2^-6 has the floor of the exact quotient with 1/2, or one less.
  [[nodiscard]] __device__ std::uint64_t rounded(std::uint64_t total, double estimate) const {
    const auto quotient = static_cast<std::uint64_t>(floor_of(__fma_rn(estimate, inverse, 0.5 - 0x1p-6)));
    const std::uint64_t rest = total + divisor / 2 - quotient * divisor;
    return quotient + (rest >= divisor ? 1U : 0U);
  }
};

/// total / divisor * 2^-exponent as IEEE arithmetic rounds it, once, for whole totals and divisors below
/// 2^47.
///
/// The product with the rounded reciprocal is off by two units in the last place at most, so that the rest,
/// a multiple of that unit below 2^49 of them, is exact. What it is divided to errs by 2^-52 units, and no
/// quotient lies as near as 2^-48 to the middle of two numbers. Powers of two change none of it.
class FloatDivision {
 public:
  __device__ FloatDivision(const WideDivisor& by, int exponent)
      : inverse_(by.inverse * power_of_two(-exponent)),
        divisor_(static_cast<double>(by.divisor) * power_of_two(exponent)) {}

  [[nodiscard]] __device__ double operator()(double total) const {
    const double near = total * inverse_;
    return __fma_rn(__fma_rn(-near, divisor_, total), inverse_, near);
  }

 private:
  double inverse_;
  double divisor_;
};

}  // namespace satin::kernels
