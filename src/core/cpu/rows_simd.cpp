// The row loops that Highway compiles once for every SIMD target and chooses between at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/rows_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/cpu/rows_simd.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Stored>
void Widen(const Stored* source, std::size_t count, std::uint32_t* values) {
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::Rebind<Stored, decltype(d32)> narrow;
  const std::size_t lanes = hn::Lanes(d32);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::PromoteTo(d32, hn::LoadU(narrow, source + i)), d32, values + i);
  for (; i < count; ++i) values[i] = source[i];
}

template <class Sum>
void Add(const Sum* values, std::size_t count, Sum* sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, values + i)), d, sums + i);
  for (; i < count; ++i) sums[i] += values[i];
}

template <class Sum>
void Subtract(const Sum* values, std::size_t count, Sum* sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Sub(hn::LoadU(d, sums + i), hn::LoadU(d, values + i)), d, sums + i);
  for (; i < count; ++i) sums[i] -= values[i];
}

/// floor((sum + floor(area / 2)) / area) through doubles: (s + 1/2) / area lies at least 1 / (2 area) from any integer,
/// and the product with the rounded reciprocal errs by less than 2^-36 for quotients below 2^16 and sums below 2^31.
template <class Stored>
void DivideDifferences(const std::uint32_t* ahead, const std::uint32_t* behind, std::size_t count, std::uint32_t area,
                       Stored* means) {
  const double reciprocal = 1.0 / area;
  const hn::ScalableTag<double> d64;
  const hn::Rebind<std::int32_t, decltype(d64)> d32;
  const hn::Rebind<std::uint32_t, decltype(d64)> du32;
  const hn::Rebind<Stored, decltype(d64)> narrow;
  const auto half = hn::Set(du32, area / 2);
  const auto tie = hn::Set(d64, 0.5);
  const auto factor = hn::Set(d64, reciprocal);
  const std::size_t lanes = hn::Lanes(d64);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::Add(hn::Sub(hn::LoadU(du32, ahead + i), hn::LoadU(du32, behind + i)), half);
    const auto wide = hn::Mul(hn::Add(hn::PromoteTo(d64, hn::BitCast(d32, sum)), tie), factor);
    hn::StoreU(hn::DemoteTo(narrow, hn::DemoteTo(d32, wide)), narrow, means + i);
  }
  for (; i < count; ++i)
    means[i] = static_cast<Stored>((static_cast<double>(ahead[i] - behind[i] + area / 2) + 0.5) * reciprocal);
}

void WidenU8(const std::uint8_t* s, std::size_t n, std::uint32_t* v) { Widen(s, n, v); }
void WidenU16(const std::uint16_t* s, std::size_t n, std::uint32_t* v) { Widen(s, n, v); }
void AddU32(const std::uint32_t* v, std::size_t n, std::uint32_t* s) { Add(v, n, s); }
void AddU64(const std::uint64_t* v, std::size_t n, std::uint64_t* s) { Add(v, n, s); }
void SubtractU32(const std::uint32_t* v, std::size_t n, std::uint32_t* s) { Subtract(v, n, s); }
void SubtractU64(const std::uint64_t* v, std::size_t n, std::uint64_t* s) { Subtract(v, n, s); }
void DivideU8(const std::uint32_t* a, const std::uint32_t* b, std::size_t n, std::uint32_t area, std::uint8_t* m) {
  DivideDifferences(a, b, n, area, m);
}
void DivideU16(const std::uint32_t* a, const std::uint32_t* b, std::size_t n, std::uint32_t area, std::uint16_t* m) {
  DivideDifferences(a, b, n, area, m);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(WidenU8);
HWY_EXPORT(WidenU16);
HWY_EXPORT(AddU32);
HWY_EXPORT(AddU64);
HWY_EXPORT(SubtractU32);
HWY_EXPORT(SubtractU64);
HWY_EXPORT(DivideU8);
HWY_EXPORT(DivideU16);

void widen(const std::uint8_t* source, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WidenU8)(source, count, values);
}
void widen(const std::uint16_t* source, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WidenU16)(source, count, values);
}
void add(const std::uint32_t* values, std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU32)(values, count, sums);
}
void add(const std::uint64_t* values, std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU64)(values, count, sums);
}
void subtract(const std::uint32_t* values, std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(SubtractU32)(values, count, sums);
}
void subtract(const std::uint64_t* values, std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(SubtractU64)(values, count, sums);
}
void divide_differences(const std::uint32_t* ahead, const std::uint32_t* behind, std::size_t count, std::uint32_t area,
                        std::uint8_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU8)(ahead, behind, count, area, means);
}
void divide_differences(const std::uint32_t* ahead, const std::uint32_t* behind, std::size_t count, std::uint32_t area,
                        std::uint16_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU16)(ahead, behind, count, area, means);
}

}  // namespace satin::cpu
#endif
