#pragma once
// Calls templates with the types and operators that are known only at run time.

#include <optional>

#include "core/with_type.h"
#include "satin/scan.h"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin::cpu {

/// Calls function.operator()<Op, In>() with an operator of scan_operator.h for this pair of types.
template <class Function>
void with_operator(Operator op, Type in, Type out, const Function& function) {
  with_type(out, [&]<class Out>() {
    if (op == Operator::min) return function.template operator()<Minimum<Out>, Out>();
    if (op == Operator::max) return function.template operator()<Maximum<Out>, Out>();
    with_type(in, [&]<class In>() {
      if constexpr (sums_into<In, Out>)
        op == Operator::sum ? function.template operator()<Sum<Out>, In>()
                            : function.template operator()<Product<Out>, In>();
    });
  });
}

/// Returns the initial value as the result's type T, or the identity if there is none.
template <class T>
T initial_of(const std::optional<Scalar>& initial, T identity) {
  return initial ? value_of<T>(*initial).value_or(identity) : identity;
}

}  // namespace satin::cpu
