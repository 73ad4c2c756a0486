#pragma once
// Rows of a mask as words of bits.

#include <cstddef>
#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/masks/label_words.cuh"

namespace satin::kernels {

inline constexpr int quad = 4;  ///< pixels of a lane

/// Bits 28 ... 31: which of four bytes are not 0.
__device__ inline std::uint32_t set_bytes(std::uint32_t bytes) {
  constexpr std::uint32_t high = 0x80808080U;
  const std::uint32_t set = (((bytes & ~high) + ~high) | bytes) & high;
  return set * 0x00204081U;
}

/// Lane l of eight gets what the eight have in their l-th four bits, lane after lane.
__device__ inline std::uint32_t transposed(std::uint32_t bits) {
  constexpr std::uint32_t lower[] = {0x0F0F0F0FU, 0x00FF00FFU, 0x0000FFFFU};
#pragma unroll
  for (int step = 2; step >= 0; --step) {
    const int lanes = 1 << step;
    const int shift = quad * lanes;
    const std::uint32_t other = __shfl_xor_sync(whole_warp, bits, lanes);
    bits = (lane_index() & lanes) == 0 ? (bits & lower[step]) | (other & lower[step]) << shift
                                       : (bits & ~lower[step]) | (other & ~lower[step]) >> shift;
  }
  return bits;
}

/// The words of eight rows of a tile, by one warp.
__device__ inline void read_rows(const LabelArguments& arguments, const Tile& tile, int first_row,
                                 std::uint32_t* words) {
  constexpr int rows = 8;
  const std::int64_t width = arguments.job.width;
  const std::int64_t height = arguments.job.height;
  const std::int64_t x = std::int64_t{tile.word} * label_word + lane_index() * quad;
  const std::int64_t y = std::int64_t{tile.row} + first_row;
  const std::uint32_t outside = arguments.job.zeros ? 0x01010101U : 0;
  const std::byte* row = arguments.mask.data + y * arguments.mask.row + x;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(row) | arguments.mask.row) % quad == 0;
  std::uint32_t values[rows];
  if (aligned && x + quad <= width && y + rows <= height) {
#pragma unroll
    for (int i = 0; i < rows; ++i, row += arguments.mask.row)
      values[i] = *reinterpret_cast<const std::uint32_t*>(row);
  } else {
#pragma unroll
    for (int i = 0; i < rows; ++i, row += arguments.mask.row) {
      values[i] = outside;
      for (int k = 0; k < quad; ++k)
        if (y + i < height && x + k < width)
          values[i] = (values[i] & ~(0xFFU << 8 * k)) | static_cast<std::uint32_t>(row[k]) << 8 * k;
    }
  }
  std::uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < rows; ++i) bits = bits >> quad | (set_bytes(values[i]) & 0xF0000000U);
  if (arguments.job.zeros) bits = ~bits;
  words[(first_row + lane_index() % rows) * tile_words + lane_index() / rows] = transposed(bits);
}

}  // namespace satin::kernels
