// Local mean and deviation from two tables, of the values and of their squares: four corners each inside the
// picture, the combination of prefixes that the border asks for at its edges.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/maths/window.h"
#include "kernels/pixels/plane.cuh"
#include "kernels/pixels/plane_quads.cuh"
#include "kernels/statistics/box_stats_results.cuh"
#include "kernels/statistics/launch.h"

namespace satin::kernels {
namespace {

__global__ void __launch_bounds__(plane_threads)
    extract_floats(const __grid_constant__ PlaneArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const int exponent = plane_exponent(arguments.plane, arguments.measured);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const float value = plane_value_at<float>(arguments.plane, arguments.picture, x, y);
    auto* out = reinterpret_cast<std::uint32_t*>(arguments.result.data + y * arguments.result.row);
    out[x] = quantise(value, arguments.plane, exponent);
  }
}

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    extract_quads(const __grid_constant__ PlaneArguments arguments) {
  for_quads<Channels, T>(
      arguments.picture, arguments.width, arguments.height, arguments.plane,
      [&](std::int64_t x, std::int64_t y, const Vector<T, quad>& values, int count) {
        store_quad(values, count, reinterpret_cast<T*>(arguments.result.data + y * arguments.result.row) + x);
      });
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
    store_result<T>(job, extremes, arguments.picture, arguments.mask, arguments.output, x, y,
                    statistics_at<Sum>(arguments, x, y, rule));
  }
}

__global__ void set_extremes(PictureExtremes* extremes, PictureExtremes value) { *extremes = value; }

__global__ void order_extremes(const PictureExtremes* extremes, OrderedExtremes* ordered) {
  const PictureExtremes known = *extremes;
  *ordered = {ordered_bits(known.largest_deviation), ordered_bits(known.smallest_value)};
}

template <class T, class Sum>
__global__ void __launch_bounds__(plane_threads)
    look_for_extremes(const __grid_constant__ BoxStatsArguments arguments, OrderedExtremes* extremes) {
  const Rectangle& inner = arguments.inner;
  const std::int64_t x = inner.x.first + static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  const BoxStatsJob& job = arguments.job;
  const Quantised rule = quantised(job.plane, plane_exponent(job.plane, arguments.measured));
  OrderedExtremes found;
  for (std::int64_t y = inner.y.first + blockIdx.y; y < inner.y.last && x < inner.x.last; y += gridDim.y) {
    const unsigned long long deviation = ordered_bits(statistics_at<Sum>(arguments, x, y, rule).deviation);
    const unsigned long long value = ordered_bits(stored_value<T>(job, arguments.picture, x, y));
    found.largest_deviation = max(found.largest_deviation, deviation);
    found.smallest_value = min(found.smallest_value, value);
  }
  found.merge_into(extremes);
}

__global__ void read_extremes(const OrderedExtremes* ordered, PictureExtremes* extremes) {
  const OrderedExtremes found = *ordered;
  *extremes = {of_ordered_bits(found.largest_deviation), of_ordered_bits(found.smallest_value)};
}

}  // namespace

void extract_plane(const PlaneArguments& arguments, StreamHandle stream) {
  const bool integers = with_integer_plane(arguments.plane, [&]<class T, int Channels>() {
    extract_quads<T, Channels>
        <<<quad_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
  });
  if (!integers)
    extract_floats<<<plane_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
}

void clear_extremes(PictureExtremes* extremes, StreamHandle stream) {
  set_extremes<<<1, 1, 0, stream>>>(extremes, no_extremes);
}

void begin_extremes(PictureExtremes* extremes, StreamHandle stream) {
  order_extremes<<<1, 1, 0, stream>>>(extremes, reinterpret_cast<OrderedExtremes*>(extremes));
}

void end_extremes(PictureExtremes* extremes, StreamHandle stream) {
  read_extremes<<<1, 1, 0, stream>>>(reinterpret_cast<OrderedExtremes*>(extremes), extremes);
}

void find_extremes(const BoxStatsArguments& arguments, StreamHandle stream) {
  auto* ordered = reinterpret_cast<OrderedExtremes*>(arguments.extremes);
  const dim3 grid = plane_grid(arguments.inner.x.size(), arguments.inner.y.size());
  begin_extremes(arguments.extremes, stream);
  with_plane_type(arguments.job.plane.type, [&](auto type) {
    using T = decltype(type);
    if (arguments.sum_type == Accumulator::u32)
      look_for_extremes<T, std::uint32_t><<<grid, plane_threads, 0, stream>>>(arguments, ordered);
    else
      look_for_extremes<T, std::uint64_t><<<grid, plane_threads, 0, stream>>>(arguments, ordered);
  });
  end_extremes(arguments.extremes, stream);
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
