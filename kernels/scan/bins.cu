// What a sort by bins needs: the bin of each value, indices, and counts of what has been sorted.

#include <cstdint>

#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "scan/maths/bin.h"

namespace satin::kernels {
namespace {

constexpr int threads = 256;

template <class T, class Bin>
__global__ void __launch_bounds__(threads)
    write_bins(const T* values, Bin* bins, const BinRule rule, std::int64_t n) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step)
    bins[i] = static_cast<Bin>(bin_of(static_cast<double>(values[i]), rule));
}

/// How many of the ascending keys are below `key`.
template <class Key>
__device__ std::int64_t keys_below(const Key* keys, std::int64_t n, std::int64_t key) {
  std::int64_t first = 0;
  std::int64_t last = n;
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (static_cast<std::int64_t>(keys[middle]) < key)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

template <class Key, class Count>
__global__ void __launch_bounds__(threads)
    count_sorted(const Key* keys, std::int64_t n, Count* counts, std::int64_t bins) {
  const GridStride range;
  for (std::int64_t bin = range.first; bin < bins; bin += range.step)
    counts[bin] = static_cast<Count>(keys_below(keys, n, bin + 1) - keys_below(keys, n, bin));
}

template <class Index>
__global__ void __launch_bounds__(threads) write_ascending(Index* indices, std::int64_t n) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step) indices[i] = static_cast<Index>(i);
}

template <class Word, class Index>
__global__ void __launch_bounds__(threads)
    gather_words(const Word* values, const Index* indices, Word* result, std::int64_t n) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step) result[i] = values[indices[i]];
}

}  // namespace

void bin_indices(ArrayView values, const BinRule& rule, MutableArrayView bins, StreamHandle stream) {
  const unsigned blocks = blocks_of(values.size, threads);
  with_type(values.type, [&]<class T>() {
    if (bins.type == Type::u8)
      write_bins<<<blocks, threads, 0, stream>>>(values.values<T>(), bins.values<std::uint8_t>(), rule,
                                                 values.size);
    else
      write_bins<<<blocks, threads, 0, stream>>>(values.values<T>(), bins.values<std::uint16_t>(), rule,
                                                 values.size);
    return 0;
  });
}

void counts_of_sorted(ArrayView keys, MutableArrayView counts, StreamHandle stream) {
  const unsigned blocks = blocks_of(counts.size, threads);
  with_word(counts.type, [&]<class Count>() {
    if (keys.type == Type::u8)
      count_sorted<<<blocks, threads, 0, stream>>>(keys.values<std::uint8_t>(), keys.size,
                                                   counts.values<Count>(), counts.size);
    else
      count_sorted<<<blocks, threads, 0, stream>>>(keys.values<std::uint16_t>(), keys.size,
                                                   counts.values<Count>(), counts.size);
    return 0;
  });
}

void write_indices(MutableArrayView indices, StreamHandle stream) {
  with_word(indices.type, [&]<class Index>() {
    write_ascending<<<blocks_of(indices.size, threads), threads, 0, stream>>>(indices.values<Index>(),
                                                                              indices.size);
    return 0;
  });
}

void gather(ArrayView values, ArrayView indices, MutableArrayView result, StreamHandle stream) {
  const unsigned blocks = blocks_of(indices.size, threads);
  with_word(values.type, [&]<class Word>() {
    if (indices.type == Type::u32)
      gather_words<<<blocks, threads, 0, stream>>>(values.values<Word>(), indices.values<std::uint32_t>(),
                                                   result.values<Word>(), indices.size);
    else
      gather_words<<<blocks, threads, 0, stream>>>(values.values<Word>(), indices.values<std::uint64_t>(),
                                                   result.values<Word>(), indices.size);
    return 0;
  });
}

}  // namespace satin::kernels
