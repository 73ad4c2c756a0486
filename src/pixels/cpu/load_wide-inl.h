// Loads and conversions that widen, and rounding stores, for files that Highway compiles for every SIMD
// target.

#if defined(SATIN_LOAD_WIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LOAD_WIDE_INL_H
#undef SATIN_LOAD_WIDE_INL_H
#else
#define SATIN_LOAD_WIDE_INL_H
#endif

#include <hwy/highway.h>

#include "pixels/cpu/avx512-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Loads values as lanes of D, which are as wide or wider.
template <class D, class Value>
HWY_INLINE auto LoadWide(D d, const Value* from) {
  if constexpr (sizeof(Value) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else if constexpr (sizeof(hn::TFromD<D>) == 8 && sizeof(Value) < 4) {
    const hn::Rebind<std::uint32_t, D> half;
    return hn::PromoteTo(d, hn::PromoteTo(half, hn::LoadU(hn::Rebind<Value, D>(), from)));
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Value, D>(), from));
  }
}

/// Converts integers of 32 or 64 bits, as many as D has lanes, to doubles. They are below 2^31 or 2^52.
template <class D, class V>
HWY_INLINE auto ExactDouble(D d, V integers) {
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<std::int32_t, D>(), integers));
  } else {
    return hn::ConvertTo(d, hn::BitCast(hn::Rebind<std::int64_t, D>(), integers));
  }
}

/// Returns the nearest integers, ties to even, of floats below 2^31 in magnitude.
template <class V>
HWY_INLINE auto NearestWord(V floats) {
  using Words = hn::Vec<hn::RebindToSigned<hn::DFromV<V>>>;
  if constexpr (has_avx512) {
    return Words{_mm512_cvtps_epi32(floats.raw)};
  } else if constexpr (HWY_TARGET == HWY_AVX2) {
    return Words{_mm256_cvtps_epi32(floats.raw)};
  } else {
    return hn::NearestInt(floats);
  }
}

/// Constant whose sum with a double q has the rounded q in its low bits: for q from 0 to 2^31, or for
/// means of 64 bits, which are signed, below 2^51 in magnitude.
template <class Mean>
constexpr double rounding_for = sizeof(Mean) == 8 ? 0x1.8p52 : 0x1p52;

/// Stores the integers nearest to q, given q + rounding_for<Mean>.
template <class D, class V, class Mean>
HWY_INLINE void StoreNearest(D d, V rounded, Mean* to) {
  const hn::Rebind<std::uint64_t, D> words;
  const auto bits = hn::BitCast(words, rounded);
  if constexpr (sizeof(Mean) == 8) {
    hn::StoreU(hn::Sub(bits, hn::BitCast(words, hn::Set(d, rounding_for<Mean>))), words, to);
  } else {
    const hn::Rebind<Mean, D> means;
    hn::StoreU(hn::TruncateTo(means, bits), means, to);
  }
}

/// Returns floor(y / 255) of 32-bit words y below 2^24. The estimate q is at most 1 too small.
template <class D, class V>
HWY_INLINE V DividedBy255(D d, V y) {
  const V q = hn::ShiftRight<8>(hn::Add(y, hn::ShiftRight<8>(y)));
  const V rest = hn::Sub(hn::Add(y, q), hn::ShiftLeft<8>(q));
  return hn::Add(q, hn::ShiftRight<8>(hn::Add(rest, hn::Set(d, 1))));
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
