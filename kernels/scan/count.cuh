#pragma once
// Counting into bins: every block counts in its shared memory, in several copies while they are small, and
// adds what it found to the totals at its end. Too many bins for that are counted in global memory.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/vectors.cuh"

namespace satin::kernels {

inline constexpr int count_threads = 256;
inline constexpr int count_loads = 2;  ///< vectors in flight a thread
inline constexpr int count_blocks_per_multiprocessor = 7;
inline constexpr std::int64_t most_shared_bins = 8192;  ///< 32 KB
static_assert(most_counted_keys <= most_shared_bins);

/// Totals of 32 or 64 bits; one of the pointers is null.
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

/// Joins equal bins that follow one another in one thread, so that a constant array is no queue of atomics.
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

/// `slot_of(value, skipped)` is where a value is counted, unless it sets `skipped`; `bin_of_slot(slot)` is
/// the slot's bin in the totals. Each copy has `slots` counters of 32 bits: a block sees fewer than 2^32
/// values while there are fewer than 2^32 * gridDim.x, and the grid is a full card from 2^20 values on.
template <class T, class SlotOf, class BinOfSlot>
__global__ void __launch_bounds__(count_threads)
    count_shared(const Vectors<T> vectors, SlotOf slot_of, BinOfSlot bin_of_slot, std::uint32_t slots,
                 std::uint32_t copies, Totals totals) {
  extern __shared__ std::uint32_t counters[];
  for (std::uint32_t i = threadIdx.x; i < slots * copies; i += count_threads) counters[i] = 0;
  __syncthreads();
  std::uint32_t* own = counters + threadIdx.x / warp_size % copies * slots;
  const auto add = [&](std::uint32_t slot, std::uint32_t number) { atomicAdd(own + slot, number); };
  Runs runs(add);
  for_each_element<count_loads>(vectors, [&](T value) {
    bool skipped = false;
    const std::uint32_t slot = slot_of(value, skipped);
    if (!skipped) runs.include(slot);
  });
  runs.finish();
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
  const auto add = [&](std::uint32_t slot, std::uint32_t number) { totals.add(slot, number); };
  Runs runs(add);
  for_each_element<count_loads>(vectors, [&](T value) {
    bool skipped = false;
    const std::uint32_t slot = slot_of(value, skipped);
    if (!skipped) runs.include(slot);
  });
  runs.finish();
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

}  // namespace satin::kernels
