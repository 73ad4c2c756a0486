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

template <class Sum>
void Add(const Sum* values, std::size_t count, Sum* sums) {
  const hn::ScalableTag<Sum> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, values + i)), d, sums + i);
  for (; i < count; ++i) sums[i] += values[i];
}

template <class D, class Value>
auto LoadWide(D d, const Value* from) {
  if constexpr (sizeof(Value) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Value, D>(), from));
  }
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

#if HWY_TARGET != HWY_SCALAR
/// Prefix sums of one channel, four entries at a time; only one addition a step waits for the step before.
inline void ScanOne(const std::uint32_t* values, std::size_t count, std::uint32_t start,
                    const std::uint32_t* above, std::uint32_t* out) {
  const hn::FixedTag<std::uint32_t, 4> d;
  auto carry = hn::Set(d, start);
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    auto x = hn::LoadU(d, values + i);
    x = hn::Add(x, hn::ShiftLeftLanes<1>(d, x));
    x = hn::Add(x, hn::ShiftLeftLanes<2>(d, x));
    auto sum = hn::Add(x, carry);
    if (above != nullptr) sum = hn::Add(sum, hn::LoadU(d, above + i));
    carry = hn::Add(carry, hn::Broadcast<3>(x));
    hn::StoreU(sum, d, out + i);
  }
  std::uint32_t running = hn::GetLane(carry);
  for (; i < count; ++i) {
    running += values[i];
    out[i] = running + (above == nullptr ? 0 : above[i]);
  }
}

/// Prefix sums of 3 or 4 channels: one vector holds a pixel (and, of 3 channels, a lane that the next store
/// overwrites).
template <class Sum>
void ScanPixels(const Sum* values, std::size_t pixels, std::size_t channels, const Sum* start,
                const Sum* above, Sum* out) {
  const hn::CappedTag<Sum, 4> d;
  auto running = hn::Zero(d);
  HWY_ALIGN Sum first[4] = {};
  for (std::size_t c = 0; c < channels; ++c) first[c] = start[c];
  running = hn::LoadU(d, first);
  for (std::size_t i = 0; i < pixels * channels; i += channels) {
    running = hn::Add(running, hn::LoadU(d, values + i));
    hn::StoreU(above == nullptr ? running : hn::Add(running, hn::LoadU(d, above + i)), d, out + i);
  }
}

#endif

template <std::size_t Channels, class Sum>
void ScanPlain(const Sum* values, std::size_t pixels, const Sum* start, const Sum* above, Sum* out) {
  Sum running[Channels];
  for (std::size_t c = 0; c < Channels; ++c) running[c] = start[c];
  for (std::size_t i = 0; i < pixels * Channels; i += Channels) {
    for (std::size_t c = 0; c < Channels; ++c) {
      running[c] += values[i + c];
      out[i + c] = running[c] + (above == nullptr ? 0 : above[i + c]);
    }
  }
}

template <class Sum>
void Scan(const Sum* values, std::size_t pixels, std::size_t channels, const Sum* start, const Sum* above,
          bool slack, Sum* out) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(Sum) == 4) {
    if (channels == 1) return ScanOne(values, pixels, start[0], above, out);
  }
  const bool whole_pixels = hn::Lanes(hn::CappedTag<Sum, 4>()) == 4 && channels >= 3;
  if (whole_pixels && (channels == 4 || slack))
    return ScanPixels(values, pixels, channels, start, above, out);
#else
  static_cast<void>(slack);
#endif
  switch (channels) {
    case 1:
      return ScanPlain<1>(values, pixels, start, above, out);
    case 2:
      return ScanPlain<2>(values, pixels, start, above, out);
    case 3:
      return ScanPlain<3>(values, pixels, start, above, out);
    default:
      return ScanPlain<4>(values, pixels, start, above, out);
  }
}

template <class D>
auto DifferenceAsDouble(D d, const std::uint32_t* ahead, const std::uint32_t* behind) {
  const hn::Rebind<std::uint32_t, D> sums;
  const hn::Rebind<std::int32_t, D> signed_sums;
  return hn::PromoteTo(d, hn::BitCast(signed_sums, hn::Sub(hn::LoadU(sums, ahead), hn::LoadU(sums, behind))));
}

template <class D>
auto DifferenceAsDouble(D d, const std::uint64_t* ahead, const std::uint64_t* behind) {
  const hn::Rebind<std::uint64_t, D> sums;
  const hn::Rebind<std::int64_t, D> signed_sums;
  return hn::ConvertTo(d, hn::BitCast(signed_sums, hn::Sub(hn::LoadU(sums, ahead), hn::LoadU(sums, behind))));
}

template <int Boxes, class D, class Sum>
auto WeightedSum(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  auto sum = DifferenceAsDouble(d, boxes.ahead[0] + i, boxes.behind[0] + i);
  sum = hn::Mul(sum, hn::Set(d, boxes.weight[0]));
  for (int box = 1; box < Boxes; ++box)  // all exact, so that fusing changes nothing
    sum = hn::MulAdd(DifferenceAsDouble(d, boxes.ahead[box] + i, boxes.behind[box] + i),
                     hn::Set(d, boxes.weight[box]), sum);
  return sum;
}

template <class D, class V, class Mean>
void StoreMeans(D /*d*/, V means, Mean* to) {
  const auto whole = hn::DemoteTo(hn::Rebind<std::int32_t, D>(), means);
  if constexpr (sizeof(Mean) == 4) {
    hn::StoreU(hn::BitCast(hn::Rebind<std::uint32_t, D>(), whole), hn::Rebind<std::uint32_t, D>(), to);
  } else {
    const hn::Rebind<Mean, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, whole), narrow, to);
  }
}

/// Means with a divisor for each entry, by correctly rounded division.
template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideEach(D d, const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t i,
                       std::size_t count, Mean* means) {
  const auto size_y = hn::Set(d, divisors.size_y);
  const auto half = hn::Set(d, 0.5);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto divisor = hn::Mul(hn::LoadU(d, divisors.size_x + i), size_y);
    const auto half_up = hn::Add(hn::Floor(hn::Mul(divisor, half)), half);
    StoreMeans(d, hn::Div(hn::Add(WeightedSum<Boxes>(d, boxes, i), half_up), divisor), means + i);
  }
  return i;
}

/// Means with one divisor, by its reciprocal.
template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideByOne(D d, const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t i,
                        std::size_t count, Mean* means) {
  const auto half_up = hn::Set(d, divisors.half_up);
  const auto reciprocal = hn::Set(d, divisors.reciprocal);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    StoreMeans(d, hn::Mul(hn::Add(WeightedSum<Boxes>(d, boxes, i), half_up), reciprocal), means + i);
  return i;
}

/// The same in single precision: sum + half_up is below 2^22 and exact, two roundings of 2^-24 each stay
/// below the distance 1 / (2 divisor) from the next integer.
template <class D, class Mean>
std::size_t DivideNarrow(D d, const BoxDifferences<std::uint32_t>& boxes, const Divisors& divisors,
                         std::size_t i, std::size_t count, Mean* means) {
  const hn::RebindToSigned<D> d32;
  const hn::RebindToUnsigned<D> sums;
  const auto half_up = hn::Set(d, static_cast<float>(divisors.half_up));
  const auto reciprocal = hn::Set(d, 1.0F / static_cast<float>(divisors.divisor));
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto sum = hn::Sub(hn::LoadU(sums, boxes.ahead[0] + i), hn::LoadU(sums, boxes.behind[0] + i));
    const auto mean = hn::Mul(hn::Add(hn::ConvertTo(d, hn::BitCast(d32, sum)), half_up), reciprocal);
    const auto whole = hn::ConvertTo(d32, mean);
    if constexpr (sizeof(Mean) == 4) {
      hn::StoreU(hn::BitCast(sums, whole), sums, means + i);
    } else {
      const hn::Rebind<Mean, D> narrow;
      hn::StoreU(hn::DemoteTo(narrow, whole), narrow, means + i);
    }
  }
  return i;
}

template <int Boxes, class Sum, class Mean>
void DivideAll(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t count, Mean* means) {
  const hn::ScalableTag<double> wide;
  const hn::CappedTag<double, 1> one;
  std::size_t done = 0;
  if (divisors.size_x != nullptr) {
    done = DivideEach<Boxes>(wide, boxes, divisors, done, count, means);
    DivideEach<Boxes>(one, boxes, divisors, done, count, means);
    return;
  }
  if constexpr (sizeof(Sum) == 4 && Boxes == 1) {
    if (divisors.narrow) done = DivideNarrow(hn::ScalableTag<float>(), boxes, divisors, done, count, means);
  }
  done = DivideByOne<Boxes>(wide, boxes, divisors, done, count, means);
  DivideByOne<Boxes>(one, boxes, divisors, done, count, means);
}

template <class Sum, class Mean>
void Divide(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t count, Mean* means) {
  boxes.boxes == 1 ? DivideAll<1>(boxes, divisors, count, means)
                   : DivideAll<4>(boxes, divisors, count, means);
}

template <class Sum>
double AlphaSum(const BoxDifferences<Sum>& boxes, std::size_t at) {
  double sum = 0;
  for (int box = 0; box < boxes.boxes; ++box)
    sum += static_cast<double>(static_cast<Sum>(boxes.ahead[box][at] - boxes.behind[box][at])) *
           boxes.weight[box];
  return sum;
}

template <int Boxes, std::size_t Channels, class Sum>
void DivideByAlpha(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t pixels,
                   std::uint32_t white, std::uint32_t* HWY_RESTRICT means) {
  const hn::CappedTag<double, Channels> d;
  for (std::size_t i = 0; i < pixels * Channels; i += Channels) {
    const std::size_t alpha = i + Channels - 1;
    const double weight = AlphaSum(boxes, alpha);
    double half_up = divisors.half_up;
    double reciprocal = divisors.reciprocal;
    if (divisors.size_x != nullptr) {
      const double size = divisors.size_x[alpha] * divisors.size_y;
      half_up = static_cast<double>(static_cast<std::uint64_t>(size) >> 1U) + 0.5;
      reciprocal = 1.0 / size;
    }
    const auto divisor = hn::Set(d, weight > 0 ? weight : 1.0);
    const auto half = hn::Set(d, static_cast<double>(static_cast<std::uint64_t>(weight) >> 1U) + 0.5);
    for (std::size_t c = 0; c < Channels; c += hn::Lanes(d)) {
      const auto colour = hn::Div(hn::Add(WeightedSum<Boxes>(d, boxes, i + c), half), divisor);
      StoreMeans(d, hn::Min(colour, hn::Set(d, white)), means + i + c);
    }
    means[alpha] = static_cast<std::uint32_t>((weight + half_up) * reciprocal);
  }
}

template <class Sum>
void DivideByAnyAlpha(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t pixels,
                      std::size_t channels, std::uint32_t white, std::uint32_t* means) {
  if (channels == 2) {
    boxes.boxes == 1 ? DivideByAlpha<1, 2>(boxes, divisors, pixels, white, means)
                     : DivideByAlpha<4, 2>(boxes, divisors, pixels, white, means);
  } else {
    boxes.boxes == 1 ? DivideByAlpha<1, 4>(boxes, divisors, pixels, white, means)
                     : DivideByAlpha<4, 4>(boxes, divisors, pixels, white, means);
  }
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
void AddU32(const U32* v, std::size_t n, U32* s) { Add(v, n, s); }
void AddU64(const U64* v, std::size_t n, U64* s) { Add(v, n, s); }
void ExchangeU8(const U8* e, const U8* l, std::size_t n, U32* s) { Exchange(e, l, n, s); }
void ExchangeU16(const U16* e, const U16* l, std::size_t n, U32* s) { Exchange(e, l, n, s); }
void ExchangeU32(const U32* e, const U32* l, std::size_t n, U32* s) { Exchange(e, l, n, s); }
void ExchangeU64(const U64* e, const U64* l, std::size_t n, U64* s) { Exchange(e, l, n, s); }
void ScanU32(const U32* v, std::size_t n, std::size_t c, const U32* s, const U32* a, bool k, U32* o) {
  Scan(v, n, c, s, a, k, o);
}
void ScanU64(const U64* v, std::size_t n, std::size_t c, const U64* s, const U64* a, bool k, U64* o) {
  Scan(v, n, c, s, a, k, o);
}
void DivideU32U8(const BoxDifferences<U32>& b, const Divisors& d, std::size_t n, U8* m) {
  Divide(b, d, n, m);
}
void DivideU32U16(const BoxDifferences<U32>& b, const Divisors& d, std::size_t n, U16* m) {
  Divide(b, d, n, m);
}
void DivideU32U32(const BoxDifferences<U32>& b, const Divisors& d, std::size_t n, U32* m) {
  Divide(b, d, n, m);
}
void DivideU64U8(const BoxDifferences<U64>& b, const Divisors& d, std::size_t n, U8* m) {
  Divide(b, d, n, m);
}
void DivideU64U16(const BoxDifferences<U64>& b, const Divisors& d, std::size_t n, U16* m) {
  Divide(b, d, n, m);
}
void DivideU64U32(const BoxDifferences<U64>& b, const Divisors& d, std::size_t n, U32* m) {
  Divide(b, d, n, m);
}
void DivideByAlphaU32(const BoxDifferences<U32>& b, const Divisors& d, std::size_t n, std::size_t c, U32 w,
                      U32* m) {
  DivideByAnyAlpha(b, d, n, c, w, m);
}
void DivideByAlphaU64(const BoxDifferences<U64>& b, const Divisors& d, std::size_t n, std::size_t c, U32 w,
                      U32* m) {
  DivideByAnyAlpha(b, d, n, c, w, m);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(WidenU8);
HWY_EXPORT(WidenU16);
HWY_EXPORT(NarrowU8);
HWY_EXPORT(NarrowU16);
HWY_EXPORT(AddU32);
HWY_EXPORT(AddU64);
HWY_EXPORT(ExchangeU8);
HWY_EXPORT(ExchangeU16);
HWY_EXPORT(ExchangeU32);
HWY_EXPORT(ExchangeU64);
HWY_EXPORT(ScanU32);
HWY_EXPORT(ScanU64);
HWY_EXPORT(DivideU32U8);
HWY_EXPORT(DivideU32U16);
HWY_EXPORT(DivideU32U32);
HWY_EXPORT(DivideU64U8);
HWY_EXPORT(DivideU64U16);
HWY_EXPORT(DivideU64U32);
HWY_EXPORT(DivideByAlphaU32);
HWY_EXPORT(DivideByAlphaU64);

void widen(const std::uint8_t* source, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WidenU8)(source, count, values);
}
void widen(const std::uint16_t* source, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(WidenU16)(source, count, values);
}

void narrow(const std::uint32_t* values, std::size_t count, std::uint8_t* narrow) {
  HWY_DYNAMIC_DISPATCH(NarrowU8)(values, count, narrow);
}
void narrow(const std::uint32_t* values, std::size_t count, std::uint16_t* narrow) {
  HWY_DYNAMIC_DISPATCH(NarrowU16)(values, count, narrow);
}

void add(const std::uint32_t* values, std::size_t count, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU32)(values, count, sums);
}
void add(const std::uint64_t* values, std::size_t count, std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddU64)(values, count, sums);
}

void exchange(const std::uint8_t* enters, const std::uint8_t* leaves, std::size_t count,
              std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU8)(enters, leaves, count, sums);
}
void exchange(const std::uint16_t* enters, const std::uint16_t* leaves, std::size_t count,
              std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU16)(enters, leaves, count, sums);
}
void exchange(const std::uint32_t* enters, const std::uint32_t* leaves, std::size_t count,
              std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU32)(enters, leaves, count, sums);
}
void exchange(const std::uint64_t* enters, const std::uint64_t* leaves, std::size_t count,
              std::uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(ExchangeU64)(enters, leaves, count, sums);
}

void scan(const std::uint32_t* values, std::size_t pixels, int channels, const std::uint32_t* start,
          const std::uint32_t* above, bool slack, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU32)(values, pixels, static_cast<std::size_t>(channels), start, above, slack, out);
}
void scan(const std::uint64_t* values, std::size_t pixels, int channels, const std::uint64_t* start,
          const std::uint64_t* above, bool slack, std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(ScanU64)(values, pixels, static_cast<std::size_t>(channels), start, above, slack, out);
}

template <>
void divide(const BoxDifferences<std::uint32_t>& boxes, const Divisors& divisors, std::size_t count,
            std::uint8_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU32U8)(boxes, divisors, count, means);
}
template <>
void divide(const BoxDifferences<std::uint32_t>& boxes, const Divisors& divisors, std::size_t count,
            std::uint16_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU32U16)(boxes, divisors, count, means);
}
template <>
void divide(const BoxDifferences<std::uint32_t>& boxes, const Divisors& divisors, std::size_t count,
            std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU32U32)(boxes, divisors, count, means);
}
template <>
void divide(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, std::size_t count,
            std::uint8_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU64U8)(boxes, divisors, count, means);
}
template <>
void divide(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, std::size_t count,
            std::uint16_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU64U16)(boxes, divisors, count, means);
}
template <>
void divide(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, std::size_t count,
            std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideU64U32)(boxes, divisors, count, means);
}

template <>
void divide_by_alpha(const BoxDifferences<std::uint32_t>& boxes, const Divisors& divisors, std::size_t pixels,
                     int channels, std::uint32_t white, std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideByAlphaU32)
  (boxes, divisors, pixels, static_cast<std::size_t>(channels), white, means);
}
template <>
void divide_by_alpha(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, std::size_t pixels,
                     int channels, std::uint32_t white, std::uint32_t* means) {
  HWY_DYNAMIC_DISPATCH(DivideByAlphaU64)
  (boxes, divisors, pixels, static_cast<std::size_t>(channels), white, means);
}

}  // namespace satin::cpu
#endif
