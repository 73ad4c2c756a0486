// Stable partition: CUB writes the values that are not selected from the end backwards; they are reversed.

#include <cstdint>

#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "satin/cuda/fused.cuh"

namespace satin::kernels {
namespace {

constexpr int reverse_threads = 256;

template <class Word>
__global__ void __launch_bounds__(reverse_threads)
    reverse_from(Word* values, std::int64_t n, const std::int64_t* count) {
  Word* first = values + *count;
  const std::int64_t length = n - *count;
  const GridStride range;
  for (std::int64_t i = range.first; i < length / 2; i += range.step) {
    const Word low = first[i];
    const Word high = first[length - 1 - i];
    first[i] = high;
    first[length - 1 - i] = low;
  }
}

}  // namespace

int partition_in(Space& space, ArrayView values, const Interval& interval, MutableArrayView result,
                 std::int64_t* count, StreamHandle stream) {
  return with_interval(values.type, interval, [&]<class Word>(auto in_interval) {
    gpu::Workspace workspace{space.memory, space.bytes};
    const int status = gpu::predicate_pass<true>(workspace, values.values<Word>(), result.values<Word>(),
                                                 count, in_interval, values.size, stream);
    space.bytes = workspace.bytes;
    return status;
  });
}

int partition_by_mask(Space& space, ArrayView values, ArrayView mask, MutableArrayView result,
                      std::int64_t* count, StreamHandle stream) {
  return with_word(values.type, [&]<class Word>() {
    gpu::Workspace workspace{space.memory, space.bytes};
    const int status = gpu::flagged_pass<true>(workspace, values.values<Word>(), mask.values<std::uint8_t>(),
                                               result.values<Word>(), count, values.size, stream);
    space.bytes = workspace.bytes;
    return status;
  });
}

void reverse_behind(MutableArrayView result, const std::int64_t* count, StreamHandle stream) {
  with_word(result.type, [&]<class Word>() {
    reverse_from<Word><<<blocks_of(result.size / 2 + 1, reverse_threads), reverse_threads, 0, stream>>>(
        result.values<Word>(), result.size, count);
    return 0;
  });
}

}  // namespace satin::kernels
