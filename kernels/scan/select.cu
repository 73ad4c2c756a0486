// Stable selection and partition by CUB. Values move as words of their size, whatever their type. CUB writes
// the rejected values of a partition backwards from the end, so they are reversed afterwards.

#include <cstdint>

#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/passes.cuh"

namespace satin::kernels {
namespace {

template <class Word, class Test>
struct TestOf {
  const Word* values;
  Test test;
  __device__ bool operator()(std::int64_t i) const { return test(values[i]); }
};

template <class Index>
struct IndexOf {
  __device__ Index operator()(std::int64_t i) const { return static_cast<Index>(i); }
};

template <class Index>
int select_typed(gpu::Workspace& workspace, ArrayView values, const Interval& interval, Index* indices,
                 std::int64_t* count, cudaStream_t stream) {
  return with_interval(values.type, interval, [&]<class Word>(auto in_interval) {
    using Test = TestOf<Word, decltype(in_interval)>;
    const gpu::Computed<Index, IndexOf<Index>> in{IndexOf<Index>()};
    const gpu::Computed<bool, Test> flags(Test{values.values<Word>(), in_interval});
    return gpu::flagged_pass<false>(workspace, in, flags, indices, count, values.size, stream);
  });
}

/// Selects the values in the interval, or puts them before the others.
template <bool Partition>
int pass_in(Space& space, ArrayView values, const Interval& interval, MutableArrayView result,
            std::int64_t* count, StreamHandle stream) {
  return with_interval(values.type, interval, [&]<class Word>(auto in_interval) {
    return in_workspace(space, [&](gpu::Workspace& workspace) {
      return gpu::predicate_pass<Partition>(workspace, values.values<Word>(), result.values<Word>(), count,
                                            in_interval, values.size, stream);
    });
  });
}

/// Selects the values where the mask is set, or puts them before the others.
template <bool Partition>
int pass_by_mask(Space& space, ArrayView values, ArrayView mask, MutableArrayView result, std::int64_t* count,
                 StreamHandle stream) {
  return with_word(values.type, [&]<class Word>() {
    return in_workspace(space, [&](gpu::Workspace& workspace) {
      return gpu::flagged_pass<Partition>(workspace, values.values<Word>(), mask.values<std::uint8_t>(),
                                          result.values<Word>(), count, values.size, stream);
    });
  });
}

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

int select_in(Space& space, ArrayView values, const Interval& interval, bool partition,
              MutableArrayView result, std::int64_t* count, StreamHandle stream) {
  return partition ? pass_in<true>(space, values, interval, result, count, stream)
                   : pass_in<false>(space, values, interval, result, count, stream);
}

int select_by_mask(Space& space, ArrayView values, ArrayView mask, bool partition, MutableArrayView result,
                   std::int64_t* count, StreamHandle stream) {
  return partition ? pass_by_mask<true>(space, values, mask, result, count, stream)
                   : pass_by_mask<false>(space, values, mask, result, count, stream);
}

int select_indices(Space& space, ArrayView values, const Interval& interval, MutableArrayView indices,
                   std::int64_t* count, StreamHandle stream) {
  return in_workspace(space, [&](gpu::Workspace& workspace) {
    return indices.type == Type::u32
               ? select_typed(workspace, values, interval, indices.values<std::uint32_t>(), count, stream)
               : select_typed(workspace, values, interval, indices.values<std::uint64_t>(), count, stream);
  });
}

void reverse_behind(MutableArrayView result, const std::int64_t* count, StreamHandle stream) {
  with_word(result.type, [&]<class Word>() {
    reverse_from<Word><<<blocks_of(result.size / 2 + 1, reverse_threads), reverse_threads, 0, stream>>>(
        result.values<Word>(), result.size, count);
  });
}

}  // namespace satin::kernels
