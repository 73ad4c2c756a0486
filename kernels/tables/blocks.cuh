#pragma once
// The bits above 32 of sums over boxes of 16-bit light, of which a table gives the lower ones.
//
// Another table has an entry for every 16th row and column: a byte a channel, bits 28 to 35 of the sum of
// what is before. Of a box that is moved up and to the left until its sides meet such rows and columns, four
// entries give the sum: less than 2 units wrong as they are cut off, less than 2 more as the bytes below
// borrow. It is more than the box's own sum by pixels that only the moved box has at most, or less by those
// that only the box itself has, which are fewer. The sum that has the lower bits and is nearest is that of
// the box, as long as all this is less than 2^31.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/tables/launch.h"

namespace satin::kernels {

// These functions find an entry of a table in blocks: its strip, and its place behind the start of the
// strip. Rows and columns may be -1.

/// Strips from that of entry (0, 0) to that of row y in the first column of blocks.
__device__ inline int strip_of_row(const TableBlocks& blocks, int y) {
  static_assert(TableBlocks::rows == 2);
  return (y >> 1) * blocks.strips + (y & 1);
}

/// Entries from the strip's start to column x.
__device__ inline int place_of_column(int x) {
  constexpr int within = TableBlocks::columns - 1;
  return (x & ~within) * TableBlocks::rows + (x & within);
}

inline constexpr int upper_unit_bits = 28;
inline constexpr std::uint64_t upper_range = std::uint64_t{1} << (upper_unit_bits + 8);

/// Whether upper bits are enough for boxes of so many rows and columns.
constexpr bool upper_bits_say(std::uint64_t side) {
  constexpr std::uint64_t largest = 0xFFFF;
  const std::uint64_t moved = side + UpperBits::step - 1;
  const std::uint64_t others = moved * moved - side * side;  // in the moved box alone, at most
  return others * largest + (std::uint64_t{4} << upper_unit_bits) < std::uint64_t{1} << 31 &&
         side * side * largest < upper_range;
}

/// The sum, modulo `upper_range`, that has these lower bits and is less than 2^31 from the estimate.
__device__ inline std::uint64_t nearest_sum(std::uint64_t estimate, std::uint32_t low) {
  const auto more = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(estimate));
  return (estimate + static_cast<std::uint64_t>(std::int64_t{more})) % upper_range;
}

/// Tiles' totals are summed in such parts, too: they, and columns, are each less than a part wrong, of which
/// pictures of UpperBits::largest_side have less than 2^24, and the sums fit 32 bits modulo upper_range.
inline constexpr std::uint32_t upper_part = 16;
static_assert(upper_range / upper_part == std::uint64_t{1} << 32);

/// The upper bits of the table in the last column of a lane, row by row.
template <int Pixels, int Channels>
class UpperColumn {
 public:
  using Sums = std::uint32_t[Pixels][Channels];

  /// `above`: the columns' sums above the tile; `corner`: parts of what is above and to the left, in lane 0;
  /// `sums`: of the row above.
  __device__ void start(const Sums& above, const std::uint32_t (&corner)[Channels], const Sums& sums) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t parts = lane_index() == 0 ? corner[c] : 0;
#pragma unroll
      for (int p = 0; p < Pixels; ++p) parts += above[p][c] / upper_part;
      low_[c] = sums[Pixels - 1][c];
      high_[c] = static_cast<std::uint32_t>(
          nearest_sum(std::uint64_t{inclusive_scan(parts)} * upper_part, low_[c]) >> 32);
    }
  }

  /// The next row, whose own sum up to this column is below 2^32.
  __device__ void add(const Sums& sums) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const std::uint32_t low = sums[Pixels - 1][c];
      high_[c] += low < low_[c] ? 1 : 0;
      low_[c] = low;
    }
  }

  /// If the table of upper bits has an entry for what is before x and y.
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

/// Estimates of a box's sums, from the entries of the table of upper bits.
class UpperSums {
 public:
  UpperSums() = default;
  /// Columns from `left` to before `right`, rows from `top` to before `bottom`.
  __device__ UpperSums(const UpperBits& upper, int left, int right, int top, int bottom) {
    const auto entry = [](int place) { return static_cast<unsigned>(place) / UpperBits::step; };
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
