// Scans by an operator that is chosen at run time.

#include <cstdint>

#include "kernels/scan/any_operator.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "kernels/scan/workspace.cuh"

namespace satin::kernels {
namespace {

constexpr int combine_threads = 256;

template <class T>
struct WriteAfter {
  T* result;
  AnyOperator<T> combine;
  T initial;
  __device__ void operator()(std::int64_t i, T state) const { result[i] = combine(initial, state); }
};

template <class In, class T>
int scan_typed(gpu::Workspace& workspace, const In* values, T* result, const ScanRule& rule, std::int64_t n,
               cudaStream_t stream) {
  const AnyOperator<T> combine{rule.op};
  const T initial = combine.initial(rule);
  const gpu::Computed<T, ReadBy<In, T>> in(ReadBy<In, T>{values, combine});
  if (rule.exclusive) return gpu::exclusive_pass(workspace, in, result, combine, initial, n, stream);
  const gpu::Consumed<T, WriteAfter<T>> out(WriteAfter<T>{result, combine, initial});
  return gpu::inclusive_pass(workspace, in, out, combine, n, stream);
}

template <class In, class T>
__global__ void __launch_bounds__(combine_threads)
    combine_elements(const T* a, const In* b, T* result, AnyOperator<T> combine, std::int64_t n) {
  const GridStride range;
  for (std::int64_t i = range.first; i < n; i += range.step) result[i] = combine(a[i], combine.read(b[i]));
}

}  // namespace

int scan_by_operator(Space& space, ArrayView values, MutableArrayView result, const ScanRule& rule,
                     StreamHandle stream) {
  return with_types(values.type, result.type, [&]<class In, class Out>() {
    return in_workspace(space, [&](gpu::Workspace& workspace) {
      return scan_typed(workspace, values.values<In>(), result.values<Out>(), rule, values.size, stream);
    });
  });
}

void combine(ArrayView a, ArrayView b, MutableArrayView result, Operator op, StreamHandle stream) {
  with_types(b.type, result.type, [&]<class In, class Out>() {
    combine_elements<In, Out><<<blocks_of(b.size, combine_threads), combine_threads, 0, stream>>>(
        a.values<Out>(), b.values<In>(), result.values<Out>(), AnyOperator<Out>{op}, b.size);
    return 0;
  });
}

}  // namespace satin::kernels
