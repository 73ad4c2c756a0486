// Segmented scans and reductions by CUB in one pass. A segmented scan is one scan of (value, flag). A
// segmented reduction is one scan of (value, number of segments), in which the last element of a segment
// writes its result.

#include <cstdint>

#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/passes.cuh"

namespace satin::kernels {
namespace {

template <class In, class T>
struct ReadFlagged {
  ReadBy<In, T> read;
  Heads heads;
  __device__ gpu::Flagged<T> operator()(std::int64_t i) const { return {read(i), heads(i) ? 1U : 0U}; }
};

template <class T>
struct WriteInclusive {
  T* result;
  __device__ void operator()(std::int64_t i, const gpu::Flagged<T>& state) const { result[i] = state.value; }
};

template <class T>
struct WriteExclusive {
  T* result;
  Heads heads;
  T identity;
  __device__ void operator()(std::int64_t i, const gpu::Flagged<T>& state) const {
    result[i] = heads(i) ? identity : state.value;
  }
};

template <class In, class T>
int scan_typed(gpu::Workspace& workspace, const In* values, const Segments& segments, T* result,
               const ScanRule& rule, std::int64_t n, cudaStream_t stream) {
  using State = gpu::Flagged<T>;
  const AnyOperator<T> combine{rule.op};
  const gpu::FlaggedCombine<T, AnyOperator<T>> flagged{combine};
  const Heads heads(segments);
  const gpu::Computed<State, ReadFlagged<In, T>> in(ReadFlagged<In, T>{{values, combine}, heads});
  if (!rule.exclusive) {
    const gpu::Consumed<State, WriteInclusive<T>> out(WriteInclusive<T>{result});
    return gpu::inclusive_pass(workspace, in, out, flagged, n, stream);
  }
  const T identity = combine.identity();
  const gpu::Consumed<State, WriteExclusive<T>> out(WriteExclusive<T>{result, heads, identity});
  return gpu::exclusive_pass(workspace, in, out, flagged, State{identity, 0U}, n, stream);
}

constexpr int fill_threads = 256;

template <class In, class T>
struct ReadCounted {
  ReadBy<In, T> read;
  Heads heads;
  __device__ gpu::Counted<T> operator()(std::int64_t i) const { return {read(i), heads(i) ? 1 : 0}; }
};

template <class T>
struct WriteEnds {
  T* result;
  std::int64_t size;  ///< elements of `result`
  Heads heads;
  std::int64_t last;
  SegmentsFound* found;

  __device__ void operator()(std::int64_t i, const gpu::Counted<T>& state) const {
    if (i == last) found->count = state.segments;
    if (i != last && !heads(i + 1)) return;
    if (heads.flags != nullptr) {
      result[state.segments - 1] = state.value;
      return;
    }
    const std::int64_t group = heads.groups[i];
    if (group >= size || (i != last && heads.groups[i + 1] < group)) found->invalid = 1;
    if (group < size) result[group] = state.value;
  }
};

template <class In, class T>
int reduce_typed(gpu::Workspace& workspace, const In* values, const Segments& segments,
                 MutableArrayView result, Operator op, SegmentsFound* found, std::int64_t n,
                 cudaStream_t stream) {
  using State = gpu::Counted<T>;
  const AnyOperator<T> combine{op};
  const Heads heads(segments);
  const gpu::Computed<State, ReadCounted<In, T>> in(ReadCounted<In, T>{{values, combine}, heads});
  const gpu::Consumed<State, WriteEnds<T>> out(
      WriteEnds<T>{result.values<T>(), result.size, heads, n - 1, found});
  return gpu::inclusive_pass(workspace, in, out, gpu::CountedCombine<T, AnyOperator<T>>{combine}, n, stream);
}

template <class T>
__global__ void __launch_bounds__(fill_threads) fill(T* result, std::int64_t n, T value) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step) result[i] = value;
}

}  // namespace

int segmented_scan(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                   const ScanRule& rule, StreamHandle stream) {
  return with_types(values.type, result.type, [&]<class In, class Out>() {
    return in_workspace(space, [&](gpu::Workspace& workspace) {
      return scan_typed(workspace, values.values<In>(), segments, result.values<Out>(), rule, values.size,
                        stream);
    });
  });
}

int segmented_reduce(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                     Operator op, SegmentsFound* found, StreamHandle stream) {
  return with_types(values.type, result.type, [&]<class In, class Out>() {
    return in_workspace(space, [&](gpu::Workspace& workspace) {
      return reduce_typed<In, Out>(workspace, values.values<In>(), segments, result, op, found, values.size,
                                   stream);
    });
  });
}

void fill_with_identity(MutableArrayView result, Operator op, StreamHandle stream) {
  with_type(result.type, [&]<class T>() {
    fill<T><<<blocks_of(result.size, fill_threads), fill_threads, 0, stream>>>(
        result.values<T>(), result.size, AnyOperator<T>{op}.identity());
  });
}

}  // namespace satin::kernels
