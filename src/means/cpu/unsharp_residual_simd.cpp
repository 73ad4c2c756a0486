// The loops of residual_simd.h that Highway compiles once for every SIMD target and chooses between at run
// time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "means/cpu/unsharp_residual_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cmath>

#include "means/cpu/unsharp_residual_simd.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Integers below 2^24 as floats, or below 2^31 as doubles.
template <class D, class Value>
HWY_INLINE auto Exact(D d, const Value* from) {
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
    const auto value = Exact(d, own + i);
    const auto mean = hn::Mul(Exact(d, means + i), scale);
    const auto difference = hn::Sub(value, mean);
    const auto counts = hn::Gt(hn::Abs(difference), threshold);
    const auto result = hn::Add(value, hn::IfThenElseZero(counts, hn::Mul(difference, amount)));
    const auto bounded = hn::Min(hn::Max(result, hn::Zero(d)), white);
    const auto nearest = WholeOf(d, hn::Add(bounded, half));
    hn::StoreU(hn::DemoteTo(stored, nearest), stored, out + i);
  }
  return i;
}

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

// Highway dispatches plain functions: one name for each instance.
void AddResidualU8(const std::uint8_t* own, const std::uint16_t* means, std::size_t count,
                   const UnsharpResidualLine& line, std::uint8_t* out) {
  AddResidual(own, means, count, line, out);
}
void AddResidualU16(const std::uint16_t* own, const std::uint32_t* means, std::size_t count,
                    const UnsharpResidualLine& line, std::uint16_t* out) {
  AddResidual(own, means, count, line, out);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

bool exact_in_float(const UnsharpResidualLine& line) {
  if (line.mean_scale != 0x1p-8 || line.white != 255) return false;
  if (static_cast<double>(static_cast<float>(line.threshold)) != line.threshold) return false;
  for (int bits = 0; bits < 8; ++bits) {
    const double parts = 1 << bits;
    const double numerator = line.amount * parts;
    if (numerator == std::floor(numerator)) return parts + numerator <= 256;
  }
  return false;
}

HWY_EXPORT(AddResidualU8);
HWY_EXPORT(AddResidualU16);

template <>
void add_residual(const std::uint8_t* own, const std::uint16_t* means, std::size_t count,
                  const UnsharpResidualLine& line, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(AddResidualU8)(own, means, count, line, out);
}
template <>
void add_residual(const std::uint16_t* own, const std::uint32_t* means, std::size_t count,
                  const UnsharpResidualLine& line, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(AddResidualU16)(own, means, count, line, out);
}

}  // namespace satin::cpu
#endif
