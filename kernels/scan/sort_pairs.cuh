#pragma once
// Radix sort of pairs by CUB. Values move as words of their size.

#include <cub/device/device_radix_sort.cuh>

#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"

namespace satin::kernels {

template <class Key>
int sort_pairs_of(Space& space, const SortArrays& arrays, int end_bit, StreamHandle stream) {
  return with_word(arrays.values.type, [&]<class Word>() {
    return static_cast<int>(cub::DeviceRadixSort::SortPairs(
        space.memory, space.bytes, arrays.keys.values<Key>(), arrays.sorted_keys.values<Key>(),
        arrays.values.values<Word>(), arrays.sorted_values.values<Word>(), arrays.keys.size, 0, end_bit,
        stream));
  });
}

}  // namespace satin::kernels
