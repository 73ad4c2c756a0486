#pragma once
// Sums of columns of bytes over a window of rows, two 16-bit sums a word: a row enters, a row leaves.

#include <cstdint>

#include "kernels/means/packed_part.cuh"

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

template <int Words>
__device__ void load_words(const std::uint32_t* from, std::uint32_t (&words)[Words]) {
  static_assert(Words % 4 == 0);
#pragma unroll
  for (int i = 0; i < Words; i += 4) {
    const uint4 v = *reinterpret_cast<const uint4*>(from + i);
    words[i] = v.x;
    words[i + 1] = v.y;
    words[i + 2] = v.z;
    words[i + 3] = v.w;
  }
}

/// Rows of the picture at a warp's lanes. `Plain`: every lane has all its pixels inside of the picture or
/// none that counts, and rows are aligned.
template <int Channels, bool Plain>
class PackedReader {
 public:
  using Shape = PackedShape<Channels>;
  using Rows = typename Shape::Rows;
  using Words = typename Rows::Words;

  __device__ PackedReader(const PackedMeanArguments& arguments, const PackedPart& part)
      : arguments_(arguments),
        part_(part),
        x_(part.origin + lane_index() * Shape::pixels),
        end_(min(part.last_needed + 1, arguments.job.width)) {}

  [[nodiscard]] __device__ static bool serves(const PackedMeanArguments& arguments, const PackedPart& part) {
    const PackedMeanJob& job = arguments.job;
    constexpr std::uintptr_t mask = Rows::access - 1;
    const auto row = static_cast<std::uintptr_t>(arguments.source.row);
    if (((reinterpret_cast<std::uintptr_t>(arguments.source.data) | row) & mask) != 0) return false;
    if (arguments.source.row != static_cast<int>(arguments.source.row)) return false;
    const int last = job.clipped ? min(part.last_needed, job.width - 1) : part.last_needed;
    return (job.clipped || part.origin >= 0) && (last / Shape::pixels + 1) * Shape::pixels <= job.width;
  }

  /// Goes to a span. True if the lane's pixels there count.
  __device__ bool move_to(int span) {
    const int x = x_ + span * Shape::span_pixels;
    if constexpr (!Plain) {
      span_x_ = x;
      return true;
    }
    const bool counts = x >= 0 && x < end_;
    base_ = counts ? arguments_.source.data + x * Channels : static_cast<const std::byte*>(arguments_.zeros);
    stride_ = counts ? static_cast<int>(arguments_.source.row) : 0;
    return counts;
  }

  /// A row of the picture, zeros if it is negative.
  __device__ void load(int row, Words& loaded) const {
    if constexpr (Plain) {
      if (row < 0) {
        loaded = {};
        return;
      }
      const std::byte* from = base_ + static_cast<std::int64_t>(row) * stride_;
#pragma unroll
      for (int i = 0; i < Rows::bytes; i += Rows::access) fetch<Rows::access>(loaded.words, i, from + i);
    } else {
      const Rows rows(arguments_.source, span_x_, part_.last_needed, arguments_.job.width,
                      arguments_.job.clipped, arguments_.columns);
      rows.load(row, loaded);
    }
  }

 private:
  const PackedMeanArguments& arguments_;
  const PackedPart& part_;
  int x_;    ///< of the lane's first pixel in the first span
  int end_;  ///< of the pixels of the picture that count
  int span_x_ = 0;
  const std::byte* base_ = nullptr;
  int stride_ = 0;
};

/// One lane's columns of one span. Sums may overflow into their neighbour on the way, and differences
/// borrow from it: words are integers modulo 2^32, and the sums over one window fit 16 bits.
template <int Channels>
struct PackedColumns {
  using Shape = PackedShape<Channels>;
  using Words = typename Shape::Rows::Words;

  std::uint32_t sums[Shape::pairs];

  __device__ void clear() {
#pragma unroll
    for (std::uint32_t& sum : sums) sum = 0;
  }

  /// sums += a + Sign b.
  template <int Sign>
  __device__ void add(const Words& a, const Words& b) {
    constexpr auto sign = static_cast<std::uint32_t>(Sign);
#pragma unroll
    for (int i = 0; i < Shape::pairs / 2; ++i) {
      sums[2 * i] += low_pair(a.words[i]) + sign * low_pair(b.words[i]);
      sums[2 * i + 1] += high_pair(a.words[i]) + sign * high_pair(b.words[i]);
    }
  }

  /// Rows [first, end) of a list.
  template <class Reader>
  __device__ void add_rows(const Reader& reader, const int* rows, int first, int end) {
    constexpr int batch = packed_tuning::rows_in_flight;
    int i = first;
#pragma unroll 1
    for (; i + batch <= end; i += batch) add_batch<batch, true>(reader, rows, i, end);
#pragma unroll 1
    for (; i < end; i += batch / 2) add_batch<batch / 2, false>(reader, rows, i, end);
  }

  /// Rows [first + distance, end + distance) of a list, less rows [first, end).
  template <class Reader>
  __device__ void add_differences(const Reader& reader, const int* rows, int first, int end, int distance) {
    constexpr int batch = packed_tuning::rows_in_flight / 2;
    if (end - first <= batch / 2) return advance_batch<batch / 2>(reader, rows, first, end, distance);
#pragma unroll 1
    for (int i = first; i < end; i += batch) advance_batch<batch>(reader, rows, i, end, distance);
  }

 private:
  /// `Batch` rows, or unless they are `Whole` those before `end`; all are loaded before the first is added.
  template <int Batch, bool Whole, class Reader>
  __device__ void add_batch(const Reader& reader, const int* rows, int i, int end) {
    Words words[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) reader.load(Whole || i + k < end ? rows[i + k] : -1, words[k]);
#pragma unroll
    for (int k = 0; k < Batch; k += 2) add<1>(words[k], words[k + 1]);
  }

  template <int Batch, class Reader>
  __device__ void advance_batch(const Reader& reader, const int* rows, int i, int end, int distance) {
    Words enters[Batch];
    Words leaves[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const bool exists = i + k < end;
      reader.load(exists ? rows[i + k + distance] : -1, enters[k]);
      reader.load(exists ? rows[i + k] : -1, leaves[k]);
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) add<-1>(enters[k], leaves[k]);
  }
};

}  // namespace satin::kernels
