#pragma once
// The entries of a table of 16-bit light that is gathered from, and the sum of a box from its corners.
//
// An entry has the sum of each channel modulo 2^32, then a word with one byte for each channel: bits 28 to 35
// of its sum. The difference of these bytes estimates the sum of a box: it errs by less than 2 units of 2^28
// by truncation and by less than 2 more by borrows from the bytes below. As all of this is below 2^31, the
// sum is the number nearest to the estimate that has the low 32 bits of the difference.

#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/tables/launch.h"

namespace satin::kernels {

/// A power of two, so that entries do not cross sectors of the L2.
template <int Channels>
using LightEntry = Vector < std::uint32_t,
      Channels == 1 ? 2 : Channels<4 ? 4 : 8>;

inline constexpr int upper_unit_bits = 28;
inline constexpr std::uint64_t upper_range = std::uint64_t{1} << (upper_unit_bits + 8);

/// Returns the sum, modulo `upper_range`, that has these low bits and lies within 2^31 of the estimate.
__device__ inline std::uint64_t nearest_sum(std::uint64_t estimate, std::uint32_t low) {
  const auto more = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(estimate));
  return (estimate + static_cast<std::uint64_t>(std::int64_t{more})) % upper_range;
}

/// Unit in which the sums of tiles and columns are estimated: sums fit 32 bits modulo upper_range. Each tile
/// and column errs by less than one unit, and pictures of largest_light_side have fewer than 2^24 of
/// them.
inline constexpr std::uint32_t upper_unit = 16;
static_assert(upper_range / upper_unit == std::uint64_t{1} << 32);

/// Follows the upper bits of the table in the last column of a lane, row by row.
template <int Pixels, int Channels>
class UpperColumn {
 public:
  using Sums = std::uint32_t[Pixels][Channels];

  /// `above` holds the sums of the columns above the tile, `corner` (in lane 0) the sum above and to the left
  /// in units, `sums` the table row above the tile.
  __device__ void start(const Sums& above, const std::uint32_t (&corner)[Channels], const Sums& sums) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t units = lane_index() == 0 ? corner[c] : 0;
#pragma unroll
      for (int p = 0; p < Pixels; ++p) units += above[p][c] / upper_unit;
      low_[c] = sums[Pixels - 1][c];
      high_[c] = static_cast<std::uint32_t>(
          nearest_sum(std::uint64_t{inclusive_scan(units)} * upper_unit, low_[c]) >> 32);
    }
  }

  /// Advances by a row, whose sum up to this column is below 2^32.
  __device__ void add(const Sums& sums) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const std::uint32_t low = sums[Pixels - 1][c];
      high_[c] += low < low_[c] ? 1 : 0;
      low_[c] = low;
    }
  }

  /// Returns the entries of a row. The sum of a single column is below 2^32, so a sum is smaller than its
  /// right neighbour by less than that.
  [[nodiscard]] __device__ Vector<std::uint32_t, Pixels * LightEntry<Channels>::count> entries(
      const Sums& sums) const {
    constexpr int words = LightEntry<Channels>::count;
    Vector<std::uint32_t, Pixels * words> result{};
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t high = high_[c];
#pragma unroll
      for (int p = Pixels - 1; p >= 0; --p) {
        const std::uint32_t low = sums[p][c];
        if (p < Pixels - 1 && sums[p + 1 < Pixels ? p + 1 : p][c] < low) --high;
        result.of[p * words + c] = low;
        result.of[p * words + Channels] |= (__funnelshift_l(low, high, 32 - upper_unit_bits) & 0xFF) << 8 * c;
      }
    }
    return result;
  }

 private:
  std::uint32_t low_[Channels];
  std::uint32_t high_[Channels];
};

/// Returns the sum over a box for channel c of a difference of entries.
template <int Channels>
__device__ std::uint64_t light_sum(const LightEntry<Channels>& difference, int c) {
  const std::uint64_t estimate = static_cast<std::uint64_t>(difference.of[Channels] >> 8 * c & 0xFF)
                                 << upper_unit_bits;
  return nearest_sum(estimate, difference.of[c]);
}

}  // namespace satin::kernels
