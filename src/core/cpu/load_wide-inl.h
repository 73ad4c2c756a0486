// Loads and conversions that widen, for the files that Highway compiles once for every SIMD target.

#if defined(SATIN_LOAD_WIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LOAD_WIDE_INL_H
#undef SATIN_LOAD_WIDE_INL_H
#else
#define SATIN_LOAD_WIDE_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The values at `from` as lanes of D, which are as wide or wider.
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

/// Integers of 32 or 64 bits, as many as D has lanes, that are below 2^31 or 2^52 as signed ones.
template <class D, class V>
HWY_INLINE auto ExactDouble(D d, V integers) {
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<std::int32_t, D>(), integers));
  } else {
    return hn::ConvertTo(d, hn::BitCast(hn::Rebind<std::int64_t, D>(), integers));
  }
}

/// Stores the integers nearest to q, which are below 2^31 and fit, given q + 2^52: that sum has rounded them
/// into its low bits.
template <class D, class V, class Mean>
HWY_INLINE void StoreNearest(D /*d*/, V q_and_2_52, Mean* to) {
  const hn::Rebind<Mean, D> means;
  hn::StoreU(hn::TruncateTo(means, hn::BitCast(hn::Rebind<std::uint64_t, D>(), q_and_2_52)), means, to);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
