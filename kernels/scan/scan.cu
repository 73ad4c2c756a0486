// Scans by CUB in one pass. Sums use CUB's own operator, which its tuning knows; all other operators, and
// sums with an initial value, use AnyOperator, which is chosen at run time so that there is one scan for each
// type.

#include <cstdint>
#include <type_traits>

#include "kernels/scan/arrays.cuh"
#include "kernels/scan/launch.h"
#include "kernels/scan/passes.cuh"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin::kernels {
namespace {

#if CUB_VERSION >= 200700
using Plus = ::cuda::std::plus<>;
#else
using Plus = cub::Sum;
#endif

/// Type in which sums are computed: unsigned with at least the bits of `Out`, or the float itself.
template <class Out>
using StateOf = std::conditional_t<std::is_floating_point_v<Out>, Out,
                                   std::conditional_t<sizeof(Out) == 8, std::uint64_t, std::uint32_t>>;

template <class In, class State>
struct ReadAs {
  const In* values;
  __device__ State operator()(std::int64_t i) const { return static_cast<State>(values[i]); }
};

template <class In, class Out, class State>
int scan(Space& space, In in, Out* out, const ScanRule& rule, State initial, std::int64_t n,
         cudaStream_t stream) {
  return in_workspace(space, [&](gpu::Workspace& workspace) {
    return rule.exclusive ? gpu::exclusive_pass(workspace, in, out, Plus(), initial, n, stream)
                          : gpu::inclusive_pass(workspace, in, out, Plus(), n, stream);
  });
}

template <class In, class Out>
int scan_as_sum(Space& space, const In* values, Out* result, const ScanRule& rule, std::int64_t n,
                cudaStream_t stream) {
  using State = StateOf<Out>;
  const auto initial =
      static_cast<State>(rule.initial.has_value() ? value_of<Out>(*rule.initial).value_or(Out{0}) : Out{0});
  if constexpr (std::is_same_v<In, Out> && sizeof(In) >= 4) {
    return scan(space, reinterpret_cast<const State*>(values), reinterpret_cast<State*>(result), rule,
                initial, n, stream);
  } else {
    const gpu::Computed<State, ReadAs<In, State>> in(ReadAs<In, State>{values});
    return scan(space, in, result, rule, initial, n, stream);
  }
}

}  // namespace

int scan_sums(Space& space, ArrayView values, MutableArrayView result, const ScanRule& rule,
              StreamHandle stream) {
  return with_types(values.type, result.type, [&]<class In, class Out>() {
    return scan_as_sum(space, values.values<In>(), result.values<Out>(), rule, values.size, stream);
  });
}

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
int scan_by(gpu::Workspace& workspace, const In* values, T* result, const ScanRule& rule, std::int64_t n,
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
      return scan_by(workspace, values.values<In>(), result.values<Out>(), rule, values.size, stream);
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
