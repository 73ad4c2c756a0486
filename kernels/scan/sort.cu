// Radix sort of keys by CUB. CUB sorts floats by their bits, with -0 equal to +0. NaN would come first or
// last by their sign, in the order of their payloads, so all of them become one key before.

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <type_traits>

#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "scan/maths/sort_key.h"

namespace satin::kernels {

// Defined in sort_pairs.cuh and instantiated by the build, in a source for each pair of key types.
template <class Key>
int sort_pairs_of(Space& space, const SortArrays& arrays, int end_bit, StreamHandle stream);

namespace {

constexpr int threads = 256;

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

}  // namespace satin::kernels
