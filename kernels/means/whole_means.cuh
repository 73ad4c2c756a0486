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

/// `LowBits`: sums of windows are known modulo 2^32; of pictures with alpha those of colours.
template <class T, class Out, int Channels, bool Weighted, bool LowBits>
class WholeMeans : public StoringLane<T, Out, Channels, std::uint32_t, Weighted> {
  using Base = StoringLane<T, Out, Channels, std::uint32_t, Weighted>;
  using Base::arguments_, Base::any_, Base::valid_, Base::whole_, Base::x_, Base::raised,
      Base::raised_divisor;
  static constexpr int colours = Weighted ? Channels - 1 : Channels;

 public:
  using Base::elements, Base::pixels;

  /// Sums over the windows of one row, with `more` added to each.
  struct Sums {
    std::uint32_t inner[elements];
    std::uint32_t more = 0;

    __device__ void set(int e, std::uint32_t sum) { inner[e] = sum + more; }
  };

  template <class... Others>
  __device__ explicit WholeMeans(const RunningMeanArguments& arguments, const Others&... others)
      : Base(arguments, others...) {
    const RunningMeanJob& job = arguments.job;
    first_whole_ = job.clipped ? job.y.reach : 0;
    whole_rows_ = whole_ && job.whole.divisor != 0 ? max(job.height - 2 * first_whole_, 0) : 0;
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      columns_[p] = window_pixels(x_ + p, job.x.reach, job.width, job.clipped && p < valid_);
  }

  /// For row y.
  __device__ void sum(int y, int prefixes, Sums& sums) const {
    if constexpr (rounds_sums) sums.more = is_whole(y) ? arguments_.job.whole.divisor / 2 : 0;
    Base::template sum<false>(prefixes, sums);
  }

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
    std::uint32_t means[elements];
    if constexpr (Weighted) {
      divide_colours(sums, means);
      divide_alphas(sums, y, means);
    } else if (is_whole(y)) {
      divide_whole(sums, means);
    } else {
      divide_clipped(sums, y, means);
    }
    this->store(means, y);
  }

 private:
  /// Sums that divide_plain() divides come with half a divisor.
  static constexpr bool rounds_sums = !Weighted && !LowBits && !Base::mixed;

  using Division = LongDivision<sizeof(T) == 2>;
  using ShortDivision = LongDivision<false>;

  /// The element of channel c in the lane's middle pixel.
  [[nodiscard]] __device__ static constexpr int middle_of(int c) { return pixels / 2 * Channels + c; }

  /// The sum of an element less that of the middle pixel.
  [[nodiscard]] __device__ std::int32_t more_than_middle(const Sums& sums, int e) const {
    return static_cast<std::int32_t>(sums.inner[e] - static_cast<std::uint32_t>(middle_[e % Channels]));
  }
  [[nodiscard]] __device__ std::uint64_t total(const Sums& sums, int e) const {
    return middle_[e % Channels] + static_cast<std::uint64_t>(std::int64_t{more_than_middle(sums, e)});
  }

  /// No window of the warp in row y is clipped, and their divisor is job.whole.
  [[nodiscard]] __device__ bool is_whole(int y) const {
    return static_cast<unsigned>(y - first_whole_) < whole_rows_;
  }

  /// The quotient of any 32 bits by job.whole, which is one less where the remainder is negative.
  [[nodiscard]] __device__ std::uint32_t scaled_quotient(std::uint32_t dividend) const {
    const ScaledDivisor& whole = arguments_.job.whole;
    const std::uint32_t quotient = __umulhi(dividend, whole.factor) >> whole.shift;
    const auto remainder = static_cast<std::int32_t>(quotient * (0 - whole.divisor) + dividend);
    return quotient + static_cast<std::uint32_t>(remainder >> 31);
  }

  __device__ void divide_plain(const Sums& sums, std::uint32_t (&means)[elements]) const {
    const ScaledDivisor& whole = arguments_.job.whole;
    const std::uint32_t factor = 1U << max(arguments_.job.more_bits, 0);
    const auto dividend = [&](int e) {
      return rounds_sums ? sums.inner[e] : sums.inner[e] * factor + whole.divisor / 2;
    };
#pragma unroll
    for (int e = 0; e < elements; ++e) means[e] = __umulhi(dividend(e), whole.factor) >> whole.shift;
    if (whole.exact) return;
#pragma unroll
    for (int e = 0; e < elements; ++e)
      means[e] += static_cast<std::uint32_t>(
          static_cast<std::int32_t>(means[e] * (0 - whole.divisor) + dividend(e)) >> 31);
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

  /// The divisors of row y.
  __device__ void find_divisors(int y, std::uint32_t (&divisors)[pixels]) const {
    const RunningMeanJob& job = arguments_.job;
    const int rows = window_pixels(y, job.y.reach, job.height, job.clipped);
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      divisors[p] =
          static_cast<std::uint32_t>(raised_divisor(static_cast<std::uint64_t>(columns_[p]) * rows));
  }

  __device__ void divide_clipped(const Sums& sums, int y, std::uint32_t (&means)[elements]) const {
    using Of = std::conditional_t<LowBits, Division, ShortDivision>;
    const auto divide = [&](const Of& division, int e) {
      if constexpr (LowBits) {
        means[e] = division(total(sums, e));
      } else {
        means[e] = division(raised(sums.inner[e]));
      }
    };
    std::uint32_t divisors[pixels];
    find_divisors(y, divisors);
    if (whole_) {
      const Of division(divisors[0]);
#pragma unroll
      for (int e = 0; e < elements; ++e) divide(division, e);
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const Of division(divisors[p]);
#pragma unroll
      for (int c = 0; c < Channels; ++c) divide(division, p * Channels + c);
    }
  }

  /// By their window's sum of alphas.
  __device__ void divide_colours(const Sums& sums, std::uint32_t (&means)[elements]) const {
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const ShortDivision by_alpha(max(sums.inner[p * Channels + colours], 1U));
#pragma unroll
      for (int c = 0; c < colours; ++c) means[p * Channels + c] = by_alpha(total(sums, p * Channels + c));
    }
  }

  __device__ void divide_alphas(const Sums& sums, int y, std::uint32_t (&means)[elements]) const {
    if (is_whole(y)) {
      const std::uint32_t half = arguments_.job.whole.divisor / 2;
#pragma unroll
      for (int e = colours; e < elements; e += Channels) means[e] = scaled_quotient(sums.inner[e] + half);
      return;
    }
    std::uint32_t divisors[pixels];
    find_divisors(y, divisors);
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const int e = p * Channels + colours;
      means[e] = ShortDivision(divisors[p])(sums.inner[e]);
    }
  }

  std::uint64_t middle_[Channels];  ///< sums of the middle pixel
  int first_whole_;                 ///< row whose windows are not clipped at the top
  unsigned whole_rows_;             ///< from there on, with windows of job.whole; 0 if the warp has others
  int columns_[pixels];             ///< of the windows
};

}  // namespace satin::kernels
