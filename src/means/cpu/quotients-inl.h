// Quotients of box sums, which are differences of prefix sums, in doubles, compiled for every SIMD target.
// Doubles hold integers that they represent exactly, so that every target gives the same bytes.

#if defined(SATIN_QUOTIENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_QUOTIENTS_INL_H
#undef SATIN_QUOTIENTS_INL_H
#else
#define SATIN_QUOTIENTS_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <type_traits>

#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Weighted differences of prefixes: the sums over the whole boxes of one window. Sum is u32, u64 or double.
/// Differences of u32 are below 2^31; of two boxes the inner one is below 2^32, and the other is larger by
/// less than 2^31.
template <class Sum>
struct BoxDifferences {
  int boxes = 1;  ///< 1 or 2; of u64 also 4
  const Sum* ahead[4] = {};
  const Sum* behind[4] = {};
  double weight[4] = {};
};

/// Divisors of one row.
struct Divisors {
  double divisor = 1;
  const double* size_x = nullptr;  ///< not null: of entry i it is size_x[i] times as large
  bool words = false;              ///< one box, whose weight is a power of two, and (largest mean + 1/2) *
                                   ///< divisor is below word_divide_limit
  bool long_sums = false;  ///< that is not below divide_limit, but below long_divide_limit; sums of 64 bits
};

/// call.template operator()<Boxes>() with the number of boxes.
template <class Sum, class Call>
void WithBoxes(const BoxDifferences<Sum>& boxes, const Call& call) {
  if (boxes.boxes == 1) return call.template operator()<1>();
  if constexpr (std::is_same_v<Sum, std::uint64_t>)
    if (boxes.boxes == 4) return call.template operator()<4>();
  call.template operator()<2>();
}

template <class D>
HWY_INLINE auto DivisorAt(D d, const Divisors& divisors, std::size_t i) {
  const auto divisor = hn::Set(d, divisors.divisor);
  return divisors.size_x == nullptr ? divisor : hn::Mul(hn::LoadU(d, divisors.size_x + i), divisor);
}

template <class D, class Sum>
HWY_INLINE auto Difference(D /*d*/, const BoxDifferences<Sum>& boxes, int box, std::size_t i) {
  const hn::Rebind<Sum, D> sums;
  return hn::Sub(hn::LoadU(sums, boxes.ahead[box] + i), hn::LoadU(sums, boxes.behind[box] + i));
}

/// The boxes are added in their order; products and sums of u64, which are signed and may be rounded, apart.
template <int Boxes, class D, class Sum>
HWY_INLINE auto WeightedSum(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  const auto weight = hn::Set(d, boxes.weight[0]);
  if constexpr (sizeof(Sum) == 4 && Boxes == 2) {
    // conversion is of signed words: 2^31 less here, and more in what is added
    const hn::Rebind<Sum, D> words;
    const auto outer = hn::Set(d, boxes.weight[1]);
    const auto whole = hn::Add(weight, outer);
    const auto inner = Difference(d, boxes, 0, i);
    const auto lowered = ExactDouble(d, hn::Xor(inner, hn::Set(words, 0x80000000U)));
    const auto edges = ExactDouble(d, hn::Sub(Difference(d, boxes, 1, i), inner));
    return hn::MulAdd(edges, outer, hn::MulAdd(lowered, whole, hn::Mul(whole, hn::Set(d, 0x1p31))));
  } else if constexpr (std::is_same_v<Sum, double>) {
    const auto sum = hn::Mul(Difference(d, boxes, 0, i), weight);
    if constexpr (Boxes == 1) return sum;
    return hn::MulAdd(Difference(d, boxes, 1, i), hn::Set(d, boxes.weight[1]), sum);
  } else {
    auto sum = hn::Mul(ExactDouble(d, Difference(d, boxes, 0, i)), weight);
    for (int box = 1; box < Boxes; ++box)
      sum =
          hn::Add(sum, hn::Mul(ExactDouble(d, Difference(d, boxes, box, i)), hn::Set(d, boxes.weight[box])));
    return sum;
  }
}

/// Means of sums below 2^50. A quarter lifts ties over the middle between two integers, and nothing else: the
/// sum s is an integer, (s + 1/4) / divisor lies at least 1 / (4 divisor) from the middle, on the side of
/// s / divisor or above it in ties, and a product with the rounded reciprocal errs by less. `boxes` is a
/// copy, which no store to the means can change.
template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideDoubles(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                          std::size_t last, Mean* means) {
  const auto quarter = hn::Set(d, 0.25);
  const auto round = hn::Set(d, rounding_for<Mean>);
  if (divisors.size_x != nullptr) {
    const double* size_x = divisors.size_x;
    const auto size_y = hn::Set(d, divisors.divisor);
    for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
      const auto sum = hn::Add(WeightedSum<Boxes>(d, boxes, i), quarter);
      const auto divisor = hn::Mul(hn::LoadU(d, size_x + i), size_y);
      StoreNearest(d, hn::Add(hn::Div(sum, divisor), round), means + i);
    }
    return i;
  }
  const auto reciprocal = hn::Set(d, 1.0 / divisors.divisor);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
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

template <int Boxes, class D>
HWY_INLINE LongSum<hn::Vec<D>> WeightedLongSum(D d, const BoxDifferences<std::uint64_t>& boxes,
                                               std::size_t i) {
  const hn::Rebind<std::uint64_t, D> sums;
  LongSum<hn::Vec<D>> result{hn::Zero(d), hn::Zero(d)};
  for (int box = 0; box < Boxes; ++box) {
    const auto difference = Difference(d, boxes, box, i);
    const auto weight = hn::Set(d, boxes.weight[box]);
    const auto high = ExactDouble(d, hn::ShiftRight<24>(difference));
    const auto low = ExactDouble(d, hn::And(difference, hn::Set(sums, 0xFFFFFF)));
    result.high = hn::MulAdd(high, weight, result.high);
    result.low = hn::MulAdd(low, weight, result.low);
  }
  return result;
}

template <class D, class V>
HWY_INLINE V EstimateOf(D d, LongSum<V> sum) {
  return hn::MulAdd(sum.high, hn::Set(d, 0x1p24), sum.low);
}

/// The integer nearest to sum / divisor, ties up: an estimate that errs by at most one, then its remainder.
/// All products and differences but the estimate's are exact.
template <class D, class V>
HWY_INLINE V NearestQuotient(D d, LongSum<V> sum, V divisor) {
  const auto unit = hn::Set(d, 0x1p24);
  const auto round = hn::Set(d, 0x1p52);
  const auto quotient = hn::Sub(hn::Add(hn::Div(EstimateOf(d, sum), divisor), round), round);
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

template <int Boxes, class D, class Mean>
std::size_t DivideLong(D d, BoxDifferences<std::uint64_t> boxes, const Divisors& divisors, std::size_t i,
                       std::size_t last, Mean* means) {
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto mean = NearestQuotient(d, WeightedLongSum<Boxes>(d, boxes, i), DivisorAt(d, divisors, i));
    StoreNearest(d, hn::Add(mean, round), means + i);
  }
  return i;
}

template <int Boxes, class D>
std::size_t DivideFloats(D d, BoxDifferences<std::uint64_t> boxes, const Divisors& divisors, double scale,
                         std::size_t i, std::size_t last, float* means) {
  const hn::Rebind<float, D> floats;
  const auto scales = hn::Set(d, scale);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto mean = hn::Div(WeightedSum<Boxes>(d, boxes, i), DivisorAt(d, divisors, i));
    hn::StoreU(hn::DemoteTo(floats, hn::Mul(mean, scales)), floats, means + i);
  }
  return i;
}

/// means[i] of entries [first, last) = (sum of weight * (ahead[i] - behind[i])) / divisor * scale, the
/// differences signed and the boxes added in their order, each step rounded as IEEE doubles are, the last one
/// to float.
inline void FloatMeans(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors, double scale,
                       std::size_t first, std::size_t last, float* means) {
  WithBoxes(boxes, [&]<int Boxes>() {
    const std::size_t done =
        DivideFloats<Boxes>(hn::ScalableTag<double>(), boxes, divisors, scale, first, last, means);
    DivideFloats<Boxes>(hn::CappedTag<double, 1>(), boxes, divisors, scale, done, last, means);
  });
}

/// A sum and its quotient, of integers below 2^50 or long ones, for UnweightVectors(): what is behind the
/// point of the quotient is to be dropped.
template <int Boxes, bool Long>
struct AnySum {
  template <class D, class Sum>
  static HWY_INLINE auto at(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
    if constexpr (Long) {
      return WeightedLongSum<Boxes>(d, boxes, i);
    } else {
      return WeightedSum<Boxes>(d, boxes, i);
    }
  }
  template <class D, class V>
  static HWY_INLINE auto estimate(D d, V sum) {
    if constexpr (Long) {
      return EstimateOf(d, sum);
    } else {
      return sum;
    }
  }
  template <class D, class V, class Divisor>
  static HWY_INLINE auto quotient(D d, V sum, Divisor divisor) {
    if constexpr (Long) {
      return NearestQuotient(d, sum, divisor);
    } else {
      const auto half = hn::Set(d, 0.5);
      const auto half_up = hn::Add(hn::Floor(hn::Mul(divisor, half)), half);
      return hn::Div(hn::Add(sum, half_up), divisor);
    }
  }
};

/// For every lane the one that has alpha of the same pixel.
template <std::size_t Channels, std::size_t Lanes>
constexpr std::array<std::int64_t, Lanes> LanesOfAlpha() {
  std::array<std::int64_t, Lanes> lanes{};
  for (std::size_t lane = 0; lane < Lanes; ++lane)
    lanes[lane] = static_cast<std::int64_t>(lane | (Channels - 1));
  return lanes;
}

/// The sum of alpha for every lane of a vector that begins with entry i.
template <class Any, std::size_t Channels, class D, class V, class Sum>
HWY_INLINE auto AlphaFor(D d, V sum, const BoxDifferences<Sum>& boxes, std::size_t i) {
  if constexpr (hn::MaxLanes(D()) >= Channels) {
    alignas(64) static constexpr auto lanes = LanesOfAlpha<Channels, hn::MaxLanes(D())>();
    return hn::TableLookupLanes(Any::estimate(d, sum), hn::SetTableIndices(d, lanes.data()));
  } else {
    const hn::CappedTag<double, 1> one;
    return hn::Set(d, hn::GetLane(Any::estimate(one, Any::at(one, boxes, i | (Channels - 1)))));
  }
}

template <class Any, std::size_t Channels, class D, class Sum>
std::size_t UnweightVectors(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                            std::size_t last, std::uint32_t white, std::uint32_t* HWY_RESTRICT means) {
  const hn::RebindToSigned<D> integers;
  const hn::Rebind<std::int32_t, D> signed_words;
  const hn::Rebind<std::uint32_t, D> words;
  const auto channel_bits = hn::Set(integers, Channels - 1);
  const auto largest = hn::Set(d, white);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto phase = static_cast<std::int64_t>(hn::MaxLanes(D()) >= Channels ? 0 : i % Channels);
    const auto is_alpha =
        hn::RebindMask(d, hn::Eq(hn::And(hn::Iota(integers, phase), channel_bits), channel_bits));
    const auto sum = Any::at(d, boxes, i);
    const auto alpha = hn::Max(AlphaFor<Any, Channels>(d, sum, boxes, i), hn::Set(d, 1.0));
    const auto divisor = hn::IfThenElse(is_alpha, DivisorAt(d, divisors, i), alpha);
    const auto mean = hn::Min(Any::quotient(d, sum, divisor), largest);
    hn::StoreU(hn::BitCast(words, hn::DemoteTo(signed_words, mean)), words, means + i);
  }
  return i;
}

template <class Any, std::size_t Channels, class Sum>
void UnweightRow(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first,
                 std::size_t last, std::uint32_t white, std::uint32_t* means) {
  if constexpr (!HWY_HAVE_SCALABLE)
    first =
        UnweightVectors<Any, Channels>(hn::ScalableTag<double>(), boxes, divisors, first, last, white, means);
  UnweightVectors<Any, Channels>(hn::CappedTag<double, 1>(), boxes, divisors, first, last, white, means);
}

/// Means of entries [first, last), whole pixels of 2 or 4 channels whose colours were summed times alpha: the
/// last mean is that of alpha, the others are round(colour sum / alpha sum), ties up, at most `white` (0
/// where no alpha was summed). Weighted sums are below 2^50, so that the correctly rounded quotient of (s +
/// 1/2) lies on the right side of every integer; or long, and those of alpha below 2^52.
template <class Sum>
void Unweight(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first, std::size_t last,
              std::size_t channels, std::uint32_t white, std::uint32_t* means) {
  WithBoxes(boxes, [&]<int Boxes>() {
    const auto of_any = [&]<class Any>() {
      channels == 2 ? UnweightRow<Any, 2>(boxes, divisors, first, last, white, means)
                    : UnweightRow<Any, 4>(boxes, divisors, first, last, white, means);
    };
    if constexpr (std::is_same_v<Sum, std::uint64_t>)
      if (divisors.long_sums) return of_any.template operator()<AnySum<Boxes, true>>();
    of_any.template operator()<AnySum<Boxes, false>>();
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
