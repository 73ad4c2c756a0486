#pragma once
// Rows that a warp loads and stores in wide words at any alignment: bytes, one word of 2 or 4 bytes per lane,
// by 4-byte loads; and sums, a few per lane, by 16-byte stores. Words that straddle lanes are exchanged by
// shuffles.

#include <cstddef>
#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"

namespace satin::kernels {

struct ByteRows {
  const std::byte* data;
  std::int64_t row;  ///< bytes to the next row
  int bytes;         ///< bytes of a row
  int height;
};

/// Returns the address modulo 4; 0 if `Aligned`, where words are read at their own address.
template <bool Aligned>
__device__ int behind_word(const std::byte* address) {
  return Aligned ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % 4);
}

/// Returns the start of the word that holds the byte at an address.
template <bool Aligned>
__device__ const std::byte* aligned_down(const std::byte* address) {
  return Aligned ? address
                 : reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(address) &
                                                      ~std::uintptr_t{3});
}

template <int Bytes>
__device__ std::uint32_t load_word(const std::byte* from) {
  if constexpr (Bytes == 2) return __ldg(reinterpret_cast<const std::uint16_t*>(from));
  return __ldg(reinterpret_cast<const std::uint32_t*>(from));
}

/// Returns the word at byte x of a row. Bytes outside the row are 0 and are not read.
__device__ inline std::uint32_t word_of_row(const std::byte* row, int x, int bytes) {
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (x + i >= 0 && x + i < bytes)
      word |= static_cast<std::uint32_t>(__ldg(reinterpret_cast<const std::uint8_t*>(row + x + i))) << 8 * i;
  return word;
}

/// load_rows() where not all bytes, with 3 more, or not all rows are in the picture. `extra` as there.
template <bool Aligned, int LaneBytes, int Rows>
__device__ void load_rows_at_edge(const ByteRows& picture, int first_x, int first_y,
                                  std::uint32_t (&words)[Rows], std::uint32_t& extra) {
  constexpr int word_bytes = Aligned ? LaneBytes : 4;
  const std::byte* top = picture.data + first_y * picture.row;
  const int existing = picture.height - first_y;
  const int lane = lane_index();
  const int lane_x = first_x + lane * LaneBytes;
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::byte* at = top + r * picture.row + lane_x;
    words[r] = 0;
    if (r < existing && lane_x - behind_word<Aligned>(at) + word_bytes <= picture.bytes)
      words[r] = load_word<word_bytes>(aligned_down<Aligned>(at));
  }
  // Lane r reads the end of row r: the one word that is partly in the picture, for the lane that holds it.
  std::uint32_t last = 0;
  if (lane < min(existing, Rows)) {
    const std::byte* row = top + lane * picture.row;
    const int end = picture.bytes - 1;
    const int last_x = end - static_cast<int>(reinterpret_cast<std::uintptr_t>(row + end) % word_bytes);
    const int next_x = first_x + warp_size * LaneBytes;
    const int next_word = next_x - behind_word<Aligned>(row + next_x);
    last = word_of_row(row, last_x, picture.bytes);
    if (!Aligned && next_word <= last_x) extra = word_of_row(row, next_word, picture.bytes);
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const std::uint32_t last_of_row = __shfl_sync(whole_warp, last, r);
    const int x = lane_x - behind_word<Aligned>(top + r * picture.row + lane_x);
    if (x + word_bytes > picture.bytes && x < picture.bytes) words[r] = last_of_row;
  }
}

/// Loads `LaneBytes` bytes per lane of `Rows` rows, the left byte lowest; bytes outside the picture are 0.
/// The loads of all rows are in flight together. Words that hold a byte of the picture are read whole, except
/// those with the last byte of a row. `Aligned` says that rows begin at multiples of LaneBytes.
template <bool Aligned, int LaneBytes, int Rows>
__device__ void load_rows(const ByteRows& picture, int first_x, int first_y, std::uint32_t (&words)[Rows]) {
  static_assert(Rows <= warp_size, "each row has a lane that reads its end");
  constexpr int word_bytes = Aligned ? LaneBytes : 4;
  constexpr int warp_bytes = warp_size * LaneBytes;
  constexpr int margin = Aligned ? 0 : 3;
  const std::byte* top = picture.data + first_y * picture.row + first_x;
  const std::byte* from = top + lane_index() * LaneBytes;
  std::uint32_t extra = 0;  // in lane r: the word after those of the 32 lanes in row r
  // Not written as min(existing rows, Rows) == Rows: ptxas of CUDA 13.0 miscompiles the predicate of its
  // fused minimum and maximum.
  if (first_y + Rows <= picture.height && first_x + warp_bytes + margin <= picture.bytes) {
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      words[r] = load_word<word_bytes>(aligned_down<Aligned>(from + r * picture.row));
    if (!Aligned && lane_index() < Rows) {
      const std::byte* next = top + lane_index() * picture.row + warp_bytes;
      if (behind_word<Aligned>(next) != 0) extra = load_word<word_bytes>(aligned_down<Aligned>(next));
    }
  } else {
    load_rows_at_edge<Aligned, LaneBytes>(picture, first_x, first_y, words, extra);
  }
  if constexpr (!Aligned) {
    const auto first_bit = 8 * static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from));
    const auto bits_of_row = 8 * static_cast<unsigned>(picture.row);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const std::uint32_t behind_row = __shfl_sync(whole_warp, extra, r);
      const std::uint32_t right = __shfl_down_sync(whole_warp, words[r], 1);
      const unsigned shift = first_bit + r % 4 * bits_of_row;  // modulo 32: alignment repeats every 4 rows
      words[r] = __funnelshift_r(words[r], lane_index() == warp_size - 1 ? behind_row : right, shift);
      if constexpr (LaneBytes == 2) words[r] &= 0xFFFF;
    }
  }
}

// --- Sums ---

/// Stores by one streaming access.
template <class Sum, int N>
__device__ void store(Sum* to, const Vector<Sum, N>& sums) {
  if constexpr (sizeof sums == 16) {
    __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&sums));
  } else {
    __stcs(reinterpret_cast<uint2*>(to), *reinterpret_cast<const uint2*>(&sums));
  }
}

/// Returns the index of an address modulo N, in sums.
template <int N, class Sum>
__device__ int sums_behind(const Sum* address) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) / sizeof(Sum) % N);
}

/// Stores a whole row of a warp. `to`, the address of the lane's sums, is `behind` sums after a multiple of
/// N. Each lane stores the aligned word that begins with the last sums of the lane to its left; the outermost
/// lanes store the rest. Has no branches where `behind` is a constant.
template <class Sum, int N>
__device__ void store_row(const Vector<Sum, N>& sums, Sum* to, int behind) {
  if (behind == 0) return store(to, sums);
  Vector<Sum, N> word;
#pragma unroll
  for (int i = 0; i < N; ++i)
    word.of[i] = i < behind ? __shfl_up_sync(whole_warp, sums.of[N - behind + i], 1) : sums.of[i - behind];
  const bool first = lane_index() == 0;
  const bool last = lane_index() == warp_size - 1;
  if (!first) store(to - behind, word);
  if constexpr (N == 2) {
    if (first) __stcs(to, sums.of[0]);
    if (last) __stcs(to + 1, sums.of[1]);
  } else {
    const Vector<Sum, 2> middle{{sums.of[1], sums.of[2]}};
    if (behind == 2) {
      if (first) store(to, Vector<Sum, 2>{{sums.of[0], sums.of[1]}});
      if (last) store(to + 2, Vector<Sum, 2>{{sums.of[2], sums.of[3]}});
    } else {
      if (first) __stcs(to, sums.of[0]);
      if (behind == 1 ? first : last) store(to + 1, middle);
      if (last) __stcs(to + 3, sums.of[3]);
    }
  }
}

template <class Sum, int N>
__device__ void store_row(const Vector<Sum, N>& sums, Sum* to) {
  const int behind = sums_behind<N>(to);  // uniform over the warp
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (behind == i) return store_row(sums, to, i);
}

template <class Sum, int N>
__device__ void store_row_at_edge(const Vector<Sum, N>& sums, Sum* to, int valid) {
  if (valid >= N && sums_behind<N>(to) == 0) return store(to, sums);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < valid) __stcs(to + i, sums.of[i]);
}

}  // namespace satin::kernels
