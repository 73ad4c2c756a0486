// Rows with what they differ by from their means, times an amount, compiled for every SIMD target.

#if defined(SATIN_UNSHARP_RESIDUAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_UNSHARP_RESIDUAL_INL_H
#undef SATIN_UNSHARP_RESIDUAL_INL_H
#else
#define SATIN_UNSHARP_RESIDUAL_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>

#include "means/residual_precision.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The rule of a row without alpha and mask; see means/maths/unsharp_residual.h.
struct UnsharpResidualLine {
  double amount = 0;
  double threshold = 0;
  double mean_scale = 1;
  double white = 0;     ///< largest result
  bool narrow = false;  ///< what exact_in_float() says
};

/// Whether single precision makes every step exactly.
inline bool ExactInFloat(const UnsharpResidualLine& line) {
  return line.mean_scale == 0x1p-8 && line.white == 255 && exact_in_float(line.amount, line.threshold);
}

/// Integers below 2^24 as floats, or below 2^31 as doubles.
template <class D, class Value>
HWY_INLINE auto ExactReal(D d, const Value* from) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::Rebind<std::int32_t, D> integers;
    return hn::ConvertTo(d, LoadWide(integers, from));
  } else {
    return ExactDouble(d, LoadWide(hn::Rebind<std::uint32_t, D>(), from));
  }
}

/// The integers below results that are not negative.
template <class D, class V>
HWY_INLINE auto WholeOf(D /*d*/, V results) {
  const hn::Rebind<std::int32_t, D> integers;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::ConvertTo(integers, results);
  } else {
    return hn::DemoteTo(integers, results);
  }
}

template <class D, class Own, class Mean>
std::size_t AddVectors(D d, const Own* own, const Mean* means, std::size_t i, std::size_t count,
                       const UnsharpResidualLine& line, Own* out) {
  using Real = hn::TFromD<D>;
  const hn::Rebind<Own, D> stored;
  const auto amount = hn::Set(d, static_cast<Real>(line.amount));
  const auto threshold = hn::Set(d, static_cast<Real>(line.threshold));
  const auto scale = hn::Set(d, static_cast<Real>(line.mean_scale));
  const auto white = hn::Set(d, static_cast<Real>(line.white));
  const auto half = hn::Set(d, static_cast<Real>(0.5));
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = ExactReal(d, own + i);
    const auto mean = hn::Mul(ExactReal(d, means + i), scale);
    const auto difference = hn::Sub(value, mean);
    const auto counts = hn::Gt(hn::Abs(difference), threshold);
    const auto result = hn::Add(value, hn::IfThenElseZero(counts, hn::Mul(difference, amount)));
    const auto bounded = hn::Min(hn::Max(result, hn::Zero(d)), white);
    const auto nearest = WholeOf(d, hn::Add(bounded, half));
    hn::StoreU(hn::DemoteTo(stored, nearest), stored, out + i);
  }
  return i;
}

/// out[i] = nearest_integer(with_detail(own[i], means[i] * line.mean_scale), line.white). Means are below
/// 2^31. Instances: bytes with means of 16 bits, 16 bits with means of 32.
template <class Own, class Mean>
void AddResidual(const Own* own, const Mean* means, std::size_t count, const UnsharpResidualLine& line,
                 Own* out) {
  std::size_t done = 0;
  if constexpr (sizeof(Own) == 1) {
    if (line.narrow) done = AddVectors(hn::ScalableTag<float>(), own, means, done, count, line, out);
  }
  done = AddVectors(hn::ScalableTag<double>(), own, means, done, count, line, out);
  AddVectors(hn::CappedTag<double, 1>(), own, means, done, count, line, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
