#include "scan/cpu/mask.h"

#include <functional>

#include "scan/cpu/bin_index.h"
#include "scan/cpu/types.h"

namespace satin::cpu {
namespace {

template <class Function>
decltype(auto) with_comparison(Comparison comparison, const Function& function) {
  switch (comparison) {
    case Comparison::less:
      return function(std::less<>());
    case Comparison::less_equal:
      return function(std::less_equal<>());
    case Comparison::greater:
      return function(std::greater<>());
    case Comparison::greater_equal:
      return function(std::greater_equal<>());
    case Comparison::equal:
      return function(std::equal_to<>());
    default:
      return function(std::not_equal_to<>());
  }
}

FillMask mask_by(ArrayView values, const Predicate& predicate) {
  return with_type(values.type, [&]<class T>() {
    const T* all = values.values<T>();
    const T number = value_of<T>(predicate.number).value_or(T{});
    return with_comparison(predicate.comparison, [=]<class Compare>(Compare compare) -> FillMask {
      return [=](std::int64_t first, std::int64_t count, std::uint8_t* mask) {
        const T* from = all + first;
        const T limit = number;  // a copy, which no store of bytes can change
        for (std::int64_t i = 0; i < count; ++i) mask[i] = compare(from[i], limit) ? 1 : 0;
      };
    });
  });
}

FillMask mask_by(ArrayView, ArrayView given) {
  const auto* all = given.values<std::uint8_t>();
  return [=](std::int64_t first, std::int64_t count, std::uint8_t* mask) {
    const std::uint8_t* from = all + first;
    for (std::int64_t i = 0; i < count; ++i) mask[i] = from[i] != 0 ? 1 : 0;
  };
}

FillMask mask_by(ArrayView values, const InBin& in_bin) {
  const BinRule rule = bin_rule(*in_bin.bins);
  const auto bin = static_cast<std::uint32_t>(in_bin.bin);
  return with_type(values.type, [=]<class T>() -> FillMask {
    const T* all = values.values<T>();
    return [=](std::int64_t first, std::int64_t count, std::uint8_t* mask) {
      const T* from = all + first;
      const BinRule bins = rule;
      for (std::int64_t i = 0; i < count; ++i)
        mask[i] = bin_of(static_cast<double>(from[i]), bins) == bin ? 1 : 0;
    };
  });
}

}  // namespace

FillMask mask_of(const Selection& selection) {
  return std::visit([&](const auto& by) { return mask_by(selection.values, by); }, selection.by);
}

}  // namespace satin::cpu
