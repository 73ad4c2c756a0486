#pragma once
// Means of 8 or 16 bits of one row from the prefixes of its column sums: a lane writes the pixels of its own
// columns.

#include <cstdint>
#include <type_traits>

#include "kernels/device/exact_division.cuh"
#include "kernels/means/encode16.cuh"
#include "kernels/means/running_store.cuh"
#include "kernels/means/running_windows.cuh"

namespace satin::kernels {

/// A lane that stores means. T: of the values, Out: of the means.
template <class T, class Out, int Channels, class Sum, bool Weighted>
class StoringLane : public LaneOfWindows<Channels, Sum> {
  using Base = LaneOfWindows<Channels, Sum>;

 public:
  using Base::Base, Base::elements, Base::pixels;

 protected:
  using Base::arguments_, Base::valid_, Base::x_;
  static constexpr bool mixed = !std::is_same_v<T, Out>;

  /// Encodes and stores the means of row y.
  __device__ void store(std::uint32_t (&means)[elements], int y) const {
    Lane lane;
    encode(means, lane);
    if constexpr (Weighted) keep_transparent(lane, y);
    lane.store(this->template target_of<Out>(y), valid_, pixels);
  }

  /// A sum with the bits below the point that means have more than values.
  [[nodiscard]] __device__ std::uint32_t raised(std::uint32_t sum) const {
    return mixed ? sum << max(arguments_.job.more_bits, 0) : sum;
  }
  /// A divisor times what means have fewer.
  [[nodiscard]] __device__ std::uint64_t raised_divisor(std::uint64_t divisor) const {
    return mixed ? divisor << max(-arguments_.job.more_bits, 0) : divisor;
  }

 private:
  using Lane = StoredLane<Out, Channels>;

  /// Codes of linear light, where that is asked for; alpha that colours are weighted by is none.
  __device__ void encode(std::uint32_t (&values)[elements], Lane& lane) const {
    if constexpr (sizeof(Out) == 1) {
      if (arguments_.cells8 != nullptr) {
        encode_table_.template raise_codes<Channels, Weighted ? 1 : 0>(values);
        if constexpr (Weighted)
#pragma unroll
          for (int e = Channels - 1; e < elements; e += Channels) values[e] <<= 16;
        return lane.template pack<16>(values);
      }
    } else if constexpr (!mixed) {
      if (arguments_.transfer.thresholds != nullptr) encode16(values, arguments_.transfer);
    }
    lane.pack(values);
  }

  /// Pixels without alpha keep the bytes of their source.
  __device__ void keep_transparent(Lane& lane, int y) const {
    bool transparent = false;
#pragma unroll
    for (int p = 0; p < pixels; ++p) transparent |= lane.alpha(p) == 0;
    if (!transparent) return;
    const std::byte* source = arguments_.source.data + y * arguments_.source.row + x_ * Lane::pixel_bytes;
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      if (p < valid_ && lane.alpha(p) == 0) lane.copy_colours(p, source);
  }

  EncodeTable<T> encode_table_;
};

/// Means over windows of any kind from sums that fit their type.
template <class T, class Out, int Channels, class Sum, bool Weighted>
class RunningMeans : public StoringLane<T, Out, Channels, Sum, Weighted> {
  using Base = StoringLane<T, Out, Channels, Sum, Weighted>;
  using Base::arguments_, Base::any_, Base::elements, Base::pixels, Base::mixed, Base::raised,
      Base::raised_divisor;

 public:
  using Base::Base;
  using Sums = WindowSums<Sum>;

  __device__ void write(int y, const Sums& sums) const {
    if (!any_) return;
    const std::uint32_t size_y = this->size_y_of(y);
    std::uint32_t values[elements];
    if constexpr (Weighted) {
      divide_by_alpha(sums, size_y, values);
    } else {
      divide(sums, size_y, values);
    }
    this->store(values, y);
  }

 private:
  /// values[e] = quotient(division, e).
  template <class Division, class Quotient>
  __device__ void divide_by(std::uint32_t size_y, std::uint32_t (&values)[elements],
                            const Quotient& quotient) const {
    const auto make = [this](std::uint64_t divisor) {
      if constexpr (std::is_same_v<Division, MixedDivision<Sum>>) {
        return Division(sizeof(Sum) == 4 ? raised_divisor(divisor) : divisor, arguments_.job.x.inner,
                        arguments_.job.x.outer);
      } else {
        return Division(static_cast<std::uint32_t>(divisor));
      }
    };
    this->for_each_element(size_y, make,
                           [&](const Division& division, int e) { values[e] = quotient(division, e); });
  }

  __device__ void divide(const WindowSums<std::uint32_t>& sums, std::uint32_t size_y,
                         std::uint32_t (&values)[elements]) const {
    const RunningMeanJob& job = arguments_.job;
    using Division = MixedDivision<std::uint32_t>;
    if (job.x.outer != 0) {
      divide_by<Division>(size_y, values, [&](const Division& division, int e) {
        return division(raised(sums.inner[e]), raised(sums.outer[e]));
      });
    } else {
      divide_by<Division>(size_y, values,
                          [&](const Division& division, int e) { return division(raised(sums.inner[e])); });
    }
  }

  __device__ void divide(const WindowSums<std::uint64_t>& sums, std::uint32_t size_y,
                         std::uint32_t (&values)[elements]) const {
    const RunningMeanJob& job = arguments_.job;
    const auto quotient = [&](const auto& division, int e) { return division(sums.total[e]); };
    if constexpr (mixed) {
      divide_by<LongDivision<false>>(size_y, values, [&](const auto& division, int e) {
        return job.more_bits < 0 ? division.scaled_down(sums.total[e], -job.more_bits)
                                 : division(sums.total[e] << job.more_bits);
      });
    } else if (job.large_divisors) {
      divide_by<MixedDivision<std::uint64_t>>(size_y, values, quotient);
    } else if (sizeof(T) == 2 && job.decoded) {
      divide_by<LongDivision<true>>(size_y, values, quotient);
    } else {
      divide_by<LongDivision<false>>(size_y, values, quotient);
    }
  }

  /// Colours by their window's sum of alphas, and alpha by its size.
  __device__ void divide_by_alpha(const WindowSums<std::uint64_t>& sums, std::uint32_t size_y,
                                  std::uint32_t (&values)[elements]) const {
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      constexpr int alpha = Channels - 1;
      const std::uint64_t alphas = sums.total[p * Channels + alpha];
      const LongDivision<false> of_colour(max(static_cast<std::uint32_t>(alphas), 1U));
#pragma unroll
      for (int c = 0; c < alpha; ++c) values[p * Channels + c] = of_colour(sums.total[p * Channels + c]);
      const LongDivision<false> of_alpha(static_cast<std::uint32_t>(this->divisor_of(p, size_y)));
      values[p * Channels + alpha] = of_alpha(alphas);
    }
  }
};

}  // namespace satin::kernels
