// Means of a row from its prefix sums, compiled for every SIMD target. Doubles hold integers that they
// represent exactly, so that every target gives the same bytes.

#if defined(SATIN_DIVIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DIVIDE_INL_H
#undef SATIN_DIVIDE_INL_H
#else
#define SATIN_DIVIDE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "means/cpu/box_mean_ways.h"
#include "pixels/cpu/load_wide-inl.h"
#include "pixels/cpu/pixel_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Weighted differences of prefixes: the sums over the whole boxes of one window.
template <class Sum>
struct BoxDifferences {
  int boxes = 1;  ///< 1 or 4
  const Sum* ahead[4] = {};
  const Sum* behind[4] = {};
  double weight[4] = {};
};

/// Divisors of one row: one for all entries, or size_x[i] * size_y for each.
struct Divisors {
  double divisor = 1;
  double half_up = 0;     ///< floor(divisor / 2) + 1/2
  double reciprocal = 0;  ///< 1 / divisor, correctly rounded
  const double* size_x = nullptr;
  double size_y = 0;
  bool words = false;  ///< (largest mean + 1/2) * divisor is below word_divide_limit; one whole box, whose
                       ///< weight is a power of two
  bool long_sums = false;  ///< it is not below divide_limit, but below long_divide_limit; sums of 64 bits
};

template <class D, class Sum>
auto DifferenceAsDouble(D d, const Sum* ahead, const Sum* behind) {
  const hn::Rebind<Sum, D> sums;
  return ExactDouble(d, hn::Sub(hn::LoadU(sums, ahead), hn::LoadU(sums, behind)));
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

/// Means with a divisor for each entry, by correctly rounded division. A quarter lifts ties over the middle
/// between two integers, and nothing else.
template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideEach(D d, const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t i,
                       std::size_t count, Mean* means) {
  const auto size_y = hn::Set(d, divisors.size_y);
  const auto quarter = hn::Set(d, 0.25);
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto divisor = hn::Mul(hn::LoadU(d, divisors.size_x + i), size_y);
    const auto sum = hn::Add(WeightedSum<Boxes>(d, boxes, i), quarter);
    StoreNearest(d, hn::Add(hn::Div(sum, divisor), round), means + i);
  }
  return i;
}

/// Means with one divisor, by its reciprocal. `boxes` is a copy, which no store to the means can change.
template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideByOne(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                        std::size_t count, Mean* means) {
  const auto quarter = hn::Set(d, 0.25);
  const auto round = hn::Set(d, rounding_for<Mean>);
  const auto reciprocal = hn::Set(d, divisors.reciprocal);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto sum = hn::Add(WeightedSum<Boxes>(d, boxes, i), quarter);
    StoreNearest(d, hn::MulAdd(sum, reciprocal, round), means + i);
  }
  return i;
}

/// A sum of integers beyond 2^53: high 2^24 + low, each exact.
template <class V>
struct LongSum {
  V high;
  V low;
};

template <int Boxes, class D, class Sum>
LongSum<hn::Vec<D>> WeightedLongSum(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  const hn::Rebind<Sum, D> sums;
  LongSum<hn::Vec<D>> result{hn::Zero(d), hn::Zero(d)};
  for (int box = 0; box < Boxes; ++box) {
    const auto difference =
        hn::Sub(hn::LoadU(sums, boxes.ahead[box] + i), hn::LoadU(sums, boxes.behind[box] + i));
    const auto weight = hn::Set(d, boxes.weight[box]);
    const auto high = ExactDouble(d, hn::ShiftRight<24>(difference));
    const auto low = ExactDouble(d, hn::And(difference, hn::Set(sums, 0xFFFFFF)));
    result.high = hn::MulAdd(high, weight, result.high);
    result.low = hn::MulAdd(low, weight, result.low);
  }
  return result;
}

/// The integer nearest to sum / divisor, ties up: an estimate that errs by at most one, then its remainder.
/// All products and differences but the estimate's are exact.
template <class D, class V>
V LongQuotient(D d, LongSum<V> sum, V divisor) {
  const auto unit = hn::Set(d, 0x1p24);
  const auto round = hn::Set(d, 0x1p52);
  const auto estimate = hn::Div(hn::MulAdd(sum.high, unit, sum.low), divisor);
  const auto quotient = hn::Sub(hn::Add(estimate, round), round);
  const auto high = hn::Floor(hn::Mul(divisor, hn::Set(d, 0x1p-24)));
  const auto low = hn::NegMulAdd(high, unit, divisor);
  const auto rest =
      hn::MulAdd(hn::NegMulAdd(quotient, high, sum.high), unit, hn::NegMulAdd(quotient, low, sum.low));
  const auto twice = hn::Add(rest, rest);
  const auto one = hn::Set(d, 1.0);
  const auto more = hn::IfThenElseZero(hn::Ge(twice, divisor), one);
  const auto less = hn::IfThenElseZero(hn::Lt(twice, hn::Neg(divisor)), one);
  return hn::Sub(hn::Add(quotient, more), less);
}

template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideLong(D d, const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t i,
                       std::size_t count, Mean* means) {
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto divisor = divisors.size_x == nullptr
                             ? hn::Set(d, divisors.divisor)
                             : hn::Mul(hn::LoadU(d, divisors.size_x + i), hn::Set(d, divisors.size_y));
    const auto mean = LongQuotient(d, WeightedLongSum<Boxes>(d, boxes, i), divisor);
    StoreNearest(d, hn::Add(mean, round), means + i);
  }
  return i;
}

/// Floor(n / divisor) of words n below 2^31 is floor(n multiplier / 2^(31 + bits)), with 2^bits the first
/// power of two that is not below the divisor (Granlund and Montgomery 1994, theorem 4.2).
struct WordReciprocal {
  explicit WordReciprocal(std::uint32_t divisor)
      : bits(static_cast<int>(std::bit_width(divisor - 1))),
        multiplier(static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + bits)) + divisor - 1) / divisor)) {}
  int bits;
  std::uint32_t multiplier;
};

/// Means with one divisor of at least 2, in integers; at least a vector of them, the last of which may
/// overlap the one before.
template <class D, class Mean>
void DivideWords(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t count,
                 Mean* means) {
  const hn::RepartitionToWide<D> products;
  const hn::Rebind<Mean, D> narrow;
  const auto divisor = static_cast<std::uint32_t>(divisors.divisor);
  const WordReciprocal reciprocal(divisor);
  const auto multiplier = hn::Set(d, reciprocal.multiplier);
  const auto half = hn::Set(d, divisor / 2);
  const int weight_bits = std::countr_zero(static_cast<std::uint32_t>(boxes.weight[0]));
  for (std::size_t next = 0; next < count; next += hn::Lanes(d)) {
    const std::size_t i = std::min(next, count - hn::Lanes(d));
    const auto sum = hn::Sub(hn::LoadU(d, boxes.ahead[0] + i), hn::LoadU(d, boxes.behind[0] + i));
    const auto n = hn::Add(hn::ShiftLeftSame(sum, weight_bits), half);
    const auto odd_n = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(products, n)));
    const auto even = hn::BitCast(d, hn::ShiftRight<32>(hn::MulEven(n, multiplier)));
    const auto odd = hn::BitCast(d, hn::MulEven(odd_n, multiplier));
    const auto mean = hn::ShiftRightSame(hn::OddEven(odd, even), reciprocal.bits - 1);
    if constexpr (sizeof(Mean) == 4) {
      hn::StoreU(mean, d, means + i);
    } else {
      hn::StoreU(hn::TruncateTo(narrow, mean), narrow, means + i);
    }
  }
}

template <int Boxes, class Sum, class Mean>
void DivideAll(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t count, Mean* means) {
  const hn::ScalableTag<double> wide;
  const hn::CappedTag<double, 1> one;
  std::size_t done = 0;
  if constexpr (sizeof(Sum) == 8) {
    if (divisors.long_sums) {
      done = DivideLong<Boxes>(wide, boxes, divisors, done, count, means);
      DivideLong<Boxes>(one, boxes, divisors, done, count, means);
      return;
    }
  }
  if (divisors.size_x != nullptr) {
    done = DivideEach<Boxes>(wide, boxes, divisors, done, count, means);
    DivideEach<Boxes>(one, boxes, divisors, done, count, means);
    return;
  }
  constexpr hn::ScalableTag<std::uint32_t> words;
  if constexpr (sizeof(Sum) == 4 && Boxes == 1 && hn::MaxLanes(words) > 1) {
    if (divisors.words && divisors.divisor > 1 && count >= hn::Lanes(words))
      return DivideWords(words, boxes, divisors, count, means);
  }
  done = DivideByOne<Boxes>(wide, boxes, divisors, done, count, means);
  DivideByOne<Boxes>(one, boxes, divisors, done, count, means);
}

/// means[i] = round(sum of weight * (ahead[i] - behind[i]) / divisor), ties up, exactly: the sum s is an
/// integer below 2^50, (s + 1/4) / divisor lies at least 1 / (4 divisor) from the middle between two
/// integers, on the side of s / divisor or above it in ties, and the product with the rounded reciprocal errs
/// by less than that. Words are multiplied by an integer reciprocal instead. Long sums are held in two
/// doubles, so that the remainder of an estimate is exact and tells which integer is nearest. Differences of
/// 32-bit sums are below 2^31, means below 2^31. Means of 64 bits are signed, like the sums then: the bounds
/// are those of the magnitudes.
template <class Sum, class Mean>
void Divide(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t count, Mean* means) {
  boxes.boxes == 1 ? DivideAll<1>(boxes, divisors, count, means)
                   : DivideAll<4>(boxes, divisors, count, means);
}

/// Stores quotients without what is behind the point.
template <class D, class V>
void StoreWhole(D /*d*/, V quotients, std::uint32_t* to) {
  const hn::Rebind<std::uint32_t, D> words;
  hn::StoreU(hn::BitCast(words, hn::DemoteTo(hn::Rebind<std::int32_t, D>(), quotients)), words, to);
}

template <class Sum>
double AlphaSum(const BoxDifferences<Sum>& boxes, std::size_t at) {
  double sum = 0;
  for (int box = 0; box < boxes.boxes; ++box)
    sum += static_cast<double>(static_cast<Sum>(boxes.ahead[box][at] - boxes.behind[box][at])) *
           boxes.weight[box];
  return sum;
}

/// Vectors of whole pixels, of sums that doubles hold and one divisor.
template <int Boxes, std::size_t Channels, class Sum>
std::size_t DivideVectorsByAlpha(const BoxDifferences<Sum>& boxes, const Divisors& divisors,
                                 std::size_t count, std::uint32_t white, std::uint32_t* HWY_RESTRICT means) {
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  if constexpr (holds_pixels<Channels>) {
    if (divisors.size_x != nullptr || divisors.long_sums) return 0;
    const PixelLanes<Channels> lanes;
    const auto one = hn::Set(d, 1.0);
    const auto half = hn::Set(d, 0.5);
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      const auto sum = WeightedSum<Boxes>(d, boxes, i);
      const auto weight = lanes.alpha_of(sum);
      const auto half_weight = hn::Add(hn::Floor(hn::Mul(weight, half)), half);
      const auto colour = hn::Div(hn::Add(sum, half_weight), hn::Max(weight, one));
      const auto alpha = hn::Mul(hn::Add(sum, hn::Set(d, divisors.half_up)), hn::Set(d, divisors.reciprocal));
      StoreWhole(d, hn::IfThenElse(lanes.is_alpha, alpha, hn::Min(colour, hn::Set(d, white))), means + i);
    }
  }
  return i;
}

template <int Boxes, std::size_t Channels, class Sum>
void DivideByAlpha(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t pixels,
                   std::uint32_t white, std::uint32_t* HWY_RESTRICT means) {
  const hn::CappedTag<double, Channels> d;
  std::size_t i = DivideVectorsByAlpha<Boxes, Channels>(boxes, divisors, pixels * Channels, white, means);
  for (; i < pixels * Channels; i += Channels) {
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
      auto colour = hn::Zero(d);
      if (sizeof(Sum) == 8 && divisors.long_sums) {
        colour = LongQuotient(d, WeightedLongSum<Boxes>(d, boxes, i + c), divisor);
      } else {
        colour = hn::Div(hn::Add(WeightedSum<Boxes>(d, boxes, i + c), half), divisor);
      }
      StoreWhole(d, hn::Min(colour, hn::Set(d, white)), means + i + c);
    }
    means[alpha] = static_cast<std::uint32_t>((weight + half_up) * reciprocal);
  }
}

/// The same for pixels of 2 or 4 channels whose colours were summed times alpha: the last mean is that of
/// alpha, the others are round(colour sum / alpha sum), ties up, at most `white` (0 where no alpha was
/// summed). Weighted sums are below 2^50, so that the correctly rounded quotient of (s + 1/2) lies on the
/// right side of every integer; or long, and those of alpha below 2^52.
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

template <class D>
HWY_INLINE auto SignedDifference(D d, const std::uint64_t* ahead, const std::uint64_t* behind) {
  const hn::Rebind<std::uint64_t, D> sums;
  const hn::Rebind<std::int64_t, D> integers;
  return hn::ConvertTo(d, hn::BitCast(integers, hn::Sub(hn::LoadU(sums, ahead), hn::LoadU(sums, behind))));
}

template <int Boxes, class D>
std::size_t MeanVectors(D d, BoxDifferences<std::uint64_t> boxes, const Divisors& divisors, double scale,
                        std::size_t i, std::size_t count, float* means) {
  const hn::Rebind<float, D> floats;
  const auto scales = hn::Set(d, scale);
  const auto size_y = hn::Set(d, divisors.size_y);
  auto divisor = hn::Set(d, divisors.divisor);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (int box = 0; box < Boxes; ++box)  // a sum and a product apart: no target may fuse them
      sum = hn::Add(sum, hn::Mul(SignedDifference(d, boxes.ahead[box] + i, boxes.behind[box] + i),
                                 hn::Set(d, boxes.weight[box])));
    if (divisors.size_x != nullptr) divisor = hn::Mul(hn::LoadU(d, divisors.size_x + i), size_y);
    hn::StoreU(hn::DemoteTo(floats, hn::Mul(hn::Div(sum, divisor), scales)), floats, means + i);
  }
  return i;
}

template <int Boxes>
void MeansOf(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
             std::size_t count, float* means) {
  const std::size_t done =
      MeanVectors<Boxes>(hn::ScalableTag<double>(), boxes, divisors, scale, 0, count, means);
  MeanVectors<Boxes>(hn::CappedTag<double, 1>(), boxes, divisors, scale, done, count, means);
}

/// means[i] = (sum of weight * (ahead[i] - behind[i])) / divisor * scale, the differences signed and the
/// boxes added in their order, each step rounded as IEEE doubles are, the last one to float.
inline void FloatMeans(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
                       std::size_t count, float* means) {
  boxes.boxes == 1 ? MeansOf<1>(boxes, divisors, scale, count, means)
                   : MeansOf<4>(boxes, divisors, scale, count, means);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
