// One threshold for all pixels, and the histogram that it is chosen from. Bytes are counted in shared memory
// first, 16-bit codes and floats directly in global memory.

#include <algorithm>
#include <cstdint>

#include "kernels/pixels/launch.h"
#include "kernels/pixels/plane_quads.cuh"

namespace satin::kernels {
namespace {

constexpr int small_codes = 256;
constexpr unsigned counting_rows = 512;  ///< blocks along y: long ones merge their counts less often

class ByteCounts {
 public:
  __device__ ByteCounts(unsigned* own, unsigned long long* counts) : own_(own), counts_(counts) {
    own_[threadIdx.x] = 0;
    __syncthreads();
  }
  __device__ void add(std::uint32_t code) { atomicAdd(&own_[code], 1U); }
  __device__ void finish() {
    __syncthreads();
    if (own_[threadIdx.x] != 0)
      atomicAdd(&counts_[threadIdx.x], static_cast<unsigned long long>(own_[threadIdx.x]));
  }

 private:
  unsigned* own_;
  unsigned long long* counts_;
};
static_assert(plane_threads == small_codes);

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    count_quads(const __grid_constant__ FixedThresholdArguments arguments, unsigned long long* counts) {
  const FixedThresholdJob& job = arguments.job;
  const auto for_codes = [&](const auto& add) {
    for_quads<Channels, T>(
        arguments.picture, job.width, job.height, job.plane,
        [&](std::int64_t /*x*/, std::int64_t /*y*/, const Vector<T, quad>& values, int count) {
#pragma unroll
          for (int k = 0; k < quad; ++k)
            if (k < count) add(code_of(quantise(values.of[k], job.plane, 0)));
        });
  };
  if constexpr (sizeof(T) == 1) {
    __shared__ unsigned own[small_codes];
    ByteCounts bytes(own, counts);
    for_codes([&](std::uint32_t code) { bytes.add(code); });
    bytes.finish();
  } else {
    for_codes([&](std::uint32_t code) { atomicAdd(&counts[code], 1ULL); });
  }
}

__global__ void __launch_bounds__(plane_threads)
    count_floats(const __grid_constant__ FixedThresholdArguments arguments, unsigned long long* counts) {
  const FixedThresholdJob& job = arguments.job;
  const int exponent = plane_exponent(job.plane, arguments.measured);
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const float value = plane_value_at<float>(job.plane, arguments.picture, x, y);
    atomicAdd(&counts[code_of(quantise(value, job.plane, exponent))], 1ULL);
  });
}

__device__ FixedThresholdRule rule_of(const FixedThresholdArguments& arguments) {
  return {arguments.job.plane, arguments.level, arguments.job.inverted};
}

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    compare_quads(const __grid_constant__ FixedThresholdArguments arguments) {
  const FixedThresholdJob& job = arguments.job;
  const FixedThresholdRule rule = rule_of(arguments);
  for_quads<Channels, T>(arguments.picture, job.width, job.height, job.plane,
                         [&](std::int64_t x, std::int64_t y, const Vector<T, quad>& values, int count) {
                           Vector<std::uint8_t, quad> sides{};
#pragma unroll
                           for (int k = 0; k < quad; ++k)
                             sides.of[k] = side_of(static_cast<double>(values.of[k]), rule);
                           store_quad(sides, count, row_of<std::uint8_t>(arguments.output, y) + x);
                         });
}

__global__ void __launch_bounds__(plane_threads)
    compare_floats(const __grid_constant__ FixedThresholdArguments arguments) {
  const FixedThresholdJob& job = arguments.job;
  const FixedThresholdRule rule = rule_of(arguments);
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const float value = plane_value_at<float>(job.plane, arguments.picture, x, y);
    row_of<std::uint8_t>(arguments.output, y)[x] = side_of(static_cast<double>(value), rule);
  });
}

}  // namespace

void count_codes(const FixedThresholdArguments& arguments, std::uint64_t* counts, StreamHandle stream) {
  const FixedThresholdJob& job = arguments.job;
  cudaMemsetAsync(counts, 0, codes_of(job.plane.type) * sizeof *counts, stream);
  auto* found = reinterpret_cast<unsigned long long*>(counts);
  const auto few_rows = [](dim3 grid) {
    grid.y = std::min(grid.y, counting_rows);
    return grid;
  };
  const bool integers = with_integer_plane(job.plane, [&]<class T, int Channels>() {
    count_quads<T, Channels>
        <<<few_rows(quad_grid(job.width, job.height)), plane_threads, 0, stream>>>(arguments, found);
  });
  if (!integers)
    count_floats<<<few_rows(plane_grid(job.width, job.height)), plane_threads, 0, stream>>>(arguments, found);
}

void apply_fixed_threshold(const FixedThresholdArguments& arguments, StreamHandle stream) {
  const FixedThresholdJob& job = arguments.job;
  const bool integers = with_integer_plane(job.plane, [&]<class T, int Channels>() {
    compare_quads<T, Channels><<<quad_grid(job.width, job.height), plane_threads, 0, stream>>>(arguments);
  });
  if (!integers) compare_floats<<<plane_grid(job.width, job.height), plane_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
