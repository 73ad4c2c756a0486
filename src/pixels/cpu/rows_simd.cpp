// The row loops that Highway compiles once for every SIMD target and chooses between at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/rows_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/rows_simd.h"
#include "pixels/maths/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <class Stored>
void Widen(const Stored* HWY_RESTRICT source, std::size_t count, std::uint32_t* HWY_RESTRICT values) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<Stored, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, source + i)), d, values + i);
  for (; i < count; ++i) values[i] = source[i];
}

template <class Stored>
void Narrow(const std::uint32_t* HWY_RESTRICT values, std::size_t count, Stored* HWY_RESTRICT narrow) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<Stored, decltype(d)> stored;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(stored, hn::LoadU(d, reinterpret_cast<const std::int32_t*>(values + i))), stored,
               narrow + i);
  for (; i < count; ++i) narrow[i] = static_cast<Stored>(values[i]);
}

template <class Value, class Sum>
void Add(const Value* values, std::size_t count, Sum* sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), LoadWide(d, values + i)), d, sums + i);
  for (; i < count; ++i) sums[i] += values[i];
}

template <class Value, class Sum>
void Exchange(const Value* enters, const Value* leaves, std::size_t count, Sum* HWY_RESTRICT sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto difference = hn::Sub(LoadWide(d, enters + i), LoadWide(d, leaves + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), difference), d, sums + i);
  }
  for (; i < count; ++i) sums[i] += static_cast<Sum>(enters[i]) - static_cast<Sum>(leaves[i]);
}

void BlendByBytes(const std::uint16_t* HWY_RESTRICT own, const std::uint16_t* HWY_RESTRICT weights,
                  std::size_t count, std::uint32_t* HWY_RESTRICT means) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto whole = hn::Set(d, 255U);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto weight = LoadWide(d, weights + i);
    const auto rest = hn::Mul(LoadWide(d, own + i), hn::Sub(whole, weight));
    const auto sum = hn::Add(rest, hn::Mul(hn::LoadU(d, means + i), weight));
    hn::StoreU(DividedBy255(d, hn::Add(sum, hn::Set(d, 127U))), d, means + i);
  }
  for (; i < count; ++i) means[i] = static_cast<std::uint32_t>(blend(own[i], means[i], weights[i], 255));
}

// Highway dispatches plain functions: one name for each instance.
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
void WidenU8(const U8* s, std::size_t n, U32* v) { Widen(s, n, v); }
void WidenU16(const U16* s, std::size_t n, U32* v) { Widen(s, n, v); }
void NarrowU8(const U32* v, std::size_t n, U8* s) { Narrow(v, n, s); }
void NarrowU16(const U32* v, std::size_t n, U16* s) { Narrow(v, n, s); }
void AddU8U32(const U8* v, std::size_t n, U32* s) { Add(v, n, s); }
void AddU8U64(const U8* v, std::size_t n, U64* s) { Add(v, n, s); }
void AddU16U32(const U16* v, std::size_t n, U32* s) { Add(v, n, s); }
void AddU16U64(const U16* v, std::size_t n, U64* s) { Add(v, n, s); }
void AddU32(const U32* v, std::size_t n, U32* s) { Add(v, n, s); }
void AddU64(const U64* v, std::size_t n, U64* s) { Add(v, n, s); }
void ExchangeU8U32(const U8* e, const U8* l, std::size_t n, U32* s) { Exchange(e, l, n, s); }
void ExchangeU8U64(const U8* e, const U8* l, std::size_t n, U64* s) { Exchange(e, l, n, s); }
void ExchangeU16U32(const U16* e, const U16* l, std::size_t n, U32* s) { Exchange(e, l, n, s); }
void ExchangeU16U64(const U16* e, const U16* l, std::size_t n, U64* s) { Exchange(e, l, n, s); }
void ExchangeU32(const U32* e, const U32* l, std::size_t n, U32* s) { Exchange(e, l, n, s); }
void ExchangeU64(const U64* e, const U64* l, std::size_t n, U64* s) { Exchange(e, l, n, s); }

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(WidenU8);
HWY_EXPORT(WidenU16);
HWY_EXPORT(NarrowU8);
HWY_EXPORT(NarrowU16);
HWY_EXPORT(AddU8U32);
HWY_EXPORT(AddU8U64);
HWY_EXPORT(AddU16U32);
HWY_EXPORT(AddU16U64);
HWY_EXPORT(AddU32);
HWY_EXPORT(AddU64);
HWY_EXPORT(ExchangeU8U32);
HWY_EXPORT(ExchangeU8U64);
HWY_EXPORT(ExchangeU16U32);
HWY_EXPORT(ExchangeU16U64);
HWY_EXPORT(ExchangeU32);
HWY_EXPORT(ExchangeU64);
HWY_EXPORT(BlendByBytes);

template <>
void widen(const std::uint8_t* source, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WidenU8)(source, count, values);
}
template <>
void widen(const std::uint16_t* source, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WidenU16)(source, count, values);
}
template <>
void narrow(const std::uint32_t* values, std::size_t count, std::uint8_t* narrow) {
  HWY_DYNAMIC_DISPATCH(NarrowU8)(values, count, narrow);
}
template <>
void narrow(const std::uint32_t* values, std::size_t count, std::uint16_t* narrow) {
  HWY_DYNAMIC_DISPATCH(NarrowU16)(values, count, narrow);
}
template <>
void add(const std::uint8_t* values, std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU8U32)(values, count, sums);
}
template <>
void add(const std::uint8_t* values, std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU8U64)(values, count, sums);
}
template <>
void add(const std::uint16_t* values, std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU16U32)(values, count, sums);
}
template <>
void add(const std::uint16_t* values, std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU16U64)(values, count, sums);
}
template <>
void add(const std::uint32_t* values, std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU32)(values, count, sums);
}
template <>
void add(const std::uint64_t* values, std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU64)(values, count, sums);
}
template <>
void exchange(const std::uint8_t* enters, const std::uint8_t* leaves, std::size_t count,
              std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU8U32)(enters, leaves, count, sums);
}
template <>
void exchange(const std::uint8_t* enters, const std::uint8_t* leaves, std::size_t count,
              std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU8U64)(enters, leaves, count, sums);
}
template <>
void exchange(const std::uint16_t* enters, const std::uint16_t* leaves, std::size_t count,
              std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU16U32)(enters, leaves, count, sums);
}
template <>
void exchange(const std::uint16_t* enters, const std::uint16_t* leaves, std::size_t count,
              std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU16U64)(enters, leaves, count, sums);
}
template <>
void exchange(const std::uint32_t* enters, const std::uint32_t* leaves, std::size_t count,
              std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU32)(enters, leaves, count, sums);
}
template <>
void exchange(const std::uint64_t* enters, const std::uint64_t* leaves, std::size_t count,
              std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU64)(enters, leaves, count, sums);
}
void blend_by_bytes(const std::uint16_t* own, const std::uint16_t* weights, std::size_t count,
                    std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(BlendByBytes)(own, weights, count, means);
}

}  // namespace satin::cpu
#endif
