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

/// The word that holds the byte at an address.
template <bool Aligned>
__device__ const std::byte* aligned_down(const std::byte* address) {
  return Aligned ? address
                 : reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(address) &
                                                      ~std::uintptr_t{3});
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

/// Rows of a warp whose columns, with 3 more, or rows are not all in the picture. `extra` as below.
template <bool Aligned, int Rows>
__device__ void load_rows_at_edge(const BytePicture& picture, int first_x, int first_y, int existing,
                                  std::uint32_t (&words)[Rows], std::uint32_t& extra) {
  const std::byte* top = picture.data + first_y * picture.row;
  const int lane = lane_index();
  const int lane_x = first_x + lane * lane_pixels;
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::byte* word = aligned_down<Aligned>(top + r * picture.row + lane_x);
    const int x = lane_x - behind_word<Aligned>(top + r * picture.row);
    words[r] = 0;
    if (r < existing && x + 4 <= picture.width) words[r] = load_word(word);
  }
  // Lane r looks after the end of row r: one word that is partly in the picture, for whichever lane has it.
  std::uint32_t last = 0;
  if (lane < existing) {
    const std::byte* row = top + lane * picture.row;
    const int behind = behind_word<Aligned>(row);
    const int last_x = (picture.width - 1 + behind) / 4 * 4 - behind;
    const int next_x = first_x + warp_pixels - behind;
    last = word_of_row(row, last_x, picture.width);
    if (!Aligned && next_x <= last_x) extra = word_of_row(row, next_x, picture.width);
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::uint32_t last_of_row = __shfl_sync(whole_warp, last, r);
    const int x = lane_x - behind_word<Aligned>(top + r * picture.row);
    if (x + 4 > picture.width && x < picture.width) words[r] = last_of_row;
  }
}

/// Four pixels a lane of `Rows` rows, one a byte, the left one lowest; 0 outside of the picture. The loads of
/// all rows are in flight together. Words with a pixel of the picture in them are read whole, but for those
/// with the last pixel of a row.
template <bool Aligned, int Rows>
__device__ void load_rows(const BytePicture& picture, int first_x, int first_y,
                          std::uint32_t (&words)[Rows]) {
  static_assert(Rows <= warp_size, "each row has a lane that looks after its end");
  const int existing = max(min(picture.height - first_y, Rows), 0);
  constexpr int margin = Aligned ? 0 : 3;
  const std::byte* top = picture.data + first_y * picture.row + first_x;
  std::uint32_t extra = 0;  // of lane r: the word behind those of the 32 lanes in row r
  // Not existing == Rows: ptxas of CUDA 13.0 takes the predicate of its fused min and max for that, wrongly.
  if (first_y + Rows <= picture.height && first_x + warp_pixels + margin <= picture.width) {
    const std::byte* from = top + lane_index() * lane_pixels;
#pragma unroll
    for (int r = 0; r < Rows; ++r) words[r] = load_word(aligned_down<Aligned>(from + r * picture.row));
    if (!Aligned && lane_index() < Rows) {
      const std::byte* next = top + lane_index() * picture.row + warp_pixels;
      if (behind_word<Aligned>(next) != 0) extra = load_word(aligned_down<Aligned>(next));
    }
  } else {
    load_rows_at_edge<Aligned>(picture, first_x, first_y, existing, words, extra);
  }
  if constexpr (!Aligned) {
    const auto first_bit = 8 * static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(top));
    const auto bits_of_row = 8 * static_cast<unsigned>(picture.row);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const std::uint32_t behind_row = __shfl_sync(whole_warp, extra, r);
      const std::uint32_t right = __shfl_down_sync(whole_warp, words[r], 1);
      const unsigned shift = first_bit + r % 4 * bits_of_row;  // modulo 32: rows begin alike every 4 rows
      words[r] = __funnelshift_r(words[r], lane_index() == warp_size - 1 ? behind_row : right, shift);
    }
  }
}

/// Stores a whole row of a warp; `to` is where the lane's sums go, `behind` sums behind a multiple of 16
/// bytes. Each lane stores the 16-byte word that begins with the last sums of the lane to its left, the
/// outermost lanes what is left over. Without branches where `behind` is a constant.
__device__ inline void store_row(const uint4& sums, std::uint32_t* to, int behind) {
  if (behind == 0) return __stcs(reinterpret_cast<uint4*>(to), sums);
  const std::uint32_t own[lane_pixels] = {sums.x, sums.y, sums.z, sums.w};
  std::uint32_t word[lane_pixels];
#pragma unroll
  for (int i = 0; i < lane_pixels; ++i)
    word[i] = i < behind ? __shfl_up_sync(whole_warp, own[lane_pixels - behind + i], 1) : own[i - behind];
  const bool first = lane_index() == 0;
  const bool last = lane_index() == warp_size - 1;
  if (!first) __stcs(reinterpret_cast<uint4*>(to - behind), make_uint4(word[0], word[1], word[2], word[3]));
  if (behind == 2) {
    if (first) __stcs(reinterpret_cast<uint2*>(to), make_uint2(sums.x, sums.y));
    if (last) __stcs(reinterpret_cast<uint2*>(to + 2), make_uint2(sums.z, sums.w));
  } else {
    if (first) __stcs(to, sums.x);
    if (behind == 1 ? first : last) __stcs(reinterpret_cast<uint2*>(to + 1), make_uint2(sums.y, sums.z));
    if (last) __stcs(to + 3, sums.w);
  }
}

__device__ inline int behind_16_bytes(const std::uint32_t* address) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) / sizeof(std::uint32_t) % 4);
}

/// Wherever the row begins.
__device__ inline void store_row(const uint4& sums, std::uint32_t* to) {
  switch (behind_16_bytes(to)) {  // the same for all lanes
    case 0:
      return store_row(sums, to, 0);
    case 1:
      return store_row(sums, to, 1);
    case 2:
      return store_row(sums, to, 2);
    default:
      return store_row(sums, to, 3);
  }
}

/// Stores the first `valid` sums of the lane.
__device__ inline void store_row_at_edge(const uint4& sums, std::uint32_t* to, int valid) {
  if (valid >= lane_pixels && behind_16_bytes(to) == 0) return __stcs(reinterpret_cast<uint4*>(to), sums);
  const std::uint32_t own[lane_pixels] = {sums.x, sums.y, sums.z, sums.w};
#pragma unroll
  for (int i = 0; i < lane_pixels; ++i)
    if (i < valid) __stcs(to + i, own[i]);
}

}  // namespace satin::kernels
