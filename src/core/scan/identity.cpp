#include "core/scan/identity.h"

#include <vector>

#include "core/maths/scan_operator.h"

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
  switch (result.type) {
    case Type::u8:
      return fill<std::uint8_t>(stage, result, op);
    case Type::u16:
      return fill<std::uint16_t>(stage, result, op);
    case Type::u32:
      return fill<std::uint32_t>(stage, result, op);
    case Type::u64:
      return fill<std::uint64_t>(stage, result, op);
    case Type::i32:
      return fill<std::int32_t>(stage, result, op);
    case Type::f32:
      return fill<float>(stage, result, op);
    case Type::f64:
      return fill<double>(stage, result, op);
  }
}

}  // namespace satin
