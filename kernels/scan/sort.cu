// Radix sort of keys by CUB, and the treatment of NaN around it. CUB sorts floats by their bits, with -0
// equal to +0: NaN would come first or last by their sign, in the order of their payloads.

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <type_traits>

#include "kernels/device/warp.cuh"
#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "scan/maths/sort_key.h"

namespace satin::kernels {

// Defined in sort_pairs.cuh and instantiated by the build, in a source for each pair of key types.
template <class Key>
int sort_pairs_of(Space& space, const SortArrays& arrays, int end_bit, StreamHandle stream);

namespace {

constexpr int threads = 256;
constexpr std::int64_t most_blocks = 1024;  ///< few, since there is mostly no NaN to move

template <class Function>
int with_key(Type type, const Function& function) {
  return with_type(type, [&]<class Key>() -> int {
    if constexpr (std::is_same_v<Key, double>)
      return cudaErrorInvalidValue;
    else
      return function.template operator()<Key>();
  });
}

__global__ void __launch_bounds__(threads)
    copy_canonical(const std::uint32_t* keys, std::uint32_t* result, std::int64_t n) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step) result[i] = canonical_float_bits(keys[i]);
}

struct NegativeNan {
  __device__ bool operator()(std::uint32_t bits) const { return bits > 0xFF800000U; }
};
struct NoPositiveNan {
  __device__ bool operator()(std::uint32_t bits) const { return bits <= 0x7F800000U || bits >= 0x80000000U; }
};

/// Returns the length of the prefix that satisfies a predicate, which no value after it satisfies. One warp
/// searches, 32 positions at a time.
template <class Predicate>
__device__ std::int64_t length_of_prefix(const std::uint32_t* values, std::int64_t n, Predicate predicate) {
  std::int64_t first = 0;
  std::int64_t last = n;
  while (first < last) {
    const std::int64_t step = (last - first + warp_size - 1) / warp_size;
    const std::int64_t position = first + lane_index() * step;
    const bool holds = position < last && predicate(values[position]);
    const std::int64_t true_positions = __popc(__ballot_sync(whole_warp, holds));
    if (true_positions == 0) break;
    const std::int64_t next = first + true_positions * step;
    first = next - step + 1;
    last = next < last ? next : last;
  }
  return first;
}

__global__ void __launch_bounds__(2 * warp_size)
    find_numbers(const std::uint32_t* sorted, std::int64_t n, std::int64_t* range) {
  const bool begin = threadIdx.x < warp_size;
  const std::int64_t position =
      begin ? length_of_prefix(sorted, n, NegativeNan()) : length_of_prefix(sorted, n, NoPositiveNan());
  if (lane_index() == 0) range[begin ? 0 : 1] = position;
}

__global__ void __launch_bounds__(threads)
    copy_numbers(const std::uint32_t* sorted, std::uint32_t* numbers, const std::int64_t* range) {
  const std::int64_t begin = range[0];
  if (begin == 0) return;
  const std::int64_t count = range[1] - begin;
  const GridStride stride;
  for (std::int64_t i = stride.first; i < count; i += stride.step) numbers[i] = sorted[begin + i];
}

__global__ void __launch_bounds__(threads)
    write_numbers_and_nan(std::uint32_t* sorted, const std::uint32_t* numbers, std::int64_t n,
                          const std::int64_t* range) {
  const std::int64_t count = range[1] - range[0];
  const std::int64_t unchanged = range[0] == 0 ? count : 0;
  const GridStride stride;
  for (std::int64_t i = unchanged + stride.first; i < n; i += stride.step)
    sorted[i] = i < count ? numbers[i] : quiet_nan_bits;
}

}  // namespace

int sort_keys(Space& space, ArrayView keys, MutableArrayView sorted, int end_bit, StreamHandle stream) {
  return with_key(keys.type, [&]<class Key>() {
    return static_cast<int>(cub::DeviceRadixSort::SortKeys(
        space.memory, space.bytes, keys.values<Key>(), sorted.values<Key>(), keys.size, 0, end_bit, stream));
  });
}

int sort_pairs(Space& space, const SortArrays& arrays, int end_bit, StreamHandle stream) {
  return with_key(arrays.keys.type,
                  [&]<class Key>() { return sort_pairs_of<Key>(space, arrays, end_bit, stream); });
}

void canonical_floats(ArrayView keys, MutableArrayView result, StreamHandle stream) {
  copy_canonical<<<blocks_of(keys.size, threads), threads, 0, stream>>>(
      keys.values<std::uint32_t>(), result.values<std::uint32_t>(), keys.size);
}

void gather_nan(MutableArrayView sorted, std::int64_t* range, void* space, StreamHandle stream) {
  auto* values = sorted.values<std::uint32_t>();
  auto* numbers = static_cast<std::uint32_t*>(space);
  const std::int64_t wanted = (sorted.size + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  find_numbers<<<1, 2 * warp_size, 0, stream>>>(values, sorted.size, range);
  copy_numbers<<<blocks, threads, 0, stream>>>(values, numbers, range);
  write_numbers_and_nan<<<blocks, threads, 0, stream>>>(values, numbers, sorted.size, range);
}

}  // namespace satin::kernels
