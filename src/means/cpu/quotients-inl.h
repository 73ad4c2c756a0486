// Quotients of box sums, which are differences of prefix sums, in doubles, compiled for every SIMD target.
// Doubles hold integers that they represent exactly, so that every target gives the same bytes.

#if defined(SATIN_QUOTIENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_QUOTIENTS_INL_H
#undef SATIN_QUOTIENTS_INL_H
#else
#define SATIN_QUOTIENTS_INL_H
#endif

#include <hwy/highway.h>

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
  const double* size_x = nullptr;        ///< not null: of entry i it is size_x[i] times as large
  const double* reciprocal_x = nullptr;  ///< with words: 1 / size_x[i], rounded
  const float* single_x = nullptr;       ///< with singles, instead of both: 1 / size_x[i], rounded
  bool words = false;      ///< one box, whose weight is a power of two, and (largest mean + 1/2) *
                           ///< divisor is below word_divide_limit
  bool long_sums = false;  ///< that is not below divide_limit, but below long_divide_limit; sums of 64 bits
  bool singles = false;    ///< one box of weight 1, as DivideInSingles() takes them
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

template <int Boxes, bool Long, class D, class Sum>
HWY_INLINE auto SumAt(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  if constexpr (Long) {
    return WeightedLongSum<Boxes>(d, boxes, i);
  } else {
    return WeightedSum<Boxes>(d, boxes, i);
  }
}

template <class D, class V>
HWY_INLINE V EstimateOf(D /*d*/, V sum) {
  return sum;
}

template <class D, class V>
HWY_INLINE V EstimateOf(D d, LongSum<V> sum) {
  return hn::MulAdd(sum.high, hn::Set(d, 0x1p24), sum.low);
}

/// What rounds to the integer nearest to sum / divisor, ties up. A quarter lifts ties over the middle between
/// two integers, and nothing else: the sum s is an integer below 2^50, (s + 1/4) / divisor lies at least
/// 1 / (4 divisor) from the middle, on the side of s / divisor or above it in ties, and the quotient, or a
/// product with the rounded reciprocal, errs by less.
template <class D, class V>
HWY_INLINE V QuotientOf(D d, V sum, V divisor) {
  return hn::Div(hn::Add(sum, hn::Set(d, 0.25)), divisor);
}

/// The quotient of long sums: an estimate that errs by at most one, then its remainder. All products and
/// differences but the estimate's are exact.
template <class D, class V>
HWY_INLINE V QuotientOf(D d, LongSum<V> sum, V divisor) {
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

/// Means with a divisor for each entry, or of long sums. `boxes` is a copy, which no store to the means can
/// change.
template <int Boxes, bool Long, class D, class Sum, class Mean>
std::size_t DivideEach(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                       std::size_t last, Mean* means) {
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto quotient = QuotientOf(d, SumAt<Boxes, Long>(d, boxes, i), DivisorAt(d, divisors, i));
    StoreNearest(d, hn::Add(quotient, round), means + i);
  }
  return i;
}

/// Means with one divisor, by its reciprocal.
template <int Boxes, class D, class Sum, class Mean>
std::size_t DivideByOne(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                        std::size_t last, Mean* means) {
  const auto quarter = hn::Set(d, 0.25);
  const auto round = hn::Set(d, rounding_for<Mean>);
  const auto reciprocal = hn::Set(d, 1.0 / divisors.divisor);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto sum = hn::Add(WeightedSum<Boxes>(d, boxes, i), quarter);
    StoreNearest(d, hn::MulAdd(sum, reciprocal, round), means + i);
  }
  return i;
}

/// Means with a divisor for each entry, by its reciprocal: the product of two. Sums s are below 2^31. Four
/// roundings, each by less than 2^-53 of a mean, move (s + 1/4) / divisor by less than the 1 / (4 divisor)
/// that it lies from the middle between two integers.
template <class D, class Mean>
std::size_t DivideByProducts(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors,
                             std::size_t i, std::size_t last, Mean* means) {
  const auto quarter = hn::Set(d, 0.25);
  const auto round = hn::Set(d, rounding_for<Mean>);
  const auto reciprocal_y = hn::Set(d, 1.0 / divisors.divisor);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto sum = hn::Add(WeightedSum<1>(d, boxes, i), quarter);
    const auto reciprocal = hn::Mul(hn::LoadU(d, divisors.reciprocal_x + i), reciprocal_y);
    StoreNearest(d, hn::MulAdd(sum, reciprocal, round), means + i);
  }
  return i;
}

/// loop(d, first) takes the vectors of a row from entry `first` on and returns the first entry that is left.
template <class Loop>
void InVectors(std::size_t first, const Loop& loop) {
  loop(hn::CappedTag<double, 1>(), loop(hn::ScalableTag<double>(), first));
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
    InVectors(first, [&](auto d, std::size_t i) {
      return DivideFloats<Boxes>(d, boxes, divisors, scale, i, last, means);
    });
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
