// Local mean and deviation from two tables, of the values and of their squares: four corners each inside the
// picture, the combination of prefixes that the border asks for at its edges.

#include <cstdint>

#include "core/maths/window.h"
#include "kernels/box_stats.h"
#include "kernels/plane.cuh"
#include "kernels/warp.cuh"

namespace satin::kernels {
namespace {

template <class T>
struct Quantum {
  using type = T;
};
template <>
struct Quantum<float> {
  using type = std::uint32_t;
};

template <class T>
__global__ void __launch_bounds__(plane_threads) extract(const __grid_constant__ PlaneArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const int exponent = plane_exponent(arguments.plane, arguments.measured);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const T value = plane_value_at<T>(arguments.plane, arguments.picture, x, y);
    auto* out =
        reinterpret_cast<typename Quantum<T>::type*>(arguments.result.data + y * arguments.result.row);
    out[x] = static_cast<typename Quantum<T>::type>(quantise(value, arguments.plane, exponent));
  }
}

/// The sum over a window; sums that wrapped around come out right, as the sum itself fits.
template <class Sum>
__device__ Sum window_sum(const Source& table, const PrefixTerms& along_x, const PrefixTerms& along_y) {
  Sum sum = 0;
#pragma unroll
  for (int j = 0; j < PrefixTerms::count; ++j) {
    if (along_y.coefficient[j] == 0) continue;
    const auto* row = reinterpret_cast<const Sum*>(table.data + along_y.index[j] * table.row);
    Sum row_sum = 0;
#pragma unroll
    for (int i = 0; i < PrefixTerms::count; ++i)
      if (along_x.coefficient[i] != 0)
        row_sum += static_cast<Sum>(along_x.coefficient[i]) * __ldg(row + along_x.index[i]);
    sum += static_cast<Sum>(along_y.coefficient[j]) * row_sum;
  }
  return sum;
}

template <class Sum>
__device__ LocalStatistics statistics_at(const BoxStatsArguments& arguments, std::int64_t x, std::int64_t y,
                                         const Quantised& quantised) {
  const BoxStatsJob& job = arguments.job;
  const Window columns = window_around(x, job.reach_x);
  const Window rows = window_around(y, job.reach_y);
  const PrefixTerms along_x = prefix_terms(columns, job.width, job.border);
  const PrefixTerms along_y = prefix_terms(rows, job.height, job.border);
  WindowSums sums;
  sums.count = static_cast<std::uint64_t>(counted(columns, job.width, job.border)) *
               static_cast<std::uint64_t>(counted(rows, job.height, job.border));
  sums.sum = window_sum<Sum>(arguments.sums, along_x, along_y);
  sums.squares = window_sum<std::uint64_t>(arguments.squares, along_x, along_y);
  return local_statistics(sums, quantised);
}

template <class T, class Sum>
__global__ void __launch_bounds__(plane_threads)
    write_results(const __grid_constant__ BoxStatsArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  const BoxStatsJob& job = arguments.job;
  if (x >= job.width) return;
  const Quantised rule = quantised(job.plane, plane_exponent(job.plane, arguments.measured));
  const PictureExtremes extremes = arguments.extremes == nullptr ? PictureExtremes{} : *arguments.extremes;
  for (std::int64_t y = blockIdx.y; y < job.height; y += gridDim.y) {
    const LocalStatistics found = statistics_at<Sum>(arguments, x, y, rule);
    std::byte* row = arguments.output.data + y * arguments.output.row;
    if (job.result == LocalResult::binary) {
      const auto value = static_cast<double>(plane_value_at<T>(job.plane, arguments.picture, x, y));
      const bool white = (value > local_threshold(job.rule, extremes, found)) != job.inverted;
      reinterpret_cast<std::uint8_t*>(row)[x] = white ? 255 : 0;
    } else {
      const double number = job.result == LocalResult::mean ? found.mean : found.deviation;
      reinterpret_cast<T*>(row)[x * arguments.output_channels + job.output_channel] =
          stored_number<T>(number);
    }
  }
}

/// Bits that order as the doubles do, all signs.
__device__ std::uint64_t ordered_bits(double value) {
  const std::uint64_t bits = bits_of(value);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

__device__ double of_ordered_bits(std::uint64_t ordered) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return double_of((ordered & sign) != 0 ? ordered ^ sign : ~ordered);
}

/// While they are looked for, the extremes are ordered bits.
struct OrderedExtremes {
  unsigned long long largest_deviation;
  unsigned long long smallest_value;
};
static_assert(sizeof(OrderedExtremes) == sizeof(PictureExtremes));

__global__ void begin_extremes(OrderedExtremes* extremes) { *extremes = {0, ~0ULL}; }

template <class T, class Sum>
__global__ void __launch_bounds__(plane_threads)
    look_for_extremes(const __grid_constant__ BoxStatsArguments arguments, OrderedExtremes* extremes) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  const BoxStatsJob& job = arguments.job;
  const Quantised rule = quantised(job.plane, plane_exponent(job.plane, arguments.measured));
  unsigned long long largest = 0;
  unsigned long long smallest = ~0ULL;
  for (std::int64_t y = blockIdx.y; y < job.height && x < job.width; y += gridDim.y) {
    const unsigned long long deviation = ordered_bits(statistics_at<Sum>(arguments, x, y, rule).deviation);
    const unsigned long long value =
        ordered_bits(static_cast<double>(plane_value_at<T>(job.plane, arguments.picture, x, y)));
    largest = max(largest, deviation);
    smallest = min(smallest, value);
  }
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(whole_warp, largest, distance));
    smallest = min(smallest, __shfl_xor_sync(whole_warp, smallest, distance));
  }
  if (lane_index() != 0) return;
  atomicMax(&extremes->largest_deviation, largest);
  atomicMin(&extremes->smallest_value, smallest);
}

__global__ void end_extremes(const OrderedExtremes* ordered, PictureExtremes* extremes) {
  const OrderedExtremes found = *ordered;
  *extremes = {of_ordered_bits(found.largest_deviation), of_ordered_bits(found.smallest_value)};
}

}  // namespace

void extract_plane(const PlaneArguments& arguments, StreamHandle stream) {
  with_plane_type(arguments.plane.type, [&](auto type) {
    extract<decltype(type)>
        <<<plane_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
  });
}

void find_extremes(const BoxStatsArguments& arguments, StreamHandle stream) {
  auto* ordered = reinterpret_cast<OrderedExtremes*>(arguments.extremes);
  const dim3 grid = plane_grid(arguments.job.width, arguments.job.height);
  begin_extremes<<<1, 1, 0, stream>>>(ordered);
  with_plane_type(arguments.job.plane.type, [&](auto type) {
    using T = decltype(type);
    if (arguments.sum_type == Accumulator::u32)
      look_for_extremes<T, std::uint32_t><<<grid, plane_threads, 0, stream>>>(arguments, ordered);
    else
      look_for_extremes<T, std::uint64_t><<<grid, plane_threads, 0, stream>>>(arguments, ordered);
  });
  end_extremes<<<1, 1, 0, stream>>>(ordered, arguments.extremes);
}

void box_stats(const BoxStatsArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.job.width, arguments.job.height);
  with_plane_type(arguments.job.plane.type, [&](auto type) {
    using T = decltype(type);
    if (arguments.sum_type == Accumulator::u32)
      write_results<T, std::uint32_t><<<grid, plane_threads, 0, stream>>>(arguments);
    else
      write_results<T, std::uint64_t><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
