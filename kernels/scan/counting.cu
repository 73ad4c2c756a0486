// Counting sort of keys alone: counts, their scan, and each key written as often as it was counted.

#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "kernels/scan/count.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"

namespace satin::kernels {
namespace {

constexpr int offset_threads = 1024;
constexpr int write_threads = 256;
constexpr int keys_per_thread = 16;

template <class T>
struct KeySlot {
  std::int64_t range;
  std::int64_t* invalid;
  __device__ std::uint32_t operator()(T key, bool& skipped) const {
    skipped = static_cast<std::int64_t>(key) >= range;
    if (skipped) *invalid = 1;
    return static_cast<std::uint32_t>(key);
  }
};

template <class T>
__global__ void __launch_bounds__(count_threads)
    find_invalid(const Vectors<T> vectors, std::int64_t range, std::int64_t* invalid) {
  bool found = false;
  for_each_element<count_loads>(vectors,
                                [&](T key) { found = found || static_cast<std::int64_t>(key) >= range; });
  if (found) *invalid = 1;
}

/// The exclusive scan of range + 1 counts, in place, by one block.
__global__ void __launch_bounds__(offset_threads) scan_counts(std::uint64_t* counts, std::int64_t range) {
  using Scan = cub::BlockScan<std::uint64_t, offset_threads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint64_t before = 0;
  for (std::int64_t first = 0; first <= range; first += offset_threads) {
    const std::int64_t i = first + threadIdx.x;
    const std::uint64_t count = i < range ? counts[i] : 0;
    std::uint64_t offset = 0;
    std::uint64_t sum = 0;
    Scan(storage).ExclusiveSum(count, offset, sum);
    if (i <= range) counts[i] = before + offset;
    before += sum;
    __syncthreads();
  }
}

/// The largest key of first ... last whose offset is at most `place`: offsets ascend.
__device__ std::int64_t key_at(const std::uint64_t* offsets, std::int64_t first, std::int64_t last,
                               std::uint64_t place) {
  while (first < last) {
    const std::int64_t middle = last - (last - first) / 2;
    if (offsets[middle] <= place)
      first = middle;
    else
      last = middle - 1;
  }
  return first;
}

/// A block writes a tile of write_threads * keys_per_thread keys, neighbouring threads neighbouring keys.
template <class T>
__global__ void __launch_bounds__(write_threads)
    write_keys(T* result, std::int64_t n, std::int64_t range, const std::uint64_t* offsets) {
  constexpr std::int64_t tile = std::int64_t{write_threads} * keys_per_thread;
  __shared__ std::int64_t ends[2];
  const std::int64_t first = blockIdx.x * tile;
  const std::int64_t last = (first + tile < n ? first + tile : n) - 1;
  if (threadIdx.x < 2)
    ends[threadIdx.x] =
        key_at(offsets, 0, range - 1, static_cast<std::uint64_t>(threadIdx.x == 0 ? first : last));
  __syncthreads();
  for (std::int64_t i = first + threadIdx.x; i <= last; i += write_threads)
    result[i] = static_cast<T>(key_at(offsets, ends[0], ends[1], static_cast<std::uint64_t>(i)));
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

void count_keys(ArrayView keys, std::int64_t range, std::uint64_t* offsets, std::int64_t* invalid,
                int multiprocessors, StreamHandle stream) {
  with_key(keys.type, [&]<class T>() {
    count(Vectors<T>(keys.values<T>(), keys.size), KeySlot<T>{range, invalid}, range,
          Totals{nullptr, offsets}, multiprocessors, stream);
  });
  scan_counts<<<1, offset_threads, 0, stream>>>(offsets, range);
}

void write_counted(MutableArrayView result, std::int64_t range, const std::uint64_t* offsets,
                   StreamHandle stream) {
  constexpr std::int64_t tile = std::int64_t{write_threads} * keys_per_thread;
  const auto blocks = static_cast<unsigned>((result.size + tile - 1) / tile);
  with_key(result.type, [&]<class T>() {
    write_keys<<<blocks, write_threads, 0, stream>>>(result.values<T>(), result.size, range, offsets);
  });
}

}  // namespace satin::kernels
