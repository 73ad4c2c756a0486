// Rows of local statistics, compiled for every SIMD target: the same bytes from all of them, and from
// statistics/maths/local_statistics.h. Most loops are plain: the compiler makes vectors of them, as they hold
// no dependence and no call.

#if defined(SATIN_LOCAL_STATISTICS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LOCAL_STATISTICS_INL_H
#undef SATIN_LOCAL_STATISTICS_INL_H
#else
#define SATIN_LOCAL_STATISTICS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "statistics/maths/local_statistics.h"
#include "statistics/maths/quick_number.h"
#include "statistics/maths/quick_threshold.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Windows of one row: pixel i covers the columns i ... i + span - 1 of the extended row, whose exclusive
/// prefix sums are given, and `counts[i]` pixels. Sum is u32 or u64.
template <class Sum>
struct WindowRow {
  const Sum* sums = nullptr;
  const Sum* squares = nullptr;
  const double* counts = nullptr;
  std::size_t span = 1;
  Quantised quantised{};
  bool exact_in_double = false;  ///< count * squares < 2^53 and offset 0
};

/// sums += enters - leaves and squares += enters^2 - leaves^2, element by element, modulo 2^32 or 2^64:
/// a^2 - b^2 = (a - b) (a + b).
template <class Stored, class Sum>
void ExchangeWithSquares(const Stored* HWY_RESTRICT enters, const Stored* HWY_RESTRICT leaves,
                         std::size_t count, Sum* HWY_RESTRICT sums, Sum* HWY_RESTRICT squares) {
  for (std::size_t i = 0; i < count; ++i) {
    const Sum in = enters[i];
    const Sum out = leaves[i];
    sums[i] += in - out;
    squares[i] += (in - out) * (in + out);
  }
}

template <class Sum>
void OneByOne(const WindowRow<Sum>& row, std::size_t first, std::size_t count, double* means,
              double* deviations) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = first + i;
    const WindowSums sums{static_cast<std::uint64_t>(row.counts[at]),
                          static_cast<Sum>(row.sums[at + row.span] - row.sums[at]),
                          static_cast<Sum>(row.squares[at + row.span] - row.squares[at])};
    const LocalStatistics found = local_statistics(sums, row.quantised);
    means[i] = found.mean;
    deviations[i] = found.deviation;
  }
}

/// The differences of prefixes that are `span` apart, as doubles.
template <class D, class Sum>
HWY_INLINE auto WindowSumsAt(D d, const Sum* prefix, std::size_t span) {
  const hn::Rebind<Sum, D> integers;
  const hn::RebindToSigned<decltype(integers)> signed_integers;
  const auto sum = hn::Sub(hn::LoadU(integers, prefix + span), hn::LoadU(integers, prefix));
  if constexpr (sizeof(Sum) == 4) {  // moved into the range of signed ones, and back
    constexpr std::uint32_t half = 0x80000000U;
    const auto moved = hn::BitCast(signed_integers, hn::Xor(sum, hn::Set(integers, half)));
    return hn::Add(hn::PromoteTo(d, moved), hn::Set(d, static_cast<double>(half)));
  } else {
    return hn::ConvertTo(d, hn::BitCast(signed_integers, sum));
  }
}

/// n Q - S^2, exact.
template <class D, class Sum>
HWY_INLINE auto RadicandAt(D d, const WindowRow<Sum>& row, std::size_t at) {
  const auto sum = WindowSumsAt(d, row.sums + at, row.span);
  const auto squares = WindowSumsAt(d, row.squares + at, row.span);
  return hn::Sub(hn::Mul(hn::LoadU(d, row.counts + at), squares), hn::Mul(sum, sum));
}

/// Mean and deviation of the pixels [first, first + count), in vectors where doubles hold every integer
/// exactly.
template <class Sum>
void Statistics(const WindowRow<Sum>& row, std::size_t first, std::size_t count, double* HWY_RESTRICT means,
                double* HWY_RESTRICT deviations) {
  if (!row.exact_in_double) return OneByOne(row, first, count, means, deviations);
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto n = hn::LoadU(d, row.counts + first + i);
    hn::StoreU(hn::Div(WindowSumsAt(d, row.sums + first + i, row.span), n), d, means + i);
    hn::StoreU(hn::Div(hn::Sqrt(RadicandAt(d, row, first + i)), n), d, deviations + i);
  }
  OneByOne(row, first + i, count - i, means + i, deviations + i);
}

/// The largest n Q - S^2 of the pixels [first, first + count) of a row that is exact in double.
template <class Sum>
double LargestRadicand(const WindowRow<Sum>& row, std::size_t first, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) largest = hn::Max(largest, RadicandAt(d, row, first + i));
  const hn::CappedTag<double, 1> one;
  double result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < count; ++i) result = std::max(result, hn::GetLane(RadicandAt(one, row, first + i)));
  return result;
}

template <class ThresholdOf>
void Compare(const ThresholdOf& threshold_of, const double* HWY_RESTRICT values,
             const double* HWY_RESTRICT means, const double* HWY_RESTRICT deviations, std::size_t count,
             bool inverted, std::uint8_t* HWY_RESTRICT out) {
  const std::uint8_t above = inverted ? 0 : 255;
  for (std::size_t i = 0; i < count; ++i) {
    const bool white = values[i] > threshold_of(LocalStatistics{means[i], deviations[i]});
    out[i] = static_cast<std::uint8_t>(white ? above : 255 - above);
  }
}

/// 255 where a value is above its threshold, otherwise 0; the other way round if inverted.
inline void Binarise(const ThresholdRule& rule, const PictureExtremes& extremes, const double* values,
                     const double* means, const double* deviations, std::size_t count, bool inverted,
                     std::uint8_t* out) {
  const auto compare = [&]<ThresholdMethod method>() {
    ThresholdRule known = rule;
    known.method = method;
    Compare([&](LocalStatistics at) { return local_threshold(known, extremes, at); }, values, means,
            deviations, count, inverted, out);
  };
  switch (rule.method) {
    case ThresholdMethod::bradley:
      return compare.template operator()<ThresholdMethod::bradley>();
    case ThresholdMethod::niblack:
      return compare.template operator()<ThresholdMethod::niblack>();
    case ThresholdMethod::sauvola:
      return compare.template operator()<ThresholdMethod::sauvola>();
    case ThresholdMethod::wolf:
      return compare.template operator()<ThresholdMethod::wolf>();
    case ThresholdMethod::nick:
      return compare.template operator()<ThresholdMethod::nick>();
    case ThresholdMethod::otsu:
    case ThresholdMethod::fixed:
      return;  // one level for all pixels: FixedThresholdOperation
  }
}

/// T - value for one vector of pixels. `Spread`: T depends on the deviation.
template <bool Spread, class Wide>
HWY_INLINE auto BelowThreshold(Wide wide, const QuickThreshold& threshold,
                               const WindowRow<std::uint32_t>& row, const float* inverses,
                               const std::uint8_t* values, std::size_t at) {
  const hn::Rebind<float, Wide> d;
  const auto inverse = hn::LoadU(d, inverses + at);
  const auto sum = WindowSumsAt(wide, row.sums + at, row.span);
  const auto mean = hn::Mul(hn::DemoteTo(d, sum), inverse);
  auto factor = hn::Set(d, threshold.of_mean);
  auto rest = hn::Set(d, threshold.constant);
  if constexpr (Spread) {
    auto radicand = hn::Mul(hn::LoadU(wide, row.counts + at), WindowSumsAt(wide, row.squares + at, row.span));
    if (!threshold.without_mean) radicand = hn::Sub(radicand, hn::Mul(sum, sum));
    const auto spread = hn::Mul(hn::Sqrt(hn::DemoteTo(d, radicand)), inverse);
    factor = hn::MulAdd(hn::Set(d, threshold.of_product), spread, factor);
    rest = hn::MulAdd(hn::Set(d, threshold.of_spread), spread, rest);
  }
  const hn::Rebind<std::uint8_t, Wide> bytes;
  const hn::Rebind<std::int32_t, Wide> integers;
  const auto value = hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, values + at)));
  return hn::Sub(hn::MulAdd(mean, factor, rest), value);
}

template <bool Spread>
std::size_t Quickly(const QuickThreshold& threshold, const WindowRow<std::uint32_t>& row,
                    const float* inverses, const std::uint8_t* values, std::size_t count, bool inverted,
                    std::uint8_t* out, std::uint32_t* open) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> d;
  const hn::Rebind<std::int32_t, decltype(wide)> integers;
  const hn::Rebind<std::uint8_t, decltype(wide)> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const auto flip = hn::Set(integers, inverted ? 0xFF : 0);
  const auto doubt = hn::Set(d, threshold.doubt);
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto below = BelowThreshold<Spread>(wide, threshold, row, inverses, values, i);
    const auto white = hn::RebindMask(integers, hn::Lt(below, hn::Zero(d)));
    const auto byte = hn::Xor(hn::IfThenElseZero(white, hn::Set(integers, 0xFF)), flip);
    hn::StoreU(hn::DemoteTo(bytes, byte), bytes, out + i);
    const auto distance = hn::Abs(below);
    if (hn::AllTrue(d, hn::Gt(distance, doubt))) continue;
    float distances[hn::MaxLanes(d)];
    hn::StoreU(distance, d, distances);
    for (std::size_t k = 0; k < lanes; ++k)
      if (!(distances[k] > threshold.doubt)) open[found++] = static_cast<std::uint32_t>(i + k);
  }
  for (; i < count; ++i) open[found++] = static_cast<std::uint32_t>(i);
  return found;
}

/// The same in floats, for all `count` pixels of a row that is exact in double; inverses[i] is 1 / counts[i],
/// rounded. Returns how many pixels that leaves open; their indices are in `open`, which has room for all.
inline std::size_t BinariseQuickly(const QuickThreshold& threshold, const WindowRow<std::uint32_t>& row,
                                   const float* inverses, const std::uint8_t* values, std::size_t count,
                                   bool inverted, std::uint8_t* out, std::uint32_t* open) {
  const bool spread = threshold.of_product != 0 || threshold.of_spread != 0;
  return spread ? Quickly<true>(threshold, row, inverses, values, count, inverted, out, open)
                : Quickly<false>(threshold, row, inverses, values, count, inverted, out, open);
}

/// Normalised values of one vector of pixels, clamped.
template <class Wide, class Stored, class Sum>
HWY_INLINE auto NormalisedAt(Wide wide, const QuickNumber& number, const WindowRow<Sum>& row,
                             const float* inverses, const Stored* values, std::size_t at) {
  const hn::Rebind<float, Wide> d;
  const hn::Rebind<Stored, Wide> stored;
  const hn::Rebind<std::int32_t, Wide> integers;
  const auto value = hn::PromoteTo(wide, hn::PromoteTo(integers, hn::LoadU(stored, values + at)));
  const auto sum = WindowSumsAt(wide, row.sums + at, row.span);
  const auto difference = hn::DemoteTo(d, hn::Sub(hn::Mul(hn::LoadU(wide, row.counts + at), value), sum));
  const auto root = hn::Sqrt(hn::DemoteTo(d, RadicandAt(wide, row, at)));
  const auto positive = hn::Max(root, hn::Set(d, 0.5F));  // of equal values, whose difference is 0
  const auto most = hn::Mul(hn::Set(d, number.gain), hn::LoadU(d, inverses + at));
  const auto scale = hn::Min(most, hn::Div(hn::Set(d, number.target), positive));
  const auto part = hn::MulAdd(difference, scale, hn::Set(d, number.mean));
  const auto clamped = hn::Min(hn::Max(part, hn::Zero(d)), hn::Set(d, 1.0F));
  const auto flat = hn::Eq(difference, hn::Zero(d));
  constexpr float largest = static_cast<Stored>(~Stored{0});
  return hn::Mul(hn::IfThenElse(flat, hn::Set(d, number.flat), clamped), hn::Set(d, largest));
}

template <bool Normalised, class Stored, class Sum>
std::size_t Numbers(const QuickNumber& number, const WindowRow<Sum>& row, const float* inverses,
                    const Stored* values, std::size_t count, Stored* HWY_RESTRICT out, std::uint32_t* open) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> d;
  const hn::Rebind<std::int32_t, decltype(wide)> integers;
  const hn::Rebind<Stored, decltype(wide)> stored;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, number.limit);
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto here = [&] {
      if constexpr (Normalised) return NormalisedAt(wide, number, row, inverses, values, i);
      return hn::Mul(hn::Sqrt(hn::DemoteTo(d, RadicandAt(wide, row, i))), hn::LoadU(d, inverses + i));
    }();
    const auto nearest = hn::Round(here);
    hn::StoreU(hn::DemoteTo(stored, hn::ConvertTo(integers, nearest)), stored, out + i);
    const auto distance = hn::Abs(hn::Sub(here, nearest));
    if (hn::AllTrue(d, hn::Le(distance, limit))) continue;
    float distances[hn::MaxLanes(d)];
    hn::StoreU(distance, d, distances);
    for (std::size_t k = 0; k < lanes; ++k)
      if (!(distances[k] <= number.limit)) open[found++] = static_cast<std::uint32_t>(i + k);
  }
  for (; i < count; ++i) open[found++] = static_cast<std::uint32_t>(i);
  return found;
}

/// The stored integers of deviations, or with `normalised` of normalised values, of all `count` pixels of a
/// row that is exact in double. Which pixels that leaves open, and `inverses`, as above. Stored and Sum are
/// u8 and u32, u8 and u64, or u16 and u64.
template <class Stored, class Sum>
std::size_t NumberQuickly(const QuickNumber& number, bool normalised, const WindowRow<Sum>& row,
                          const float* inverses, const Stored* values, std::size_t count, Stored* stored,
                          std::uint32_t* open) {
  return normalised ? Numbers<true>(number, row, inverses, values, count, stored, open)
                    : Numbers<false>(number, row, inverses, values, count, stored, open);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
