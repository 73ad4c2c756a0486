// The loops of chain_simd.h that Highway compiles once for every SIMD target and chooses between at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/chain_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/cpu/chain_simd.h"
#include "core/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <class Value, class Sum>
void Slide(const Value* HWY_RESTRICT enters, const Value* HWY_RESTRICT above, const Value* HWY_RESTRICT below,
           std::uint32_t outer, std::size_t count, std::uint32_t* HWY_RESTRICT sums,
           Sum* HWY_RESTRICT weighted) {
  const hn::ScalableTag<Sum> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto leaves = LoadWide(du, above + i);
    const auto sum = hn::Add(hn::LoadU(du, sums + i), hn::Sub(LoadWide(du, enters + i), leaves));
    const auto edges = hn::Add(leaves, LoadWide(du, below + i));
    hn::StoreU(sum, du, sums + i);
    if constexpr (sizeof(Sum) == 4) {
      hn::StoreU(hn::Add(hn::ShiftLeft<8>(sum), hn::Mul(edges, hn::Set(du, outer))), du, weighted + i);
    } else {
      const auto covered = hn::Mul(ExactDouble(d, edges), hn::Set(d, static_cast<double>(outer)));
      hn::StoreU(hn::Add(hn::Mul(ExactDouble(d, sum), hn::Set(d, 256.0)), covered), d, weighted + i);
    }
  }
  for (; i < count; ++i) {
    const std::uint32_t leaves = above[i];
    sums[i] += enters[i] - leaves;
    weighted[i] =
        Sum{256} * static_cast<Sum>(sums[i]) + static_cast<Sum>(outer) * static_cast<Sum>(leaves + below[i]);
  }
}

/// whole a + outer (b - a) + lift.
template <class D, class V>
HWY_INLINE auto CoveredSum(D d, const CoveredRow<double>& row, std::size_t i, V lift) {
  const double* at = row.prefix + i;
  const auto a = hn::Sub(hn::LoadU(d, at + row.reach), hn::LoadU(d, at - row.reach - row.step));
  const auto b =
      hn::Sub(hn::LoadU(d, at + row.reach + row.step), hn::LoadU(d, at - row.reach - 2 * row.step));
  const auto inner = hn::MulAdd(a, hn::Set(d, row.whole), lift);  // all exact: fusing changes nothing
  return hn::MulAdd(hn::Sub(b, a), hn::Set(d, row.outer), inner);
}

template <class D, class V>
HWY_INLINE auto CoveredSum(D d, const CoveredRow<std::uint32_t>& row, std::size_t i, V lift) {
  const hn::Rebind<std::uint32_t, D> du;
  const std::uint32_t* at = row.prefix + i;
  const auto a = hn::Sub(hn::LoadU(du, at + row.reach), hn::LoadU(du, at - row.reach - row.step));
  const auto b =
      hn::Sub(hn::LoadU(du, at + row.reach + row.step), hn::LoadU(du, at - row.reach - 2 * row.step));
  // conversion is of signed words: 2^31 less here, and more in what is added
  const auto inner = hn::MulAdd(ExactDouble(d, hn::Xor(a, hn::Set(du, 0x80000000U))), hn::Set(d, row.whole),
                                hn::Add(lift, hn::Set(d, row.whole * 0x1p31)));
  return hn::MulAdd(ExactDouble(d, hn::Sub(b, a)), hn::Set(d, row.outer), inner);
}

/// `row` is a copy, which no store to the means can change. A quarter lifts ties over the middle, and nothing
/// else: sums are integers.
template <class D, class Sum, class Mean>
std::size_t DivideVectors(D d, CoveredRow<Sum> row, std::size_t i, std::size_t count, Mean* means) {
  const auto divisor = hn::Set(d, row.divisor);
  const auto quarter = hn::Set(d, 0.25);
  const auto round = hn::Set(d, 0x1p52);
  if (row.size_x != nullptr) {
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      const auto own = hn::Mul(divisor, hn::LoadU(d, row.size_x + i));
      StoreNearest(d, hn::Add(hn::Div(CoveredSum(d, row, i, quarter), own), round), means + i);
    }
    return i;
  }
  const auto reciprocal = hn::Div(hn::Set(d, 1.0), divisor);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    StoreNearest(d, hn::MulAdd(CoveredSum(d, row, i, quarter), reciprocal, round), means + i);
  return i;
}

template <class Sum, class Mean>
void DivideCovered(const CoveredRow<Sum>& row, std::size_t count, Mean* means) {
  const std::size_t done = DivideVectors(hn::ScalableTag<double>(), row, 0, count, means);
  DivideVectors(hn::CappedTag<double, 1>(), row, done, count, means);
}

// Highway dispatches plain functions: one name for each instance.
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using F64 = double;
void SlideU8U32(const U8* e, const U8* a, const U8* b, U32 o, std::size_t n, U32* s, U32* w) {
  Slide(e, a, b, o, n, s, w);
}
void SlideU8F64(const U8* e, const U8* a, const U8* b, U32 o, std::size_t n, U32* s, F64* w) {
  Slide(e, a, b, o, n, s, w);
}
void SlideU16U32(const U16* e, const U16* a, const U16* b, U32 o, std::size_t n, U32* s, U32* w) {
  Slide(e, a, b, o, n, s, w);
}
void SlideU16F64(const U16* e, const U16* a, const U16* b, U32 o, std::size_t n, U32* s, F64* w) {
  Slide(e, a, b, o, n, s, w);
}
void SlideU32U32(const U32* e, const U32* a, const U32* b, U32 o, std::size_t n, U32* s, U32* w) {
  Slide(e, a, b, o, n, s, w);
}
void SlideU32F64(const U32* e, const U32* a, const U32* b, U32 o, std::size_t n, U32* s, F64* w) {
  Slide(e, a, b, o, n, s, w);
}
void DivideU32U8(const CoveredRow<U32>& r, std::size_t n, U8* m) { DivideCovered(r, n, m); }
void DivideU32U16(const CoveredRow<U32>& r, std::size_t n, U16* m) { DivideCovered(r, n, m); }
void DivideU32U32(const CoveredRow<U32>& r, std::size_t n, U32* m) { DivideCovered(r, n, m); }
void DivideF64U8(const CoveredRow<F64>& r, std::size_t n, U8* m) { DivideCovered(r, n, m); }
void DivideF64U16(const CoveredRow<F64>& r, std::size_t n, U16* m) { DivideCovered(r, n, m); }
void DivideF64U32(const CoveredRow<F64>& r, std::size_t n, U32* m) { DivideCovered(r, n, m); }

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(SlideU8U32);
HWY_EXPORT(SlideU8F64);
HWY_EXPORT(SlideU16U32);
HWY_EXPORT(SlideU16F64);
HWY_EXPORT(SlideU32U32);
HWY_EXPORT(SlideU32F64);
HWY_EXPORT(DivideU32U8);
HWY_EXPORT(DivideU32U16);
HWY_EXPORT(DivideU32U32);
HWY_EXPORT(DivideF64U8);
HWY_EXPORT(DivideF64U16);
HWY_EXPORT(DivideF64U32);

template <>
void slide(const std::uint8_t* enters, const std::uint8_t* above, const std::uint8_t* below,
           std::uint32_t outer, std::size_t count, std::uint32_t* sums, std::uint32_t* weighted) {
  HWY_DYNAMIC_DISPATCH(SlideU8U32)(enters, above, below, outer, count, sums, weighted);
}
template <>
void slide(const std::uint8_t* enters, const std::uint8_t* above, const std::uint8_t* below,
           std::uint32_t outer, std::size_t count, std::uint32_t* sums, double* weighted) {
  HWY_DYNAMIC_DISPATCH(SlideU8F64)(enters, above, below, outer, count, sums, weighted);
}
template <>
void slide(const std::uint16_t* enters, const std::uint16_t* above, const std::uint16_t* below,
           std::uint32_t outer, std::size_t count, std::uint32_t* sums, std::uint32_t* weighted) {
  HWY_DYNAMIC_DISPATCH(SlideU16U32)(enters, above, below, outer, count, sums, weighted);
}
template <>
void slide(const std::uint16_t* enters, const std::uint16_t* above, const std::uint16_t* below,
           std::uint32_t outer, std::size_t count, std::uint32_t* sums, double* weighted) {
  HWY_DYNAMIC_DISPATCH(SlideU16F64)(enters, above, below, outer, count, sums, weighted);
}
template <>
void slide(const std::uint32_t* enters, const std::uint32_t* above, const std::uint32_t* below,
           std::uint32_t outer, std::size_t count, std::uint32_t* sums, std::uint32_t* weighted) {
  HWY_DYNAMIC_DISPATCH(SlideU32U32)(enters, above, below, outer, count, sums, weighted);
}
template <>
void slide(const std::uint32_t* enters, const std::uint32_t* above, const std::uint32_t* below,
           std::uint32_t outer, std::size_t count, std::uint32_t* sums, double* weighted) {
  HWY_DYNAMIC_DISPATCH(SlideU32F64)(enters, above, below, outer, count, sums, weighted);
}
template <>
void divide_covered(const CoveredRow<std::uint32_t>& row, std::size_t count, std::uint8_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU32U8)(row, count, means);
}
template <>
void divide_covered(const CoveredRow<std::uint32_t>& row, std::size_t count, std::uint16_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU32U16)(row, count, means);
}
template <>
void divide_covered(const CoveredRow<std::uint32_t>& row, std::size_t count, std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU32U32)(row, count, means);
}
template <>
void divide_covered(const CoveredRow<double>& row, std::size_t count, std::uint8_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideF64U8)(row, count, means);
}
template <>
void divide_covered(const CoveredRow<double>& row, std::size_t count, std::uint16_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideF64U16)(row, count, means);
}
template <>
void divide_covered(const CoveredRow<double>& row, std::size_t count, std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideF64U32)(row, count, means);
}

}  // namespace satin::cpu
#endif
