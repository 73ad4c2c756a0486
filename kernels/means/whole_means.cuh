#pragma once
// Means of 8 or 16 bits of one row over whole windows, from 32-bit prefixes of its column sums, whose sums
// over windows may need more bits.
//
// A sum of which only the low 32 bits are known follows from another one that differs by less than 2^31. A
// lane keeps that of its middle pixel from row to row: from there it is at most half a lane to its other
// pixels, and two rows of values to the next row.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/means/running_means.cuh"

namespace satin::kernels {

/// The sum of alphas, below 2^28, that sums of colours below 2^56 are divided by: LongDivision<false> in
/// fewer instructions for one divisor of a few sums.
class AlphaDivision {
 public:
  __device__ explicit AlphaDivision(std::uint32_t divisor)
      : inverse_(rough_reciprocal(static_cast<float>(divisor))),
        negative_(0 - divisor),
        offset_(divisor / 2 - divisor + ByteDivision::whole_bits * divisor) {}

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint64_t sum) const {
    constexpr float two_32 = 4294967296.0F;
    const auto low = static_cast<std::uint32_t>(sum);
    const float value =
        __fmaf_rn(__uint2float_rn(static_cast<std::uint32_t>(sum >> 32)), two_32, __uint2float_rn(low));
    const float estimate = __fmaf_rn(value, inverse_, 0.4375F);
    const std::uint32_t bits = __float_as_uint(__fadd_rz(estimate, ByteDivision::whole));
    // The remainder without the divisor: negative where the estimate has the quotient's floor.
    const auto excess = static_cast<std::int32_t>(bits * negative_ + (low + offset_));
    return bits - (ByteDivision::whole_bits - 1) + static_cast<std::uint32_t>(excess >> 31);
  }

 private:
  float inverse_;
  std::uint32_t negative_;
  std::uint32_t offset_;
};

/// `LowBits`: sums of windows are known modulo 2^32; of pictures with alpha those of colours.
template <class T, class Out, int Channels, bool Weighted, bool LowBits>
class WholeMeans : public StoringLane<T, Out, Channels, std::uint32_t, Weighted> {
  using Base = StoringLane<T, Out, Channels, std::uint32_t, Weighted>;
  using Base::arguments_, Base::any_, Base::whole_, Base::raised, Base::raised_divisor;
  static constexpr int colours = Weighted ? Channels - 1 : Channels;

 public:
  using Base::Base, Base::elements, Base::pixels;
  using Sums = WindowSums<std::uint32_t>;

  __device__ void sum(int prefixes, Sums& sums) const { Base::template sum<false>(prefixes, sums); }

  /// The sums of the row before the first one, without job.low_bits.
  __device__ void begin(const Sums& sums) {
#pragma unroll
    for (int c = 0; c < colours; ++c)
      middle_[c] = static_cast<std::uint64_t>(sums.inner[middle_of(c)]) << arguments_.job.low_bits;
  }

  __device__ void write(int y, const Sums& sums) {
    if (!any_) return;
    if constexpr (LowBits) {
#pragma unroll
      for (int c = 0; c < colours; ++c) middle_[c] = total(sums, middle_of(c));
    }
    const std::uint32_t size_y = this->size_y_of(y);
    std::uint32_t means[elements];
    if constexpr (Weighted) {
      divide_by_alpha(sums, size_y, means);
    } else if (is_whole(size_y)) {
      divide_whole(sums, means);
    } else {
      divide_clipped(sums, size_y, means);
    }
    this->store(means, y);
  }

 private:
  using Division = LongDivision<sizeof(T) == 2>;

  /// The element of channel c in the lane's middle pixel.
  [[nodiscard]] __device__ static constexpr int middle_of(int c) { return pixels / 2 * Channels + c; }

  /// The sum of an element less that of the middle pixel.
  [[nodiscard]] __device__ std::int32_t more_than_middle(const Sums& sums, int e) const {
    return static_cast<std::int32_t>(sums.inner[e] - static_cast<std::uint32_t>(middle_[e % Channels]));
  }
  [[nodiscard]] __device__ std::uint64_t total(const Sums& sums, int e) const {
    return middle_[e % Channels] + static_cast<std::uint64_t>(std::int64_t{more_than_middle(sums, e)});
  }

  /// No window of the warp is clipped, and their divisor is job.whole.
  [[nodiscard]] __device__ bool is_whole(std::uint32_t size_y) const {
    return whole_ && raised_divisor(this->whole_divisor(size_y)) == arguments_.job.whole.divisor;
  }

  /// The quotient of any 32 bits by job.whole.
  [[nodiscard]] __device__ std::uint32_t scaled_quotient(std::uint32_t dividend) const {
    const ScaledDivisor& whole = arguments_.job.whole;
    const std::uint32_t quotient = __umulhi(dividend, whole.factor) >> whole.shift;
    return whole.exact ? quotient : quotient - ((dividend - quotient * whole.divisor) >> 31);
  }

  /// The half is multiplied once.
  __device__ void divide_plain(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const ScaledDivisor& whole = arguments_.job.whole;
    const std::uint32_t half = whole.divisor / 2;
    const std::uint64_t scaled_half = static_cast<std::uint64_t>(half) * whole.factor;
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const std::uint64_t product = static_cast<std::uint64_t>(raised(sums.inner[e])) * whole.factor;
      means[e] = static_cast<std::uint32_t>((product + scaled_half) >> 32) >> whole.shift;
    }
    if (whole.exact) return;
#pragma unroll
    for (int e = 0; e < elements; ++e)
      means[e] -= (raised(sums.inner[e]) + half - means[e] * whole.divisor) >> 31;
  }

  __device__ void divide_whole(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const std::uint32_t divisor = arguments_.job.whole.divisor;
    if constexpr (!LowBits) {
      divide_plain(sums, means);
    } else {
      // Counted from as many divisors below the middle pixel's quotient as make 2^31.
      const std::uint32_t below = arguments_.job.quotients_of_half;
      const Division division(divisor);
      std::uint32_t first[Channels];
      std::uint32_t offset[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        first[c] = division(middle_[c]) - below;
        offset[c] = divisor / 2 - first[c] * divisor;
      }
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const int c = e % Channels;
        means[e] = first[c] + scaled_quotient(sums.inner[e] + offset[c]);
      }
    }
  }

  __device__ void divide_clipped(const Sums& sums, std::uint32_t size_y,
                                 std::uint32_t (&means)[elements]) const {
    if constexpr (LowBits) {
      const auto make = [](std::uint64_t divisor) { return Division(static_cast<std::uint32_t>(divisor)); };
      this->for_each_element(size_y, make, [&](const Division& by, int e) { means[e] = by(total(sums, e)); });
    } else {
      using ShortDivision = MixedDivision<std::uint32_t>;
      const auto make = [this](std::uint64_t divisor) {
        return ShortDivision(raised_divisor(divisor), 1, 0);
      };
      this->for_each_element(size_y, make,
                             [&](const ShortDivision& by, int e) { means[e] = by(raised(sums.inner[e])); });
    }
  }

  /// Colours by their window's sum of alphas, and alpha by its size.
  __device__ void divide_by_alpha(const Sums& sums, std::uint32_t size_y,
                                  std::uint32_t (&means)[elements]) const {
    const bool clipped = !is_whole(size_y);
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const std::uint32_t alphas = sums.inner[p * Channels + colours];
      const AlphaDivision by_alpha(max(alphas, 1U));
#pragma unroll
      for (int c = 0; c < colours; ++c) means[p * Channels + c] = by_alpha(total(sums, p * Channels + c));
      means[p * Channels + colours] =
          clipped ? MixedDivision<std::uint32_t>(this->divisor_of(p, size_y), 1, 0)(alphas)
                  : scaled_quotient(alphas + arguments_.job.whole.divisor / 2);
    }
  }

  std::uint64_t middle_[Channels];  ///< sums of the middle pixel
};

}  // namespace satin::kernels
