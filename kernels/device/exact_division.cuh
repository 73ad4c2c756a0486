#pragma once
// Exact division on a GPU, which has no fast integer division: round(sum / divisor), ties up.
//
// Every quotient is estimated by a product with the reciprocal, in float where the quotient is below 2^16 or
// 2^24, otherwise in double. The bounds below show that the floor of the estimate is that of the quotient or
// differs in one known direction; the exact remainder, modulo 2^32 or 2^64, then corrects it.

#include <cstdint>

#include "core/maths/fixed_point.h"

namespace satin::kernels {

// --- Estimates in double ---

/// The sum of this and an integer below 2^51 in magnitude has the integer in its low bits, as two's
/// complement.
inline constexpr double whole_numbers = 0x1.8p52;
inline constexpr std::uint64_t whole_number_bits = 0x4338000000000000U;

/// floor(value), for magnitudes below 2^51.
__device__ inline std::int64_t floor_of(double value) {
  return __double_as_longlong(__dadd_rd(value, whole_numbers)) - static_cast<std::int64_t>(whole_number_bits);
}

/// Returns an integer below 2^52 as a double, without a conversion, which is slow.
__device__ inline double exact_double(std::uint64_t value) {
  constexpr double base = 0x1p52;
  return __longlong_as_double(static_cast<long long>(value | 0x4330000000000000U)) - base;
}

/// Returns the double nearest to an integer of 64 bits, by two additions: a conversion is slow.
template <class Integer>
__device__ double nearest_double(Integer value) {
  constexpr bool is_signed = static_cast<Integer>(-1) < 0;
  const auto high_word = static_cast<std::uint32_t>(value >> 32) ^ (is_signed ? 0x80000000U : 0U);
  const double high = __hiloint2double(0x45300000, static_cast<int>(high_word)) -
                      (0x1p84 + 0x1p52 + (is_signed ? 0x1p63 : 0.0));
  return high + __hiloint2double(0x43300000, static_cast<int>(value));
}

/// A divisor below 2^47.
struct WideDivisor {
  std::uint64_t divisor = 0;
  double inverse = 0;

  __device__ explicit WideDivisor(std::uint64_t of) : divisor(of), inverse(1.0 / static_cast<double>(of)) {}

  /// Returns round(total / divisor), ties up, modulo 2^64. `estimate` is the total with at most seven
  /// roundings of 2^-53 of its terms, which are below 2^41 times the divisor, or with one of a total below
  /// 2^49 times the divisor. With those of the inverse and the product the quotient errs by less than 2^-2.
  /// The floor of the estimate plus 1/4 is therefore that of the exact quotient plus 1/2, or one less.
  [[nodiscard]] __device__ std::uint64_t rounded(std::uint64_t total, double estimate) const {
    const auto quotient = static_cast<std::uint64_t>(floor_of(__fma_rn(estimate, inverse, 0.25)));
    const std::uint64_t rest = total + divisor / 2 - quotient * divisor;
    return quotient + (rest >= divisor ? 1U : 0U);
  }
};

/// Divides integers below 2^53, held as doubles, by a divisor below 2^47 that is even unless totals are below
/// 2^52. Quotients are below 2^32. The estimate has two roundings of 2^-53, so its floor is that of the
/// quotient plus 1/2, or one less; products and remainders are exact.
class DoubleDivision {
 public:
  DoubleDivision() = default;
  __device__ explicit DoubleDivision(std::uint64_t divisor)
      : half_(static_cast<double>(divisor) / 2), inverse_(1.0 / static_cast<double>(divisor)) {}

  [[nodiscard]] __device__ double half() const { return half_; }

  /// Returns round(total / divisor), ties up, from the total minus half the divisor.
  [[nodiscard]] __device__ std::uint32_t operator()(double less_half) const {
    const double near = __dadd_rd(__fma_rn(less_half, inverse_, 1 - 0x1p-6), whole_numbers);
    const double rest = __fma_rn(__fma_rn(near, -2, 2 * whole_numbers), half_, less_half);
    return static_cast<std::uint32_t>(__double2loint(near) + 1 + (__double2hiint(rest) >> 31));
  }

 private:
  double half_ = 0.5;
  double inverse_ = 1;
};

/// Returns total / divisor * 2^-exponent with the one rounding of IEEE arithmetic, for integer totals and
/// divisors below 2^47.
///
/// The product with the rounded reciprocal errs by at most two units in the last place. The remainder is a
/// multiple of that unit below 2^49 units, so it is exact. The correction by it errs by 2^-52 units, and no
/// quotient is as near as 2^-48 units to the middle of two doubles. Powers of two do not change the argument.
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

// --- Estimates in float ---

/// Returns round(sum / divisor), which is below 2^24. The float estimate errs by a few at most. `inverse` is
/// an approximation of 1 / divisor.
__device__ inline std::uint32_t divide_near(std::uint64_t sum, std::uint64_t divisor, float inverse) {
  auto quotient = static_cast<std::uint32_t>(static_cast<float>(sum) * inverse);
  auto remainder = static_cast<std::int64_t>(sum + divisor / 2 - quotient * divisor);
  const auto signed_divisor = static_cast<std::int64_t>(divisor);
  while (remainder < 0) {
    --quotient;
    remainder += signed_divisor;
  }
  while (remainder >= signed_divisor) {
    ++quotient;
    remainder -= signed_divisor;
  }
  return quotient;
}

/// Returns 1 / value with a relative error of at most 2^-23, in one instruction.
__device__ inline float rough_reciprocal(float value) {
  float result = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// Floats of 2^23 and more have an integer in the low bits of their mantissa.
struct FloatInteger {
  static constexpr float whole = 8388608.0F;  ///< 2^23: the lowest bit of the mantissa counts ones
  static constexpr std::uint32_t whole_bits = 0x4B000000U;
};

/// Corrects float estimates of quotients below 2^16 by a divisor below 2^31. The floor of an estimate must be
/// that of the quotient or one less.
class EstimatedQuotient {
 public:
  __device__ explicit EstimatedQuotient(std::uint32_t divisor)
      : negative_(0 - divisor), offset_(divisor / 2 - divisor + FloatInteger::whole_bits * divisor) {}

  /// Returns round(total / divisor), ties up. `low` is the low 32 bits of the total.
  [[nodiscard]] __device__ std::uint32_t operator()(float estimate, std::uint32_t low) const {
    const std::uint32_t bits = __float_as_uint(__fadd_rz(estimate, FloatInteger::whole));
    // Remainder minus divisor: negative if the estimate has the quotient's floor.
    const auto excess = static_cast<std::int32_t>(bits * negative_ + (low + offset_));
    return bits - (FloatInteger::whole_bits - 1) + static_cast<std::uint32_t>(excess >> 31);
  }

 private:
  std::uint32_t negative_;
  std::uint32_t offset_;
};

/// Divides inner * i + outer * o, the weighted sum of an inner and an outer window, by one divisor. Bounds:
/// quotients below 2^16 and divisors below 2^31 for 32-bit sums, below 2^24 and 2^47 for 64-bit sums.
template <class Sum>
class MixedDivision;

/// The estimate of the quotient plus 7/16 has eight roundings of 2^-24, that of the reciprocal counted twice:
/// it errs by less than 2^16 * 8 * 2^-24 < 1/16. It lies in (q - 1/8, q) for the exact q = total / divisor +
/// 1/2, so its floor is that of q or one less. The remainder is at most twice the divisor and fits 32 bits;
/// all other arithmetic is modulo 2^32.
template <>
class MixedDivision<std::uint32_t> {
 public:
  __device__ MixedDivision(std::uint64_t divisor, std::uint32_t inner, std::uint32_t outer)
      : quotient_(static_cast<std::uint32_t>(divisor)), inner_(inner), outer_(outer) {
    const float inverse = rough_reciprocal(__uint2float_rn(static_cast<std::uint32_t>(divisor)));
    estimate_inner_ = __fmul_rn(static_cast<float>(inner), inverse);
    estimate_outer_ = __fmul_rn(static_cast<float>(outer), inverse);
  }

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t inner, std::uint32_t outer) const {
    float estimate = __fmaf_rn(__uint2float_rn(inner), estimate_inner_, 0.4375F);
    estimate = __fmaf_rn(__uint2float_rn(outer), estimate_outer_, estimate);
    return quotient_(estimate, inner * inner_ + outer * outer_);
  }

  /// Returns the quotient for an inner weight of 1 and no outer sum.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t sum) const {
    return quotient_(__fmaf_rn(__uint2float_rn(sum), estimate_inner_, 0.4375F), sum);
  }

 private:
  EstimatedQuotient quotient_;
  std::uint32_t inner_;
  std::uint32_t outer_;
  float estimate_inner_;
  float estimate_outer_;
};

template <>
class MixedDivision<std::uint64_t> {
 public:
  __device__ MixedDivision(std::uint64_t divisor, std::uint32_t inner, std::uint32_t outer)
      : divisor_(divisor),
        inverse_(rough_reciprocal(static_cast<float>(divisor))),
        inner_(inner),
        outer_(outer) {}

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t inner, std::uint64_t outer) const {
    return divide_near(inner * inner_ + outer * outer_, divisor_, inverse_);
  }
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t sum) const {
    return divide_near(sum, divisor_, inverse_);
  }

 private:
  std::uint64_t divisor_;
  float inverse_;
  std::uint32_t inner_;
  std::uint32_t outer_;
};

/// Divides 64-bit sums below 2^56 by a divisor below 2^28, or 32-bit sums by a divisor below 2^31. Quotients
/// are below 2^16, or below 2^24 if `Wide`.
///
/// The estimate has six roundings of 2^-24, that of the reciprocal counted twice. For quotients below 2^16 it
/// errs by less than 1/16, so the estimate plus 7/16 has the floor of the exact quotient plus 1/2, or one
/// less. For quotients below 2^24 it errs by less than 6; the remainder, below 2^31, is divided once more.
/// Remainders need only the low 32 bits.
template <bool Wide>
class LongDivision {
 public:
  __device__ explicit LongDivision(std::uint32_t divisor)
      : divisor_(divisor), inverse_(rough_reciprocal(static_cast<float>(divisor))), quotient_(divisor) {}

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t sum) const {
    static_assert(!Wide);
    return quotient_(__fmaf_rn(__uint2float_rn(sum), inverse_, 0.4375F), sum);
  }
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t sum) const {
    constexpr float two_32 = 4294967296.0F;
    const auto low = static_cast<std::uint32_t>(sum);
    const float value =
        __fmaf_rn(__uint2float_rn(static_cast<std::uint32_t>(sum >> 32)), two_32, __uint2float_rn(low));
    if constexpr (Wide) {
      const std::uint32_t near = __float2uint_rz(__fmul_rn(value, inverse_));
      auto remainder = static_cast<int>(low + divisor_ / 2 - near * divisor_);
      const int missing = __float2int_rd(__fmul_rn(__int2float_rn(remainder), inverse_));
      remainder -= missing * static_cast<int>(divisor_);
      const int last = remainder < 0 ? -1 : remainder >= static_cast<int>(divisor_) ? 1 : 0;
      return near + static_cast<std::uint32_t>(missing + last);
    } else {
      return quotient_(__fmaf_rn(value, inverse_, 0.4375F), low);
    }
  }

  /// Returns round(sum / (2^bits divisor)), ties up, as the floor of a floor.
  [[nodiscard]] __device__ std::uint32_t scaled_down(std::uint64_t sum, int bits) const {
    const std::uint64_t half = static_cast<std::uint64_t>(divisor_) << (bits - 1);
    return (*this)(((sum + half) >> bits) - divisor_ / 2);
  }

 private:
  std::uint32_t divisor_;
  float inverse_;
  EstimatedQuotient quotient_;
};

/// Divides 64-bit sums by a divisor below 2^40, such as the covered area of a box in 2^-16 pixel. Quotients
/// are below 2^16. The estimate is too small by less than 2^16 * 2^-19: its floor is that of the quotient or
/// one less.
class AreaDivision {
 public:
  __device__ explicit AreaDivision(std::uint64_t area) : area_(area) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 20);
    inverse_ = __fmul_rn(rough_reciprocal(near(area)), too_small);
  }

  /// Returns round(sum / area), ties up.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t sum) const {
    const std::uint64_t total = sum + area_ / 2;
    const std::uint32_t quotient = __float2uint_rz(__fmul_rz(near(total), inverse_));
    return quotient + (total - quotient * area_ >= area_ ? 1U : 0U);
  }

 private:
  [[nodiscard]] __device__ static float near(std::uint64_t value) {
    constexpr float two_32 = 4294967296.0F;
    return __fmaf_rn(__uint2float_rn(static_cast<std::uint32_t>(value >> 32)), two_32,
                     __uint2float_rn(static_cast<std::uint32_t>(value)));
  }

  std::uint64_t area_;
  float inverse_;
};

/// Returns floor(n / divisor) by a multiplication, or one more unless the divisor is exact: ScaledDivisor of
/// kernels/means/launch.h.
template <class Scaled>
__device__ std::uint32_t scaled_quotient(std::uint32_t n, const Scaled& divisor) {
  return __umulhi(n, divisor.factor) >> divisor.shift;
}

}  // namespace satin::kernels
