#include "scan/identity.h"

#include <vector>

#include "core/with_type.h"
#include "scan/maths/scan_operator.h"

namespace satin {
namespace {

template <class T>
void fill(Stage& stage, const MutableArrayView& result, Operator op) {
  const T identity = op == Operator::sum       ? Sum<T>::identity
                     : op == Operator::product ? Product<T>::identity
                     : op == Operator::min     ? Minimum<T>::identity
                                               : Maximum<T>::identity;
  const std::vector<T> values(static_cast<std::size_t>(result.size), identity);
  stage.fill(result, values);
}

}  // namespace

void fill_identity(Stage& stage, const MutableArrayView& result, Operator op) {
  with_type(result.type, [&]<class T>() { fill<T>(stage, result, op); });
}

}  // namespace satin
