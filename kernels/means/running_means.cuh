#pragma once
// Means of one row from the prefixes of its column sums: a lane writes the pixels of its own columns.

#include <cstdint>
#include <type_traits>

#include "kernels/device/exact_division.cuh"
#include "kernels/means/encode16.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/means/running_store.cuh"
#include "kernels/means/running_windows.cuh"

namespace satin::kernels {

/// T: of the values, Out: of the means.
template <class T, class Out, int Channels, class Sum, bool Weighted>
class RunningMeans {
 public:
  static constexpr int elements = running_elements;
  static constexpr int pixels = elements / Channels;

  /// `x`: of the lane's first column.
  __device__ RunningMeans(const RunningMeanArguments& arguments, const RunningPart& part, int margin,
                          int thread, int threads, int x)
      : arguments_(arguments),
        windows_(arguments.job, margin, thread, threads),
        x_(x),
        own_(arguments.job, part, x, pixels) {
    if constexpr (sizeof(Out) == 1) encoded_ = arguments.transfer.encode8 != nullptr;
  }

  /// The row y, whose prefixes lie there.
  __device__ void write(int y, int prefixes) const {
    if (!own_.any) return;
    const RunningMeanJob& job = arguments_.job;
    const std::uint32_t size_y = window_size(job.y, y, job.height, job.clipped);
    WindowSums<Sum> sums;
    windows_.sum(prefixes, sums);
    std::uint32_t values[elements];
    if constexpr (Weighted) {
      divide_by_alpha(sums, size_y, values);
    } else {
      divide(sums, size_y, values);
    }
    encode(values);
    Lane lane;
    lane.pack(values);
    if constexpr (Weighted) keep_transparent(lane, y);
    lane.store(arguments_.output.data + y * arguments_.output.row + x_ * Lane::pixel_bytes, own_.valid,
               pixels);
  }

 private:
  using Lane = StoredLane<Out, Channels>;
  static constexpr bool mixed = !std::is_same_v<T, Out>;

  /// Codes of linear light, where that is asked for; alpha that colours are weighted by is none.
  __device__ void encode(std::uint32_t (&values)[elements]) const {
    if constexpr (sizeof(Out) == 1) {
      if (!encoded_) return;
#pragma unroll
      for (int e = 0; e < elements; ++e)
        if (!Weighted || e % Channels != Channels - 1) values[e] = EncodeTable<T>::code(values[e]);
    } else if constexpr (!mixed) {
      if (arguments_.transfer.thresholds != nullptr) encode16(values, arguments_.transfer);
    }
  }

  [[nodiscard]] __device__ std::uint64_t divisor_of(int pixel, std::uint32_t size_y) const {
    const RunningMeanJob& job = arguments_.job;
    const bool clipped = job.clipped && pixel < own_.valid;
    const int x = x_ + pixel;
    return static_cast<std::uint64_t>(window_size(job.x, x, job.width, clipped)) * size_y;
  }

  /// values[e] = quotient(divisor of the pixel, e), a division that is made once where all divisors are the
  /// same.
  template <class Division, class Quotient>
  __device__ void divide_by(std::uint32_t size_y, std::uint32_t (&values)[elements],
                            const Quotient& quotient) const {
    if (own_.whole) {
      const Division division = make<Division>(whole_size() * size_y);
#pragma unroll
      for (int e = 0; e < elements; ++e) values[e] = quotient(division, e);
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const Division division = make<Division>(divisor_of(p, size_y));
#pragma unroll
      for (int c = 0; c < Channels; ++c) values[p * Channels + c] = quotient(division, p * Channels + c);
    }
  }

  template <class Division>
  [[nodiscard]] __device__ Division make(std::uint64_t divisor) const {
    if constexpr (std::is_same_v<Division, MixedDivision<Sum>>) {
      return Division(divisor, arguments_.job.x.inner, arguments_.job.x.outer);
    } else {
      return Division(static_cast<std::uint32_t>(divisor));
    }
  }

  /// Weighted number of pixels along x of a window that is not clipped.
  [[nodiscard]] __device__ std::uint64_t whole_size() const {
    return window_size(arguments_.job.x, 0, 0, false);
  }

  __device__ void divide(const WindowSums<std::uint32_t>& sums, std::uint32_t size_y,
                         std::uint32_t (&values)[elements]) const {
    const RunningMeanJob& job = arguments_.job;
    using Division = MixedDivision<std::uint32_t>;
    if (job.x.outer != 0) {
      divide_by<Division>(size_y, values, [&](const Division& division, int e) {
        return division(sums.inner[e], sums.outer[e]);
      });
    } else if (own_.whole && whole_size() * size_y == job.whole.divisor) {
      divide_scaled(sums, values);
    } else {
      divide_by<Division>(size_y, values,
                          [&](const Division& division, int e) { return division(sums.inner[e]); });
    }
  }

  __device__ void divide_scaled(const WindowSums<std::uint32_t>& sums,
                                std::uint32_t (&values)[elements]) const {
    const ScaledDivisor& whole = arguments_.job.whole;
#pragma unroll
    for (int e = 0; e < elements; ++e)
      values[e] = __umulhi(sums.inner[e] + whole.divisor / 2, whole.factor) >> whole.shift;
    if (!whole.exact) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const std::uint32_t rest = sums.inner[e] + whole.divisor / 2 - values[e] * whole.divisor;
        values[e] -= rest >> 31;
      }
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
      const LongDivision<false> of_alpha(static_cast<std::uint32_t>(divisor_of(p, size_y)));
      values[p * Channels + alpha] = of_alpha(alphas);
    }
  }

  /// Pixels without alpha keep the bytes of their source.
  __device__ void keep_transparent(Lane& lane, int y) const {
    bool transparent = false;
#pragma unroll
    for (int p = 0; p < pixels; ++p) transparent |= p < own_.valid && lane.alpha(p) == 0;
    if (!transparent) return;
    const std::byte* source = arguments_.source.data + y * arguments_.source.row + x_ * Lane::pixel_bytes;
#pragma unroll
    for (int p = 0; p < pixels; ++p)
      if (p < own_.valid && lane.alpha(p) == 0) lane.copy_colours(p, source);
  }

  const RunningMeanArguments& arguments_;
  RunningWindows<Channels, Sum> windows_;
  int x_;
  LaneOfPart own_;
  bool encoded_ = false;
};

}  // namespace satin::kernels
