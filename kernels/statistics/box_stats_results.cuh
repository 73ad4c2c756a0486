#pragma once
// What is made of the statistics of one window, and the extremes of a picture.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/pixels/plane.cuh"
#include "statistics/box_stats.h"

namespace satin::kernels {

/// The value of the plane at a pixel, as stored.
template <class T>
__device__ double stored_value(const BoxStatsJob& job, const Source& picture, std::int64_t x,
                               std::int64_t y) {
  return static_cast<double>(plane_value_at<T>(job.plane, picture, x, y));
}

/// Stores a number in the output's channel, blended by the mask.
template <class T>
__device__ void store_number(const BoxStatsJob& job, const Source& picture, const Source& mask,
                             const Target& output, std::int64_t x, std::int64_t y, double number) {
  std::uint32_t weight = 0;
  if (job.mask_maximum == 0xFF)
    weight = reinterpret_cast<const std::uint8_t*>(mask.data + y * mask.row)[x];
  else if (job.mask_maximum != 0)
    weight = reinterpret_cast<const std::uint16_t*>(mask.data + y * mask.row)[x];
  const std::int64_t at = x * job.plane.channels + job.output_channel;
  const T own = reinterpret_cast<const T*>(picture.data + y * picture.row)[at];
  reinterpret_cast<T*>(output.data + y * output.row)[at] =
      blended_number(number, own, weight, job.mask_maximum);
}

/// Writes the job's result at one pixel.
template <class T>
__device__ void store_result(const BoxStatsJob& job, const PictureExtremes& extremes, const Source& picture,
                             const Source& mask, const Target& output, std::int64_t x, std::int64_t y,
                             LocalStatistics found) {
  const double value = stored_value<T>(job, picture, x, y);
  if (job.result != LocalResult::binary)
    return store_number<T>(
        job, picture, mask, output, x, y,
        job.result == LocalResult::deviation ? found.deviation : normalised(job.normalise, value, found));
  const bool white = (value > local_threshold(job.rule, extremes, found)) != job.inverted;
  reinterpret_cast<std::uint8_t*>(output.data + y * output.row)[x] = white ? 255 : 0;
}

/// Bits that order as the doubles do, all signs.
__device__ inline std::uint64_t ordered_bits(double value) {
  const std::uint64_t bits = bits_of(value);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

__device__ inline double of_ordered_bits(std::uint64_t ordered) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return double_of((ordered & sign) != 0 ? ordered ^ sign : ~ordered);
}

/// While they are looked for, the extremes are ordered bits.
struct OrderedExtremes {
  unsigned long long largest_deviation = 0;
  unsigned long long smallest_value = ~0ULL;

  /// To be called by all lanes of a warp.
  __device__ void merge_into(OrderedExtremes* all) {
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
      largest_deviation = max(largest_deviation, __shfl_xor_sync(whole_warp, largest_deviation, distance));
      smallest_value = min(smallest_value, __shfl_xor_sync(whole_warp, smallest_value, distance));
    }
    if (lane_index() != 0) return;
    atomicMax(&all->largest_deviation, largest_deviation);
    atomicMin(&all->smallest_value, smallest_value);
  }
};
static_assert(sizeof(OrderedExtremes) == sizeof(PictureExtremes));

/// Before and after the extremes are merged.
void begin_extremes(PictureExtremes* extremes, StreamHandle stream);
void end_extremes(PictureExtremes* extremes, StreamHandle stream);

}  // namespace satin::kernels
