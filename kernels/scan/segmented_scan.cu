// Scans that begin anew at every segment: one scan of states that carry a flag.

#include <cstdint>

#include "kernels/scan/any_operator.cuh"
#include "kernels/scan/heads.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "satin/cuda/fused.cuh"

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
  const Heads heads = heads_of(segments);
  const gpu::Computed<State, ReadFlagged<In, T>> in(ReadFlagged<In, T>{{values, combine}, heads});
  if (!rule.exclusive) {
    const gpu::Consumed<State, WriteInclusive<T>> out(WriteInclusive<T>{result});
    return gpu::inclusive_pass(workspace, in, out, flagged, n, stream);
  }
  const T identity = combine.identity();
  const gpu::Consumed<State, WriteExclusive<T>> out(WriteExclusive<T>{result, heads, identity});
  return gpu::exclusive_pass(workspace, in, out, flagged, State{identity, 0U}, n, stream);
}

}  // namespace

int segmented_scan(Space& space, ArrayView values, const Segments& segments, MutableArrayView result,
                   const ScanRule& rule, StreamHandle stream) {
  return with_types(values.type, result.type, [&]<class In, class Out>() {
    gpu::Workspace workspace{space.memory, space.bytes};
    const int status =
        scan_typed(workspace, values.values<In>(), segments, result.values<Out>(), rule, values.size, stream);
    space.bytes = workspace.bytes;
    return status;
  });
}

}  // namespace satin::kernels
