// Sums: CUB's own operator, which its tuning knows.

#include <cstdint>
#include <type_traits>

#include "core/scalar.h"
#include "kernels/scan/launch.h"
#include "kernels/scan/types.cuh"
#include "kernels/scan/workspace.cuh"
#include "scan/maths/scan_operator.h"

namespace satin::kernels {
namespace {

#if CUB_VERSION >= 200700
using Plus = ::cuda::std::plus<>;
#else
using Plus = cub::Sum;
#endif

/// The type in which sums are made: modulo 2^bits of `Out`, or floats.
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
int scan_typed(Space& space, const In* values, Out* result, const ScanRule& rule, std::int64_t n,
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
    return scan_typed(space, values.values<In>(), result.values<Out>(), rule, values.size, stream);
  });
}

}  // namespace satin::kernels
