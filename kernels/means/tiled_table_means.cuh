#pragma once
// Means of a box from the sums of its channels: packed sums give a byte a channel, linear light 16 bits.

#include <cstdint>

#include "core/maths/window.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/means/launch.h"

namespace satin::kernels {

/// Sums of all channels of 8-bit pixels in one word: the sum of packed pixels is the packed sum, and so is a
/// difference of such sums, modulo 2^64, as long as every channel's own true sum fits its bits.
template <int Channels>
struct PackedSums;

template <>
struct PackedSums<1> {
  using Sum = std::uint32_t;
  static constexpr int bits = 32;
  __device__ static Sum pack(const std::uint32_t* values) { return values[0]; }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) { sums[0] = sum; }
};

template <>
struct PackedSums<2> {
  using Sum = std::uint64_t;
  static constexpr int bits = 32;
  __device__ static Sum pack(const std::uint32_t* values) {
    return static_cast<Sum>(values[1]) << 32 | values[0];
  }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) {
    sums[0] = static_cast<std::uint32_t>(sum);
    sums[1] = static_cast<std::uint32_t>(sum >> 32);
  }
};

template <>
struct PackedSums<3> {
  using Sum = std::uint64_t;
  static constexpr int bits = TiledTableJob::sum_bits(3);
  __device__ static Sum pack(const std::uint32_t* values) {
    return static_cast<Sum>(values[2] << 10) << 32 | (values[1] << 21 | values[0]);
  }
  __device__ static void unpack(Sum sum, std::uint32_t* sums) {
    constexpr std::uint32_t mask = (1U << bits) - 1;
    const auto low = static_cast<std::uint32_t>(sum);
    const auto high = static_cast<std::uint32_t>(sum >> 32);
    sums[0] = low & mask;
    sums[1] = __funnelshift_r(low, high, 21) & mask;
    sums[2] = high >> 10;
  }
};

/// The low bytes of the means of all channels, the first one lowest.
template <int Channels>
__device__ std::uint32_t low_bytes(const std::uint32_t (&means)[Channels]) {
  if constexpr (Channels == 1) return means[0];
  std::uint32_t bytes = __byte_perm(means[0], means[1 % Channels], 0x0040);
  if constexpr (Channels == 3) bytes = __byte_perm(bytes, means[2 % Channels], 0x0410);
  return bytes;
}

/// a & b | c, in one instruction also where b and c are constants.
__device__ inline std::uint32_t and_or(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

/// The sums of all channels, each below 2^23, with 2^23 added, which makes floats of their bits.
template <int Channels>
__device__ void raise_sums(typename PackedSums<Channels>::Sum packed, float (&raised)[Channels]) {
  constexpr std::uint32_t bits = FloatInteger::whole_bits;
  const auto low = static_cast<std::uint32_t>(packed);
  if constexpr (Channels == 3) {
    constexpr int width = PackedSums<3>::bits;
    constexpr std::uint32_t mask = (1U << width) - 1;
    const auto high = static_cast<std::uint32_t>(packed >> 32);
    raised[0] = __uint_as_float(and_or(low, mask, bits));
    raised[1] = __uint_as_float(and_or(__funnelshift_r(low, high, width), mask, bits));
    raised[2] = __uint_as_float((high >> (2 * width - 32)) + bits);
  } else {
    raised[0] = __uint_as_float(low + bits);
    if constexpr (Channels == 2) raised[1] = __uint_as_float(static_cast<std::uint32_t>(packed >> 32) + bits);
  }
}

/// The divisor of the sums of a whole box, below 2^14. With floor(divisor / 2) + 1/2 added a sum lies at
/// least 1/2 from any multiple of the divisor, and its quotient, below 2^8, at least 2^-15 from any integer:
/// a reciprocal within 2^-23 is near enough.
struct WholeDivision {
  float inverse = 0;
  float offset = 0;  ///< what is added, less 2^23

  WholeDivision() = default;
  __device__ explicit WholeDivision(std::uint32_t divisor)
      : inverse(rough_reciprocal(static_cast<float>(divisor))),
        offset(static_cast<float>(divisor / 2) + (0.5F - FloatInteger::whole)) {}

  /// The mean is in the low byte. `raised` is the sum and 2^23.
  [[nodiscard]] __device__ std::uint32_t operator()(float raised) const {
    return __float_as_uint(__fmaf_rd(__fadd_rn(raised, offset), inverse, FloatInteger::middle));
  }

  template <int Channels>
  [[nodiscard]] __device__ std::uint32_t means(typename PackedSums<Channels>::Sum packed) const {
    float sums[Channels];
    raise_sums<Channels>(packed, sums);
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = (*this)(sums[c]);
    return low_bytes<Channels>(means);
  }
};

/// The weights of a box with fractional radius, and its covered area.
///
/// With inner and outer weights i + o = 256 along both axes, the sums I and O over the inner and the outer
/// whole box, X over the two boxes that are inner along one axis and outer along the other, and C over the
/// outer box's four corners, X = I + O - C. So the covered sum i i I + i o X + o o O is
/// 256 (i I + o O) - i o C.
///
/// Areas are below 2^30, in parts of 2^-16 pixel, and at least 2^16. The estimate of the quotient, below 2^8,
/// errs to the low side alone, by less than 2^8 * 2^-20 and the 2^8 / 2^16 of what is shifted out: its floor
/// is that of the quotient or one less, and the remainder fits 32 bits.
class CoveredDivision {
 public:
  __device__ CoveredDivision(std::uint32_t area, std::uint32_t inner, std::uint32_t outer)
      : area_(area), inner_(inner), outer_(outer) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(area)), 256.0F * too_small);
  }

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t inner_sum, std::uint32_t outer_sum,
                                                    std::uint32_t corners) const {
    const std::uint32_t mixed = inner_ * inner_sum + outer_ * outer_sum;
    const std::uint64_t total = (static_cast<std::uint64_t>(mixed) << 8) + area_ / 2 -
                                static_cast<std::uint64_t>(inner_ * outer_) * corners;
    const float estimate =
        __fmaf_rd(__uint2float_rz(static_cast<std::uint32_t>(total >> 8)), inverse_, FloatInteger::whole);
    const std::uint32_t quotient = __float_as_uint(estimate) - FloatInteger::whole_bits;
    const std::uint32_t remainder = static_cast<std::uint32_t>(total) - quotient * area_;
    return quotient + (remainder >= area_ ? 1U : 0U);
  }

  template <int Channels, class Sum>
  [[nodiscard]] __device__ std::uint32_t means(Sum inner, Sum outer, Sum mixed) const {
    std::uint32_t inner_sums[Channels];
    std::uint32_t outer_sums[Channels];
    std::uint32_t corners[Channels];
    PackedSums<Channels>::unpack(inner, inner_sums);
    PackedSums<Channels>::unpack(outer, outer_sums);
    PackedSums<Channels>::unpack(inner + outer - mixed, corners);
    std::uint32_t means[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) means[c] = (*this)(inner_sums[c], outer_sums[c], corners[c]);
    return low_bytes<Channels>(means);
  }

 private:
  std::uint32_t area_;
  std::uint32_t inner_;
  std::uint32_t outer_;
  float inverse_ = 0;  ///< 2^8 / area, or a little less
};

/// The covered area of a box, below 2^30 and at least 2^16, in parts of 2^-16 pixel, that sums of 16-bit
/// light are divided by.
///
/// The estimate errs to the low side alone: by less than 2^14 / 2^16 for what is shifted out, and by less
/// than 2^16 * 2^-20 for the conversion and the reciprocal. Its floor is that of the quotient or one less,
/// and the remainder fits 32 bits.
class LightDivision {
 public:
  __device__ explicit LightDivision(std::uint32_t area) : area_(area) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(area)), (1U << shift) * too_small);
  }

  /// The mean round(sum / area), ties up.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t sum) const {
    const std::uint64_t total = sum + area_ / 2;
    const float estimate =
        __fmaf_rd(__uint2float_rz(static_cast<std::uint32_t>(total >> shift)), inverse_, FloatInteger::whole);
    const std::uint32_t quotient = __float_as_uint(estimate) - FloatInteger::whole_bits;
    const std::uint32_t remainder = static_cast<std::uint32_t>(total) - quotient * area_;
    return quotient + (remainder >= area_ ? 1U : 0U);
  }

 private:
  static constexpr int shift = 14;
  std::uint32_t area_;
  float inverse_ = 0;  ///< 2^shift / area, or a little less
};

}  // namespace satin::kernels
