// The largest and smallest magnitudes of a float picture, and whether all values are finite. Bits of positive
// doubles order as the numbers do, so atomic maxima and minima of the bits give the same result in any order.

#include <cfloat>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/plan_operations.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/launch.h"

namespace satin::kernels {
namespace {

constexpr std::uint64_t no_bits = ~std::uint64_t{0};

__device__ bool finite(float value) { return fabsf(value) <= FLT_MAX; }

struct Found {
  std::uint64_t largest[2] = {0, 0};
  std::uint64_t smallest[2] = {no_bits, no_bits};
  bool not_finite = false;

  __device__ void include(int group, double value) {
    if (value == 0) return;
    const std::uint64_t bits = bits_of(fabs(value));
    largest[group] = max(largest[group], bits);
    smallest[group] = min(smallest[group], bits);
  }
};

__device__ void add_to(Measured* result, Found found) {
#pragma unroll
  for (int group = 0; group < 2; ++group) {
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
      found.largest[group] =
          max(found.largest[group], __shfl_xor_sync(whole_warp, found.largest[group], distance));
      found.smallest[group] =
          min(found.smallest[group], __shfl_xor_sync(whole_warp, found.smallest[group], distance));
    }
  }
  const bool not_finite = __any_sync(whole_warp, found.not_finite) != 0;
  if (lane_index() != 0) return;
#pragma unroll
  for (int group = 0; group < 2; ++group) {
    if (found.largest[group] == 0) continue;
    atomicMax(reinterpret_cast<unsigned long long*>(&result->largest[group]), found.largest[group]);
    atomicMin(reinterpret_cast<unsigned long long*>(&result->smallest[group]), found.smallest[group]);
  }
  if (not_finite) atomicOr(&result->picture_not_finite, 1U);
}

__global__ void clear(Measured* result) { *result = {{0, 0}, {no_bits, no_bits}, 0, 0, 0}; }

/// Measures pixels; with alpha, colours times alpha.
__global__ void __launch_bounds__(tuning::measure_threads)
    measure_picture(const MeasureJob job, const Source picture, Measured* result) {
  const int alpha = job.weighted ? job.channels - 1 : -1;
  Found found{{job.at_least[0], job.at_least[1]}};
  for (std::int64_t y = blockIdx.x; y < job.height; y += gridDim.x) {
    const auto* row = reinterpret_cast<const float*>(picture.data + y * picture.row);
    for (std::int64_t x = threadIdx.x; x < job.width; x += blockDim.x) {
      const float* pixel = row + x * job.channels;
      const float weight = job.weighted ? pixel[alpha] : 1;
      for (int c = 0; c < job.channels; ++c) {
        const float value = pixel[c];
        if (!finite(value)) {
          found.not_finite = true;
        } else if (!job.magnitudes) {
          continue;
        } else if (c == alpha) {
          found.include(1, static_cast<double>(value));
        } else if (finite(weight)) {
          found.include(0, static_cast<double>(value) * static_cast<double>(weight));
        }
      }
    }
  }
  add_to(result, found);
}

__global__ void __launch_bounds__(tuning::measure_threads)
    check_map_values(std::int64_t width, std::int64_t height, const Source map, Measured* result) {
  bool outside = false;
  for (std::int64_t y = blockIdx.x; y < height; y += gridDim.x) {
    const auto* row = reinterpret_cast<const float*>(map.data + y * map.row);
    for (std::int64_t x = threadIdx.x; x < width; x += blockDim.x)
      outside = outside || !(row[x] >= 0.0F && row[x] <= 1.0F);
  }
  if (outside) atomicOr(&result->map_out_of_range, 1U);
}

unsigned blocks_for(std::int64_t height) {
  return static_cast<unsigned>(height < tuning::measure_blocks ? height : tuning::measure_blocks);
}

}  // namespace

void clear_measured(Measured* result, StreamHandle stream) { clear<<<1, 1, 0, stream>>>(result); }

void measure(const MeasureJob& job, const Source& picture, Measured* result, StreamHandle stream) {
  const unsigned blocks = blocks_for(job.height);
  measure_picture<<<blocks, tuning::measure_threads, 0, stream>>>(job, picture, result);
}

void check_map(std::int64_t width, std::int64_t height, const Source& map, Measured* result,
               StreamHandle stream) {
  check_map_values<<<blocks_for(height), tuning::measure_threads, 0, stream>>>(width, height, map, result);
}

}  // namespace satin::kernels
