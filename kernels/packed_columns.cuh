#pragma once
// Sums of columns of bytes over a window of rows, two 16-bit sums a word: a row enters, a row leaves.

#include <cstdint>

#include "kernels/packed_part.cuh"

namespace satin::kernels {

/// Bytes 0 and 1, or 2 and 3, of a word as two 16-bit numbers.
__device__ inline std::uint32_t low_pair(std::uint32_t word) { return __byte_perm(word, 0, 0x4140); }
__device__ inline std::uint32_t high_pair(std::uint32_t word) { return __byte_perm(word, 0, 0x4342); }

template <int Words>
__device__ void store_words(std::uint32_t* to, const std::uint32_t (&words)[Words]) {
  static_assert(Words % 4 == 0);
#pragma unroll
  for (int i = 0; i < Words; i += 4)
    *reinterpret_cast<uint4*>(to + i) = make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
}

/// Row of the picture at a position of its extension; -1 where there is none.
__device__ inline int packed_row_at(const PackedMeanArguments& arguments, int position) {
  const bool inside = static_cast<unsigned>(position) < static_cast<unsigned>(arguments.job.height);
  return inside ? position : __ldg(arguments.rows + position);
}

/// `Plain`: every lane of the block has all its pixels inside of the picture, or none, and rows are aligned.
template <bool Plain, class Rows>
__device__ void load_row(const Rows& reader, int row, typename Rows::Words& loaded) {
  if constexpr (!Plain) return reader.load(row, loaded);
  loaded = {};
  if (row < 0 || reader.place != Rows::Place::inside) return;
  const std::byte* from = reader.data + row * reader.row + reader.offset;
#pragma unroll
  for (int i = 0; i < Rows::bytes; i += Rows::access) fetch<Rows::access>(loaded.words, i, from + i);
}

/// One lane's columns of one segment. Sums may overflow into their neighbour on the way, and differences
/// borrow from it: words are integers modulo 2^32, and the sums over one window fit 16 bits.
template <int Channels>
class PackedColumns {
 public:
  using Shape = PackedShape<Channels>;
  using Rows = typename Shape::Rows;
  using Words = typename Rows::Words;

  std::uint32_t sums[Shape::pairs];

  __device__ void clear() {
#pragma unroll
    for (std::uint32_t& sum : sums) sum = 0;
  }

  __device__ void add(const Words& a, const Words& b) {
#pragma unroll
    for (int i = 0; i < Rows::word_count; ++i) {
      sums[2 * i] += low_pair(a.words[i]) + low_pair(b.words[i]);
      sums[2 * i + 1] += high_pair(a.words[i]) + high_pair(b.words[i]);
    }
  }

  __device__ void advance(const Words& enters, const Words& leaves) {
#pragma unroll
    for (int i = 0; i < Rows::word_count; ++i) {
      sums[2 * i] += low_pair(enters.words[i]) - low_pair(leaves.words[i]);
      sums[2 * i + 1] += high_pair(enters.words[i]) - high_pair(leaves.words[i]);
    }
  }

  /// Rows at positions [first, end).
  template <bool Plain>
  __device__ void add_rows(const Rows& reader, const PackedMeanArguments& arguments, int first, int end) {
    constexpr int batch = 4;
#pragma unroll 1
    for (int y = first; y < end; y += batch) {
      Words words[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        load_row<Plain>(reader, y + i < end ? packed_row_at(arguments, y + i) : -1, words[i]);
#pragma unroll
      for (int i = 0; i < batch; i += 2) add(words[i], words[i + 1]);
    }
  }

  /// Sums of `count` groups, a row of sums apart.
  __device__ void add_groups(const std::uint32_t* groups, int count) {
#pragma unroll 2
    for (int g = 0; g < count; ++g) {
#pragma unroll
      for (int i = 0; i < Shape::pairs; i += 4) {
        const uint4 v = *reinterpret_cast<const uint4*>(groups + g * Shape::row_words + i);
        sums[i] += v.x;
        sums[i + 1] += v.y;
        sums[i + 2] += v.z;
        sums[i + 3] += v.w;
      }
    }
  }
};

}  // namespace satin::kernels
