// Rows with what they differ by from their means, times an amount, compiled for every SIMD target.

#if defined(SATIN_UNSHARP_RESIDUAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_UNSHARP_RESIDUAL_INL_H
#undef SATIN_UNSHARP_RESIDUAL_INL_H
#else
#define SATIN_UNSHARP_RESIDUAL_INL_H
#endif

#include <hwy/highway.h>

#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The rule of a row without alpha and mask; see means/maths/unsharp_residual.h.
struct UnsharpResidualLine {
  double amount = 0;
  double threshold = 0;
  double mean_scale = 1;
  double white = 0;  ///< largest result
};

template <class D, class Own, class Mean>
std::size_t AddVectors(D d, const Own* own, const Mean* means, std::size_t i, std::size_t count,
                       const UnsharpResidualLine& line, Own* out) {
  const hn::Rebind<Own, D> stored;
  const hn::Rebind<std::int32_t, D> integers;
  const hn::Rebind<std::uint32_t, D> wide;
  const auto amount = hn::Set(d, line.amount);
  const auto threshold = hn::Set(d, line.threshold);
  const auto scale = hn::Set(d, line.mean_scale);
  const auto white = hn::Set(d, line.white);
  const auto half = hn::Set(d, 0.5);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = ExactDouble(d, LoadWide(wide, own + i));
    const auto mean = hn::Mul(ExactDouble(d, LoadWide(wide, means + i)), scale);
    const auto difference = hn::Sub(value, mean);
    const auto counts = hn::Gt(hn::Abs(difference), threshold);
    const auto result = hn::Add(value, hn::IfThenElseZero(counts, hn::Mul(difference, amount)));
    const auto bounded = hn::Min(hn::Max(result, hn::Zero(d)), white);
    const auto nearest = hn::DemoteTo(integers, hn::Add(bounded, half));
    hn::StoreU(hn::DemoteTo(stored, nearest), stored, out + i);
  }
  return i;
}

/// out[i] = nearest_integer(with_detail(own[i], means[i] * line.mean_scale), line.white). Means are below
/// 2^31. Instances: bytes with means of 16 bits, 16 bits with means of 32.
template <class Own, class Mean>
void AddResidual(const Own* own, const Mean* means, std::size_t count, const UnsharpResidualLine& line,
                 Own* out) {
  const std::size_t done = AddVectors(hn::ScalableTag<double>(), own, means, 0, count, line, out);
  AddVectors(hn::CappedTag<double, 1>(), own, means, done, count, line, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
