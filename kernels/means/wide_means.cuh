#pragma once
// Means of one row from 64-bit sums over windows, as floats, as working values or as 16-bit codes: a lane
// writes the pixels of its own columns.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/wide_division.cuh"
#include "kernels/means/encode16.cuh"
#include "kernels/means/running_store.cuh"
#include "kernels/means/running_windows.cuh"
#include "kernels/means/wide_values.cuh"

namespace satin::kernels {

/// Signed sums over the whole boxes that a box with parts of pixels is mixed from, to double precision: to be
/// added in the order of add_weighted() (means/maths/mean.h).
struct FloatTotals {
  double estimate[running_elements] = {};
  std::uint32_t weight = 1;  ///< of the rows that were summed

  __device__ void set(int e, std::uint64_t sum) { add(e, sum, weight); }
  __device__ void mix(int e, std::uint64_t inner, std::uint64_t outer, const RunningWindow& window) {
    add(e, inner, weight * window.inner);
    add(e, outer, weight * window.outer);
  }

 private:
  __device__ void add(int e, std::uint64_t sum, std::uint32_t weight_of_box) {
    estimate[e] =
        estimate[e] + static_cast<double>(weight_of_box) * __ll2double_rn(static_cast<long long>(sum));
  }
};

/// The `valid` first ones of a lane's elements.
template <class Out>
__device__ void store_elements(std::byte* to, const Out (&values)[running_elements], int valid) {
  constexpr int at_once = 16 / static_cast<int>(sizeof(Out));
  struct alignas(16) Group {
    Out values[at_once];
  };
  auto* elements = reinterpret_cast<Out*>(to);
  if (valid == running_elements && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll
    for (int e = 0; e < running_elements; e += at_once) {
      Group group;
#pragma unroll
      for (int k = 0; k < at_once; ++k) group.values[k] = values[e + k];
      *reinterpret_cast<Group*>(elements + e) = group;
    }
    return;
  }
#pragma unroll
  for (int e = 0; e < running_elements; ++e)
    if (e < valid) elements[e] = values[e];
}

/// T: of the values, Out: of the means of floats; others are of 16 or 32 bits.
template <class T, class Out, int Channels>
class WideMeans {
 public:
  static constexpr int elements = running_elements;
  static constexpr int pixels = elements / Channels;
  static constexpr bool floats = sizeof(WideColumn<T>) == 8;

  /// `x`: of the lane's first column.
  __device__ WideMeans(const RunningMeanArguments& arguments, const RunningPart& part, int margin, int thread,
                       int threads, int x)
      : arguments_(arguments),
        windows_(arguments.job, margin, thread, threads),
        x_(x),
        own_(arguments.job, part, x, pixels) {
    if constexpr (floats) exponent_ = fixed_exponents(*arguments.measured, arguments.job.fixed_bits).colour;
  }

  /// Over the windows of the row whose prefixes lie there.
  template <class Sums>
  __device__ void sum(int prefixes, Sums& sums) const {
    if (own_.any) windows_.template sum<!floats || std::is_same_v<Sums, FloatTotals>>(prefixes, sums);
  }

  template <class Sums>
  __device__ void write(int y, const Sums& sums) {
    if (!own_.any) return;
    const RunningMeanJob& job = arguments_.job;
    const std::uint32_t size_y = window_size(job.y, y, job.height, job.clipped);
    if (own_.whole && size_y != size_y_) {
      size_y_ = size_y;
      whole_divisor_ = divisor_of(window_size(job.x, 0, 0, false), size_y);
    }
    if constexpr (!floats) {
      write_integers(y, size_y, sums);
    } else if constexpr (std::is_same_v<Sums, FloatTotals>) {
      write_floats(y, size_y, [&](int e) { return sums.estimate[e]; });
    } else if constexpr (std::is_same_v<Out, float>) {
      write_floats(y, size_y, [&](int e) { return signed_sum(sums.total[e]); });
    } else {
      std::uint64_t means[elements];
      each_element(size_y, [&](const WideDivisor& by, int e) {
        means[e] = by.rounded(sums.total[e], signed_sum(sums.total[e]));
      });
      store_elements(row_of<std::uint64_t>(y), means, own_.valid * Channels);
    }
  }

 private:
  [[nodiscard]] __device__ static double signed_sum(std::uint64_t sum) {
    return __ll2double_rn(static_cast<long long>(sum));
  }

  template <class Total>
  __device__ void write_floats(int y, std::uint32_t size_y, const Total& total) const {
    float means[elements];
    each_element(size_y, [&](const WideDivisor& by, int e) {
      means[e] = static_cast<float>(FloatDivision(by, exponent_)(total(e)));
    });
    store_elements(row_of<float>(y), means, own_.valid * Channels);
  }

  __device__ void write_integers(int y, std::uint32_t size_y, const WindowSums<std::uint64_t>& sums) const {
    const RunningMeanJob& job = arguments_.job;
    const int more_bits = max(job.more_bits, 0);
    std::uint32_t means[elements];
    each_element(size_y, [&](const WideDivisor& by, int e) {
      const std::uint64_t total = sums.total[e] << more_bits;
      means[e] = static_cast<std::uint32_t>(by.rounded(total, __ull2double_rn(total)));
    });
    if constexpr (sizeof(T) == 4) {
      if (job.output == Type::u16) return write_codes(y, means);
    }
    store_elements(row_of<std::uint32_t>(y), means, own_.valid * Channels);
  }

  __device__ void write_codes(int y, std::uint32_t (&means)[elements]) const {
    if (arguments_.transfer.thresholds != nullptr) encode16(means, arguments_.transfer);
    StoredLane<std::uint16_t, Channels> lane;
    lane.pack(means);
    lane.store(row_of<std::uint16_t>(y), own_.valid, pixels);
  }

  /// Calls action(divisor of the element's pixel, element).
  template <class Action>
  __device__ void each_element(std::uint32_t size_y, const Action& action) const {
    if (own_.whole) {
#pragma unroll
      for (int e = 0; e < elements; ++e) action(whole_divisor_, e);
      return;
    }
    const RunningMeanJob& job = arguments_.job;
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const bool clipped = job.clipped && p < own_.valid;
      const WideDivisor by = divisor_of(window_size(job.x, x_ + p, job.width, clipped), size_y);
#pragma unroll
      for (int c = 0; c < Channels; ++c) action(by, p * Channels + c);
    }
  }

  [[nodiscard]] __device__ WideDivisor divisor_of(std::uint64_t size_x, std::uint32_t size_y) const {
    return WideDivisor(size_x * size_y << max(-arguments_.job.more_bits, 0));
  }

  template <class Stored>
  [[nodiscard]] __device__ std::byte* row_of(int y) const {
    constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(Stored));
    return arguments_.output.data + y * arguments_.output.row + x_ * pixel_bytes;
  }

  const RunningMeanArguments& arguments_;
  RunningWindows<Channels, std::uint64_t> windows_;
  int x_;
  LaneOfPart own_;
  int exponent_ = 0;
  std::uint32_t size_y_ = 0;  ///< of the whole divisor
  WideDivisor whole_divisor_{1};
};

}  // namespace satin::kernels
