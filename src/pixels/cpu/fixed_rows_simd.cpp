// The loops of fixed_rows_simd.h that Highway compiles once for every SIMD target and chooses between at run
// time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/fixed_rows_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/maths/fixed_point.h"
#include "pixels/cpu/fixed_rows_simd.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// What is added to a whole number below 2^51 in magnitude to have it in the low bits, as two's complement.
inline constexpr double whole_numbers = 0x1.8p52;

template <class D>
std::size_t FixVectors(D d, const float* source, std::size_t i, std::size_t count, int exponent,
                       std::uint64_t* values) {
  const hn::Rebind<float, D> floats;
  const hn::Rebind<std::uint64_t, D> bits;
  const auto factor = hn::Set(d, power_of_two(exponent));
  const auto half = hn::Set(d, 0.5);
  const auto whole = hn::Set(d, whole_numbers);
  const auto whole_bits = hn::Set(bits, bits_of(whole_numbers));
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto stored = hn::LoadU(floats, source + i);
    const auto value = hn::PromoteTo(d, hn::IfThenElseZero(hn::IsFinite(stored), stored));
    const auto floor = hn::Floor(hn::Add(hn::Mul(value, factor), half));
    hn::StoreU(hn::Sub(hn::BitCast(bits, hn::Add(floor, whole)), whole_bits), bits, values + i);
  }
  return i;
}

void FixFloats(const float* source, std::size_t count, int exponent, std::uint64_t* values) {
  const std::size_t done = FixVectors(hn::ScalableTag<double>(), source, 0, count, exponent, values);
  FixVectors(hn::CappedTag<double, 1>(), source, done, count, exponent, values);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(FixFloats);

void fix_floats(const float* source, std::size_t count, int exponent, std::uint64_t* values) {
  HWY_DYNAMIC_DISPATCH(FixFloats)(source, count, exponent, values);
}

}  // namespace satin::cpu
#endif
