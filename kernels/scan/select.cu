// Stable selection: values move as words of their size, whatever their type.

#include <cstdint>

#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "satin/cuda/fused.cuh"

namespace satin::kernels {
namespace {

/// The test of value i.
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

}  // namespace

int select_in(Space& space, ArrayView values, const Interval& interval, MutableArrayView result,
              std::int64_t* count, StreamHandle stream) {
  return with_interval(values.type, interval, [&]<class Word>(auto in_interval) {
    gpu::Workspace workspace{space.memory, space.bytes};
    const int status = gpu::predicate_pass<false>(workspace, values.values<Word>(), result.values<Word>(),
                                                  count, in_interval, values.size, stream);
    space.bytes = workspace.bytes;
    return status;
  });
}

int select_by_mask(Space& space, ArrayView values, ArrayView mask, MutableArrayView result,
                   std::int64_t* count, StreamHandle stream) {
  return with_word(values.type, [&]<class Word>() {
    gpu::Workspace workspace{space.memory, space.bytes};
    const int status = gpu::flagged_pass<false>(workspace, values.values<Word>(), mask.values<std::uint8_t>(),
                                                result.values<Word>(), count, values.size, stream);
    space.bytes = workspace.bytes;
    return status;
  });
}

int select_indices(Space& space, ArrayView values, const Interval& interval, MutableArrayView indices,
                   std::int64_t* count, StreamHandle stream) {
  gpu::Workspace workspace{space.memory, space.bytes};
  const int status =
      indices.type == Type::u32
          ? select_typed(workspace, values, interval, indices.values<std::uint32_t>(), count, stream)
          : select_typed(workspace, values, interval, indices.values<std::uint64_t>(), count, stream);
  space.bytes = workspace.bytes;
  return status;
}

}  // namespace satin::kernels
