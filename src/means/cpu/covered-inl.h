// The two row loops of a box whose edge pixels count by their covered part, compiled for every SIMD target:
// down the columns, then along the row. Doubles hold integers that they represent exactly.

#if defined(SATIN_COVERED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_COVERED_INL_H
#undef SATIN_COVERED_INL_H
#else
#define SATIN_COVERED_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One step down: sums[i] += enters[i] - above[i], the sum over the whole rows of the window, and
/// weighted[i] = 256 sums[i] + outer (above[i] + below[i]), with the rows that it covers partly. `above` left
/// the window in this step. Value is u8, u16 or u32. Sums and, where Sum is u32, weighted sums are below
/// 2^31.
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

/// One row of means. With the sums a and b over [i - reach - step, i + reach] and the window one pixel wider
/// on either side, taken from prefix sums as differences, mean = round((whole a + outer (b - a)) / divisor),
/// ties up.
template <class Sum>
struct CoveredRow {
  const Sum* prefix = nullptr;  ///< of the first pixel
  std::size_t reach = 0;        ///< of the whole pixels, in entries
  std::size_t step = 1;         ///< entries of a pixel
  double whole = 1;             ///< a power of two
  double outer = 0;
  double divisor = 1;
  const double* size_x = nullptr;  ///< not null: divisor * size_x[i] instead
};

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

/// Quotients in single precision, of means up to `largest`, for one divisor.
template <class D>
struct Estimate {
  using V = hn::Vec<D>;
  using Words = hn::VFromD<hn::RebindToUnsigned<D>>;

  Estimate(D tag, const CoveredRow<std::uint32_t>& row, double largest, double lift)
      : d(tag), middle(largest * row.divisor / row.whole < 0x1p31 ? 0 : 0x80000000U) {
    whole = hn::Set(d, static_cast<float>(row.whole / row.divisor));
    outer = hn::Set(d, static_cast<float>(row.outer / row.divisor));
    bias = hn::Set(d, static_cast<float>(middle * (row.whole / row.divisor) + lift));
  }

  /// (whole a + outer edges) / divisor + lift. Ten roundings at most, each below largest / 2^24: conversion
  /// is of signed words, so that of sums beyond 2^31 the middle is taken away first.
  HWY_INLINE V operator()(Words a, Words edges) const {
    const hn::RebindToUnsigned<D> words;
    const hn::RebindToSigned<D> integers;
    const auto centred = hn::BitCast(integers, hn::Sub(a, hn::Set(words, middle)));
    const auto at_edges = hn::MulAdd(hn::ConvertTo(d, hn::BitCast(integers, edges)), outer, bias);
    return hn::MulAdd(hn::ConvertTo(d, centred), whole, at_edges);
  }

  D d;
  std::uint32_t middle;
  V whole, outer, bias;
};

template <class D>
struct CoveredWords {
  hn::VFromD<D> inner;  ///< over the whole pixels
  hn::VFromD<D> edges;  ///< those on either side
};

template <class D>
HWY_INLINE CoveredWords<D> LoadCovered(D d, const CoveredRow<std::uint32_t>& row, std::size_t i) {
  const std::uint32_t* at = row.prefix + i;
  const auto inner = hn::Sub(hn::LoadU(d, at + row.reach), hn::LoadU(d, at - row.reach - row.step));
  const auto all =
      hn::Sub(hn::LoadU(d, at + row.reach + row.step), hn::LoadU(d, at - row.reach - 2 * row.step));
  return {inner, hn::Sub(all, inner)};
}

/// Means of 16 bits with a divisor up to 2^30: an estimate that is a quarter low errs by less than another
/// quarter, so that it is rounded to the mean or to one less, and the remainder, which modular words hold
/// exactly, tells which.
template <class D>
void DivideByRemainder(D d, CoveredRow<std::uint32_t> row, std::size_t count, std::uint16_t* means) {
  const hn::RebindToFloat<D> floats;
  const hn::RebindToSigned<D> integers;
  const hn::Rebind<std::uint16_t, D> narrow;
  constexpr float round = 0x1.8p23F;  // rounds to integers, in the low bits
  const auto divisor = static_cast<std::uint32_t>(row.divisor);
  const Estimate estimate(floats, row, 0x1p16, -0.25);
  const int whole_bits = std::countr_zero(static_cast<std::uint32_t>(row.whole));
  const auto outer = hn::Set(d, static_cast<std::uint32_t>(row.outer));
  const auto low_bits = hn::BitCast(d, hn::Set(floats, round));
  const auto last_below = hn::Set(integers, static_cast<std::int32_t>((divisor - 1) / 2));
  for (std::size_t next = 0; next < count; next += hn::Lanes(d)) {
    const std::size_t i = std::min(next, count - hn::Lanes(d));
    const auto [inner, edges] = LoadCovered(d, row, i);
    const auto rounded = hn::Add(estimate(inner, edges), hn::Set(floats, round));
    const auto quotient = hn::Sub(hn::BitCast(d, rounded), low_bits);
    const auto sum = hn::Add(hn::ShiftLeftSame(inner, whole_bits), hn::Mul(edges, outer));
    const auto rest = hn::BitCast(integers, hn::Sub(sum, hn::Mul(quotient, hn::Set(d, divisor))));
    const auto above = hn::RebindMask(d, hn::Gt(rest, last_below));
    const auto mean = hn::IfThenElse(above, hn::Add(quotient, hn::Set(d, 1U)), quotient);
    hn::StoreU(hn::TruncateTo(narrow, mean), narrow, means + i);
  }
}

/// Means of 8 bits: an estimate errs by less than 2^-12, so that only what lies as near to the middle between
/// two integers is divided in doubles.
template <class D>
void DivideByEstimate(D d, CoveredRow<std::uint32_t> row, std::size_t count, std::uint8_t* means) {
  const hn::RebindToFloat<D> floats;
  const hn::Rebind<std::uint8_t, D> narrow;
  const auto round = hn::Set(floats, 0x1p23F);
  const auto certain = hn::Set(floats, 0.5F - 0x1p-12F);
  const Estimate estimate(floats, row, 0x1p8, 0);
  for (std::size_t next = 0; next < count; next += hn::Lanes(d)) {
    const std::size_t i = std::min(next, count - hn::Lanes(d));
    const auto [inner, edges] = LoadCovered(d, row, i);
    const auto quotient = estimate(inner, edges);
    const auto rounded = hn::Add(quotient, round);
    const auto apart = hn::Abs(hn::Sub(quotient, hn::Sub(rounded, round)));
    if (hn::AllTrue(floats, hn::Lt(apart, certain))) {
      hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(d, rounded)), narrow, means + i);
    } else {
      DivideVectors(hn::ScalableTag<double>(), row, i, i + hn::Lanes(d), means);
    }
  }
}

constexpr double largest_word_divisor = 0x1p30;

/// Whether all means, of 8 or 16 bits, are stored with single precision. The last vector may overlap the one
/// before.
template <class Mean>
bool DivideShort(const CoveredRow<std::uint32_t>& row, std::size_t count, Mean* means) {
  const hn::ScalableTag<std::uint32_t> d;
  if (hn::MaxLanes(d) == 1 || count < hn::Lanes(d) || row.size_x != nullptr) return false;
  if constexpr (sizeof(Mean) == 1) {
    DivideByEstimate(d, row, count, means);
  } else {
    if (row.divisor > largest_word_divisor) return false;
    DivideByRemainder(d, row, count, means);
  }
  return true;
}

/// means[i] of `count` entries. Exact where weighted sums s are below 2^50 and means below 2^31: (s + 1/4) /
/// divisor lies at least 1 / (4 divisor) from the middle between two integers, on the side of s / divisor and
/// above it in ties, and a product with the rounded reciprocal errs by less. Where Sum is u32, a is below
/// 2^32 and b - a below 2^31.
template <class Sum, class Mean>
void DivideCovered(const CoveredRow<Sum>& row, std::size_t count, Mean* means) {
  if constexpr (sizeof(Sum) == 4 && sizeof(Mean) < 4) {
    if (DivideShort(row, count, means)) return;
  }
  const std::size_t done = DivideVectors(hn::ScalableTag<double>(), row, 0, count, means);
  DivideVectors(hn::CappedTag<double, 1>(), row, done, count, means);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
