// Histograms, and what sorts by counts and by bins need besides the sort itself.
//
// Every block counts in its shared memory, in several copies while they are small, and adds its counts to the
// totals at the end. Bins that do not fit shared memory are counted by atomics in global memory. Additions
// modulo 2^n give the same counts in every order.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "scan/maths/bin.h"

namespace satin::kernels {
namespace {

// --- Counting ---

inline constexpr int count_threads = 256;
inline constexpr int count_loads = 2;  ///< vectors in flight per thread
inline constexpr int count_blocks_per_multiprocessor = 7;
inline constexpr std::int64_t most_shared_bins = 8192;  ///< 32 KB

/// Totals of 32 or 64 bits. One of the pointers is null.
struct Totals {
  std::uint32_t* narrow;
  std::uint64_t* wide;

  __device__ void add(std::uint32_t bin, std::uint32_t number) const {
    if (narrow != nullptr)
      atomicAdd(narrow + bin, number);
    else
      atomicAdd(reinterpret_cast<unsigned long long*>(wide) + bin, static_cast<unsigned long long>(number));
  }
};

inline Totals totals_of(const MutableArrayView& counts) {
  if (counts.type == Type::u32) return {counts.values<std::uint32_t>(), nullptr};
  return {nullptr, counts.values<std::uint64_t>()};
}

/// Joins runs of equal bins in one thread, so that a constant array does not serialize on one counter.
template <class Add>
class Runs {
 public:
  __device__ explicit Runs(const Add& add) : add_(add) {}
  __device__ void include(std::uint32_t bin) {
    if (bin == bin_) {
      ++length_;
      return;
    }
    finish();
    bin_ = bin;
    length_ = 1;
  }
  __device__ void finish() {
    if (length_ > 0) add_(bin_, length_);
  }

 private:
  const Add& add_;
  std::uint32_t bin_ = 0;
  std::uint32_t length_ = 0;
};

/// Calls add(slot, number) for runs of values with one slot.
template <class T, class SlotOf, class Add>
__device__ void add_runs(const Vectors<T>& vectors, const SlotOf& slot_of, const Add& add) {
  Runs runs(add);
  for_each_element<count_loads>(vectors, [&](T value) { runs.include(slot_of(value)); });
  runs.finish();
}

/// Counts in shared memory. `slot_of(value)` returns the counter of a value, and `bin_of_slot(slot)` the bin
/// to which a counter is added. Counters have 32 bits: a block sees fewer than 2^32 values as long as there
/// are fewer than 2^32 * gridDim.x, and the grid fills the card from 2^20 values on.
template <class T, class SlotOf, class BinOfSlot>
__global__ void __launch_bounds__(count_threads)
    count_shared(const Vectors<T> vectors, SlotOf slot_of, BinOfSlot bin_of_slot, std::uint32_t slots,
                 std::uint32_t copies, Totals totals) {
  extern __shared__ std::uint32_t counters[];
  for (std::uint32_t i = threadIdx.x; i < slots * copies; i += count_threads) counters[i] = 0;
  __syncthreads();
  std::uint32_t* own = counters + threadIdx.x / warp_size % copies * slots;
  add_runs(vectors, slot_of,
           [&](std::uint32_t slot, std::uint32_t number) { atomicAdd(own + slot, number); });
  __syncthreads();
  for (std::uint32_t slot = threadIdx.x; slot < slots; slot += count_threads) {
    std::uint32_t number = 0;
    for (std::uint32_t copy = 0; copy < copies; ++copy) number += counters[copy * slots + slot];
    if (number > 0) totals.add(bin_of_slot(slot), number);
  }
}

template <class T, class SlotOf>
__global__ void __launch_bounds__(count_threads)
    count_global(const Vectors<T> vectors, SlotOf slot_of, Totals totals) {
  add_runs(vectors, slot_of, [&](std::uint32_t slot, std::uint32_t number) { totals.add(slot, number); });
}

struct SameBin {
  __device__ std::uint32_t operator()(std::uint32_t slot) const { return slot; }
};

template <class T, class SlotOf, class BinOfSlot = SameBin>
void count(const Vectors<T>& vectors, SlotOf slot_of, std::int64_t slots, Totals totals, int multiprocessors,
           StreamHandle stream, BinOfSlot bin_of_slot = {}) {
  const unsigned blocks = blocks_over(vectors, count_threads, count_loads,
                                      std::int64_t{count_blocks_per_multiprocessor} * multiprocessors);
  if (slots > most_shared_bins) {
    count_global<<<blocks, count_threads, 0, stream>>>(vectors, slot_of, totals);
    return;
  }
  constexpr std::int64_t warps = count_threads / warp_size;
  const std::int64_t copies = most_shared_bins / slots < warps ? most_shared_bins / slots : warps;
  count_shared<<<blocks, count_threads, static_cast<std::size_t>(slots * copies) * sizeof(std::uint32_t),
                 stream>>>(vectors, slot_of, bin_of_slot, static_cast<std::uint32_t>(slots),
                           static_cast<std::uint32_t>(copies), totals);
}

template <class T>
__global__ void __launch_bounds__(count_threads)
    find_invalid(const Vectors<T> vectors, std::int64_t range, std::int64_t* invalid) {
  bool found = false;
  for_each_element<count_loads>(vectors,
                                [&](T key) { found = found || static_cast<std::int64_t>(key) >= range; });
  if (found) *invalid = 1;
}

template <class Function>
void with_key(Type type, Function function) {
  if (type == Type::u8) return function.template operator()<std::uint8_t>();
  if (type == Type::u16) return function.template operator()<std::uint16_t>();
  function.template operator()<std::uint32_t>();
}

}  // namespace

void check_keys(ArrayView keys, std::int64_t range, std::int64_t* invalid, int multiprocessors,
                StreamHandle stream) {
  with_key(keys.type, [&]<class T>() {
    const Vectors<T> vectors(keys.values<T>(), keys.size);
    const unsigned blocks = blocks_over(vectors, count_threads, count_loads,
                                        std::int64_t{count_blocks_per_multiprocessor} * multiprocessors);
    find_invalid<<<blocks, count_threads, 0, stream>>>(vectors, range, invalid);
  });
}

namespace {

// --- Histograms. Bytes are counted as they are and their 256 counts are put into bins afterwards, so that no
// bin is computed for a pixel.

struct ByteSlot {
  __device__ std::uint32_t operator()(std::uint8_t value) const { return value; }
};

struct BinOfByte {
  BinRule rule;
  __device__ std::uint32_t operator()(std::uint32_t byte) const {
    return bin_of(static_cast<double>(byte), rule);
  }
};

template <class T>
struct BinSlot {
  BinRule rule;
  __device__ std::uint32_t operator()(T value) const { return bin_of(static_cast<double>(value), rule); }
};

}  // namespace

void histogram(ArrayView values, const BinRule& rule, MutableArrayView counts, int multiprocessors,
               StreamHandle stream) {
  const Totals totals = totals_of(counts);
  with_type(values.type, [&]<class T>() {
    const Vectors<T> vectors(values.values<T>(), values.size);
    if constexpr (sizeof(T) == 1)
      count(vectors, ByteSlot(), 256, totals, multiprocessors, stream, BinOfByte{rule});
    else
      count(vectors, BinSlot<T>{rule}, std::int64_t{rule.count}, totals, multiprocessors, stream);
  });
}

namespace {

constexpr int threads = 256;

template <class T, class Bin>
__global__ void __launch_bounds__(threads)
    write_bins(const T* values, Bin* bins, const BinRule rule, std::int64_t n) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step)
    bins[i] = static_cast<Bin>(bin_of(static_cast<double>(values[i]), rule));
}

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
  });
}

void write_indices(MutableArrayView indices, StreamHandle stream) {
  with_word(indices.type, [&]<class Index>() {
    write_ascending<<<blocks_of(indices.size, threads), threads, 0, stream>>>(indices.values<Index>(),
                                                                              indices.size);
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
  });
}

}  // namespace satin::kernels
