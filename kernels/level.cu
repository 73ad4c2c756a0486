// One threshold for all pixels, and the counts of codes that it is chosen from.

#include <cstdint>

#include "kernels/box_stats.h"
#include "kernels/plane.cuh"

namespace satin::kernels {
namespace {

constexpr int small_codes = 256;
constexpr unsigned counting_rows =
    512;  // blocks along y: fewer, longer ones keep more counts in shared memory

/// Counts of 8-bit codes are collected in shared memory first.
template <class T>
__global__ void __launch_bounds__(plane_threads)
    count(const __grid_constant__ LevelArguments arguments, unsigned long long* counts) {
  __shared__ unsigned int own[small_codes];
  constexpr bool small = sizeof(T) == 1;
  if (small) {
    own[threadIdx.x] = 0;
    __syncthreads();
  }
  const LevelJob& job = arguments.job;
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  const int exponent = plane_exponent(job.plane, arguments.measured);
  for (std::int64_t y = blockIdx.y; y < job.height && x < job.width; y += gridDim.y) {
    const T value = plane_value_at<T>(job.plane, arguments.picture, x, y);
    const std::uint32_t code = code_of(quantise(value, job.plane, exponent));
    if (small)
      atomicAdd(&own[code], 1U);
    else
      atomicAdd(&counts[code], 1ULL);
  }
  if (small) {
    __syncthreads();
    if (own[threadIdx.x] != 0)
      atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(own[threadIdx.x]));
  }
}
static_assert(plane_threads == small_codes);

template <class T>
__global__ void __launch_bounds__(plane_threads) compare(const __grid_constant__ LevelArguments arguments) {
  const LevelJob& job = arguments.job;
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= job.width) return;
  for (std::int64_t y = blockIdx.y; y < job.height; y += gridDim.y) {
    const auto value = static_cast<double>(plane_value_at<T>(job.plane, arguments.picture, x, y));
    auto* out = reinterpret_cast<std::uint8_t*>(arguments.output.data + y * arguments.output.row);
    out[x] = (value > arguments.level) != job.inverted ? 255 : 0;
  }
}

}  // namespace

void count_codes(const LevelArguments& arguments, std::uint64_t* counts, StreamHandle stream) {
  dim3 grid = plane_grid(arguments.job.width, arguments.job.height);
  if (grid.y > counting_rows) grid.y = counting_rows;
  cudaMemsetAsync(counts, 0, codes_of(arguments.job.plane.type) * sizeof *counts, stream);
  with_plane_type(arguments.job.plane.type, [&](auto type) {
    count<decltype(type)>
        <<<grid, plane_threads, 0, stream>>>(arguments, reinterpret_cast<unsigned long long*>(counts));
  });
}

void apply_level(const LevelArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.job.width, arguments.job.height);
  with_plane_type(arguments.job.plane.type,
                  [&](auto type) { compare<decltype(type)><<<grid, plane_threads, 0, stream>>>(arguments); });
}

}  // namespace satin::kernels
