#pragma once
// Rows of bytes, read by a warp as four neighbouring pixels a lane, and rows of four 32-bit sums a lane,
// stored by a warp: 4-byte loads and 16-byte stores wherever the rows begin.

#include <cstddef>
#include <cstdint>

#include "kernels/warp.cuh"

namespace satin::kernels {

inline constexpr int lane_pixels = 4;
inline constexpr int warp_pixels = warp_size * lane_pixels;

/// Pixels of one channel, u8, that a warp reads: rows first_y and on of the columns from first_x on.
struct BytePicture {
  const std::byte* data;
  std::int64_t row;  ///< bytes
  int width;
  int height;
};

/// Bytes that an address lies behind a multiple of 4; 0 where `Aligned` says so.
template <bool Aligned>
__device__ int behind_word(const std::byte* address) {
  return Aligned ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % 4);
}

__device__ inline std::uint32_t load_word(const std::byte* from) {
  return __ldg(reinterpret_cast<const std::uint32_t*>(from));
}

/// The aligned word at x of a row, with 0 for the bytes outside of the row, which are not touched.
__device__ inline std::uint32_t word_of_row(const std::byte* row, int x, int width) {
  if (x >= 0 && x + 4 <= width) return load_word(row + x);
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (x + i >= 0 && x + i < width)
      word |= static_cast<std::uint32_t>(__ldg(reinterpret_cast<const std::uint8_t*>(row + x + i))) << 8 * i;
  return word;
}

/// What a lane finds for one row on behalf of the warp: words that only one lane of the row needs.
struct RowEnds {
  std::uint32_t first = 0;  ///< the word with pixel 0
  std::uint32_t last = 0;   ///< the word with pixel width - 1
  std::uint32_t extra = 0;  ///< the word behind those of the 32 lanes
};

/// Rows of a warp whose columns, with 3 more on either side, or rows are not all in the picture.
template <bool Aligned, int Rows>
__device__ void load_rows_at_edge(const BytePicture& picture, int first_x, int first_y, int existing,
                                  std::uint32_t (&words)[Rows], std::uint32_t& extra) {
  const std::byte* top = picture.data + first_y * picture.row;
  const int lane = lane_index();
  RowEnds ends;
  if (lane < existing) {
    const std::byte* row = top + lane * picture.row;
    const int behind = behind_word<Aligned>(row);
    const int last = (picture.width - 1 + behind) / 4 * 4 - behind;
    const int next = first_x + warp_pixels - behind;
    ends.first = word_of_row(row, -behind, picture.width);
    ends.last = word_of_row(row, last, picture.width);
    if (!Aligned && next <= last) ends.extra = word_of_row(row, next, picture.width);
  }
  extra = ends.extra;
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::byte* row = top + r * picture.row;
    const int behind = behind_word<Aligned>(row);
    const int x = first_x + lane * lane_pixels - behind;
    const std::uint32_t first = __shfl_sync(whole_warp, ends.first, r);
    const std::uint32_t last = __shfl_sync(whole_warp, ends.last, r);
    words[r] = 0;
    if (r >= existing) continue;
    if (x >= 0 && x + 4 <= picture.width) {
      words[r] = load_word(row + x);
    } else if (x < 0) {
      words[r] = first;
    } else if (x < picture.width) {
      words[r] = last;
    }
  }
}

/// Four pixels a lane of `Rows` rows, one a byte, the left one lowest; 0 outside of the picture. The loads of
/// all rows are in flight together.
template <bool Aligned, int Rows>
__device__ void load_rows(const BytePicture& picture, int first_x, int first_y,
                          std::uint32_t (&words)[Rows]) {
  static_assert(Rows <= warp_size, "each row has a lane that looks after its ends");
  const int existing = max(min(picture.height - first_y, Rows), 0);
  const int margin = Aligned ? 0 : 3;
  const bool inside =
      existing == Rows && first_x >= margin && first_x + warp_pixels + margin <= picture.width;
  const std::byte* top = picture.data + first_y * picture.row + first_x;
  std::uint32_t extra = 0;
  if (inside) {
    const std::byte* from = top + lane_index() * lane_pixels;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const std::byte* row = from + r * picture.row;
      words[r] = load_word(row - behind_word<Aligned>(row));
    }
    if (!Aligned && lane_index() < Rows) {
      const std::byte* row = top + lane_index() * picture.row + warp_pixels;
      if (behind_word<Aligned>(row) != 0) extra = load_word(row - behind_word<Aligned>(row));
    }
  } else {
    load_rows_at_edge<Aligned>(picture, first_x, first_y, existing, words, extra);
  }
  if constexpr (!Aligned) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const int behind = behind_word<Aligned>(top + r * picture.row);
      const std::uint32_t behind_row = __shfl_sync(whole_warp, extra, r);
      const std::uint32_t right = __shfl_down_sync(whole_warp, words[r], 1);
      words[r] = __funnelshift_r(words[r], lane_index() == warp_size - 1 ? behind_row : right,
                                 static_cast<unsigned>(8 * behind));
    }
  }
}

/// Stores a row that begins `Behind` sums behind a multiple of 16 bytes: each lane the 16-byte word that
/// begins with the last sums of the lane to its left, the outermost lanes what is left over.
template <int Behind>
__device__ void store_shifted(const uint4& sums, std::uint32_t* to) {
  const std::uint32_t own[lane_pixels] = {sums.x, sums.y, sums.z, sums.w};
  std::uint32_t shifted[lane_pixels];
#pragma unroll
  for (int i = 0; i < lane_pixels; ++i)
    shifted[i] = i < Behind ? __shfl_up_sync(whole_warp, own[lane_pixels - Behind + i], 1) : own[i - Behind];
  const int lane = lane_index();
  if (lane != 0)
    __stcs(reinterpret_cast<uint4*>(to - Behind), make_uint4(shifted[0], shifted[1], shifted[2], shifted[3]));
#pragma unroll
  for (int i = 0; i < lane_pixels; ++i)
    if (lane == (i < lane_pixels - Behind ? 0 : warp_size - 1)) __stcs(to + i, own[i]);
}

/// Stores a whole row of a warp; `to` is where the lane's sums go, 16-byte aligned if `Aligned`.
template <bool Aligned>
__device__ void store_row(const uint4& sums, std::uint32_t* to) {
  const auto behind = Aligned ? 0U : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) / 4 % 4);
  switch (behind) {  // the same for all lanes
    case 0:
      return __stcs(reinterpret_cast<uint4*>(to), sums);
    case 1:
      return store_shifted<1>(sums, to);
    case 2:
      return store_shifted<2>(sums, to);
    default:
      return store_shifted<3>(sums, to);
  }
}

/// Stores the first `valid` sums of the lane.
template <bool Aligned>
__device__ void store_row_at_edge(const uint4& sums, std::uint32_t* to, int valid) {
  if (Aligned && valid >= lane_pixels) return __stcs(reinterpret_cast<uint4*>(to), sums);
  const std::uint32_t own[lane_pixels] = {sums.x, sums.y, sums.z, sums.w};
#pragma unroll
  for (int i = 0; i < lane_pixels; ++i)
    if (i < valid) __stcs(to + i, own[i]);
}

}  // namespace satin::kernels
