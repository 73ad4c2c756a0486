#pragma once
// A table of 16-bit light in blocks (TableBlocks), and the bits above 32 of its box sums.
//
// Table entries are modulo 2^32, but a box of light may sum to more. A second, coarse table (UpperBits) has
// an entry for every 16th row and column: bits 28 to 35 of the sum of all pixels before it, one byte per
// channel. Move a box up and left until its sides meet such rows and columns: four coarse entries estimate
// its sum. The estimate is wrong by less than 2 units of 2^28 by truncation, by less than 2 more by borrows
// from the bytes below, and by the pixels that lie only in the moved box or only in the box itself. While all
// of this is below 2^31, the box sum is the number nearest to the estimate whose low 32 bits the fine table
// gives.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/tables/launch.h"

namespace satin::kernels {

/// Returns the strip of row y in the first column of blocks, counted from entry (0, 0). y may be -1.
__device__ inline int strip_of_row(const TableBlocks& blocks, int y) {
  static_assert(TableBlocks::rows == 2);
  return (y >> 1) * blocks.strips + (y & 1);
}

/// Returns the offset of column x from the strip's start, in entries. x may be -1.
__device__ inline int place_of_column(int x) {
  constexpr int within = TableBlocks::columns - 1;
  return (x & ~within) * TableBlocks::rows + (x & within);
}

inline constexpr int upper_unit_bits = 28;
inline constexpr std::uint64_t upper_range = std::uint64_t{1} << (upper_unit_bits + 8);

/// Whether the upper bits determine the sum of every box with at most `side` rows and columns.
constexpr bool upper_bits_say(std::uint64_t side) {
  constexpr std::uint64_t largest = 0xFFFF;
  const std::uint64_t moved = side + UpperBits::step - 1;
  const std::uint64_t others = moved * moved - side * side;  // pixels in the moved box alone, at most
  return others * largest + (std::uint64_t{4} << upper_unit_bits) < std::uint64_t{1} << 31 &&
         side * side * largest < upper_range;
}

/// Returns the sum, modulo `upper_range`, that has these low bits and lies within 2^31 of the estimate.
__device__ inline std::uint64_t nearest_sum(std::uint64_t estimate, std::uint32_t low) {
  const auto more = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(estimate));
  return (estimate + static_cast<std::uint64_t>(std::int64_t{more})) % upper_range;
}

/// Unit in which the sums of tiles and columns are estimated: sums fit 32 bits modulo upper_range. Each tile
/// and column errs by less than one unit, and pictures of UpperBits::largest_side have fewer than 2^24 of
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

  /// Stores the entry for the pixels before (x, y), if the coarse table has one.
  __device__ void store(const UpperBits& upper, int x, int y) const {
    if (x % UpperBits::step != 0 || y % UpperBits::step != 0) return;
    std::uint32_t bytes = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      bytes |= (__funnelshift_l(low_[c], high_[c], 32 - upper_unit_bits) & 0xFF) << 8 * c;
    upper.data[y / UpperBits::step * upper.row + x / UpperBits::step] = bytes;
  }

 private:
  std::uint32_t low_[Channels];
  std::uint32_t high_[Channels];
};

/// Estimates the sums of a box from the coarse table.
class UpperSums {
 public:
  UpperSums() = default;
  /// The box has the columns [left, right) and the rows [top, bottom).
  __device__ UpperSums(const UpperBits& upper, int left, int right, int top, int bottom) {
    const auto entry = [](int position) { return static_cast<unsigned>(position) / UpperBits::step; };
    const std::uint32_t* above = upper.data + entry(top) * static_cast<unsigned>(upper.row);
    const std::uint32_t* last = upper.data + entry(bottom) * static_cast<unsigned>(upper.row);
    bytes_ = (__ldg(last + entry(right)) - __ldg(last + entry(left))) -
             (__ldg(above + entry(right)) - __ldg(above + entry(left)));
  }
  [[nodiscard]] __device__ std::uint64_t of(int channel, std::uint32_t low) const {
    return nearest_sum(static_cast<std::uint64_t>(bytes_ >> 8 * channel & 0xFF) << upper_unit_bits, low);
  }

 private:
  std::uint32_t bytes_ = 0;
};

}  // namespace satin::kernels
