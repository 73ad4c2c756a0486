// Means from differences of prefix sums, compiled for every SIMD target.
//
// Every mean is the nearest integer to sum / divisor, ties up, exactly, so that all targets give the same
// bytes. A row is divided in single precision, in integers of 32 bits, or in doubles, of which two represent
// a longer sum (Division in means/cpu/box_chain.h).

#if defined(SATIN_DIVIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DIVIDE_INL_H
#undef SATIN_DIVIDE_INL_H
#else
#define SATIN_DIVIDE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "means/cpu/box_chain.h"
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

/// How the sums of a row are divided.
struct Divisors {
  Division division = Division::float64;
  double divisor = 1;
  const double* window_pixels = nullptr;  ///< not null: the divisor of entry i is window_pixels[i] * divisor
  const float* reciprocals =
      nullptr;  ///< Division::float32 uses these instead: 1 / window_pixels[i], rounded
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
  return divisors.window_pixels == nullptr ? divisor
                                           : hn::Mul(hn::LoadU(d, divisors.window_pixels + i), divisor);
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

/// Returns a quotient that rounds to the integer nearest to sum / divisor, ties up. A quarter lifts ties over
/// the middle between two integers, and nothing else: the sum s is an integer below 2^50, (s + 1/4) / divisor
/// lies at least 1 / (4 divisor) from the middle, on the side of s / divisor or above it in ties, and the
/// quotient, or a product with the rounded reciprocal, errs by less.
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

/// loop(d, first) takes the vectors of a row from entry `first` on and returns the first entry that is left.
template <class Loop>
void InVectors(std::size_t first, const Loop& loop) {
  loop(hn::CappedTag<double, 1>(), loop(hn::ScalableTag<double>(), first));
}

/// means[i] of entries [first, last) in doubles, for sums below divide_limit.
template <int Boxes, class Sum, class Mean>
void DivideFloat64(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first,
                   std::size_t last, Mean* means) {
  InVectors(first, [&](auto d, std::size_t i) {
    return divisors.window_pixels == nullptr ? DivideByOne<Boxes>(d, boxes, divisors, i, last, means)
                                             : DivideEach<Boxes, false>(d, boxes, divisors, i, last, means);
  });
}

/// Calls run(i) for the first entry of every vector of a row that has at least one. The last vector may
/// overlap the one before.
template <class D, class Run>
HWY_INLINE void InWholeVectors(D d, std::size_t first, std::size_t last, const Run& run) {
  for (std::size_t next = first; next < last; next += hn::Lanes(d)) run(std::min(next, last - hn::Lanes(d)));
}

template <class D, class Mean>
HWY_INLINE void StoreWords(D d, hn::Vec<D> means, Mean* to) {
  if constexpr (sizeof(Mean) == 4) {
    hn::StoreU(means, d, to);
  } else {
    const hn::Rebind<Mean, D> narrow;
    hn::StoreU(hn::TruncateTo(narrow, means), narrow, to);
  }
}

/// Means of values of 8 bits over whole boxes of at most largest_float32_box pixels, in single precision,
/// which holds s + 1/4 exactly for every sum s. (s + 1/4) / divisor lies at least 1 / (4 divisor) from the
/// middle between two integers, and four roundings, each by at most 2^-24 of a mean, move it by less. What is
/// added rounds it to the integer.
template <class D, class Mean>
void DivideFloat32(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t first,
                   std::size_t last, Mean* means) {
  const hn::RebindToSigned<D> integers;
  const hn::RebindToUnsigned<D> words;
  const auto reciprocal_y = hn::Set(d, static_cast<float>(1.0 / divisors.divisor));
  const auto divide = [&](const auto& reciprocal_at) HWY_ATTR {
    InWholeVectors(d, first, last, [&](std::size_t i) HWY_ATTR {
      const auto sum = hn::ConvertTo(d, hn::BitCast(integers, Difference(words, boxes, 0, i)));
      const auto rounded = hn::MulAdd(hn::Add(sum, hn::Set(d, 0.25F)), reciprocal_at(i), hn::Set(d, 0x1p23F));
      StoreWords(words, hn::BitCast(words, rounded), means + i);
    });
  };
  const float* reciprocals = divisors.reciprocals;
  if (reciprocals == nullptr) return divide([&](std::size_t) HWY_ATTR { return reciprocal_y; });
  divide([&](std::size_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, reciprocals + i), reciprocal_y); });
}

/// The nearest integer, ties up, to weight * sum / divisor: a power of two, and a divisor of at least 2.
/// Floor(n / divisor) of words n below 2^31 is floor(n multiplier / 2^(32 + bits)), with 2^(bits + 1) the
/// first power of two that is not below the divisor (Granlund and Montgomery 1994, theorem 4.2).
template <class D>
struct WordQuotient {
  using V = hn::Vec<D>;

  WordQuotient(D tag, double weight, std::uint32_t divisor)
      : d(tag),
        weight_bits(std::countr_zero(static_cast<std::uint32_t>(weight))),
        bits(static_cast<int>(std::bit_width(divisor - 1)) - 1),
        half(hn::Set(d, divisor / 2)),
        multiplier(hn::Set(
            d, static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + bits)) + divisor - 1) / divisor))) {}

  HWY_INLINE V operator()(V sum) const {
    const hn::RepartitionToWide<D> products;
    const auto n = hn::Add(hn::ShiftLeftSame(sum, weight_bits), half);
    const auto odd_n = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(products, n)));
    const auto even = hn::BitCast(d, hn::ShiftRight<32>(hn::MulEven(n, multiplier)));
    const auto odd = hn::BitCast(d, hn::MulEven(odd_n, multiplier));
    return hn::ShiftRightSame(hn::OddEven(odd, even), bits);
  }

  D d;
  int weight_bits;
  int bits;
  V half;
  V multiplier;
};

/// The nearest integer, ties up, to the quotient of two boxes, whose weights add up to a power of two of at
/// least 256. It is below 2^16, and the divisor at most largest_word_divisor. A quotient in single precision
/// that is a quarter low errs by less than another quarter, so that it is rounded to the mean or to one less.
/// The remainder, which words hold although the sums wrap, says which.
template <class D>
struct CoveredQuotient {
  using V = hn::Vec<D>;
  using Integers = hn::RebindToSigned<D>;
  using Floats = hn::RebindToFloat<D>;

  CoveredQuotient(D tag, double inner_weight, double outer_weight, double of)
      : d(tag),
        whole_bits(std::countr_zero(static_cast<std::uint32_t>(inner_weight + outer_weight))),
        outer(hn::Set(d, static_cast<std::uint32_t>(outer_weight))),
        divisor(hn::Set(d, static_cast<std::uint32_t>(of))),
        largest_below(hn::Set(Integers(), (static_cast<std::int32_t>(of) - 1) / 2)) {
    const double scale = (inner_weight + outer_weight) / of;
    const double taken = 0x1p16 / scale > 0x1p31 ? 0x1p31 : 0;
    lowered = hn::Set(d, static_cast<std::uint32_t>(taken));
    whole_scale = hn::Set(Floats(), static_cast<float>(scale));
    outer_scale = hn::Set(Floats(), static_cast<float>(outer_weight / of));
    bias = hn::Set(Floats(), static_cast<float>(taken * scale - 0.25));
  }

  /// An inner sum may have all 32 bits: it is then converted less 2^31, which times the weight of whole boxes
  /// is a multiple of 2^32 and so leaves the remainder as it is.
  HWY_INLINE V operator()(V inner_sum, V outer_sum) const {
    const Integers integers;
    const V inner = hn::Sub(inner_sum, lowered);
    const V edges = hn::Sub(outer_sum, inner_sum);
    const auto at_edges =
        hn::MulAdd(hn::ConvertTo(Floats(), hn::BitCast(integers, edges)), outer_scale, bias);
    const auto estimate =
        hn::MulAdd(hn::ConvertTo(Floats(), hn::BitCast(integers, inner)), whole_scale, at_edges);
    const V quotient = hn::BitCast(d, NearestWord(estimate));
    const V sum = hn::Add(hn::ShiftLeftSame(inner, whole_bits), hn::Mul(edges, outer));
    const auto rest = hn::BitCast(integers, hn::Sub(sum, hn::Mul(quotient, divisor)));
    return hn::Sub(quotient, hn::VecFromMask(d, hn::RebindMask(d, hn::Gt(rest, largest_below))));
  }

  D d;
  int whole_bits;
  V outer, divisor, lowered;
  hn::Vec<Integers> largest_below;
  hn::Vec<Floats> whole_scale, outer_scale, bias;
};

/// Whether all means are stored by integers of 32 bits: there is one divisor, and at least a vector of means.
template <int Boxes, class Mean>
bool DivideInteger32(BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t first,
                     std::size_t last, Mean* means) {
  constexpr hn::ScalableTag<std::uint32_t> d;
  if constexpr (hn::MaxLanes(d) > 1) {
    if (last - first < hn::Lanes(d) || divisors.window_pixels != nullptr || divisors.divisor <= 1)
      return false;
    if constexpr (Boxes == 1) {
      const WordQuotient quotient(d, boxes.weight[0], static_cast<std::uint32_t>(divisors.divisor));
      InWholeVectors(d, first, last, [&](std::size_t i) HWY_ATTR {
        StoreWords(d, quotient(Difference(d, boxes, 0, i)), means + i);
      });
    } else {
      const CoveredQuotient quotient(d, boxes.weight[0], boxes.weight[1], divisors.divisor);
      InWholeVectors(d, first, last, [&](std::size_t i) HWY_ATTR {
        StoreWords(d, quotient(Difference(d, boxes, 0, i), Difference(d, boxes, 1, i)), means + i);
      });
    }
    return true;
  }
  return false;
}

/// means[i] of entries [first, last) = round(sum of weight * (ahead[i] - behind[i]) / divisor), ties up,
/// exactly, for sums and means within the bounds of the division. Means are below 2^31. Means of 64 bits are
/// signed, like the sums then: the bounds are those of the magnitudes.
template <class Sum, class Mean>
void Divide(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first, std::size_t last,
            Mean* means) {
  WithBoxes(boxes, [&]<int Boxes>() {
    if constexpr (std::is_same_v<Sum, std::uint32_t>) {
      const hn::ScalableTag<float> floats;
      if (Boxes == 1 && divisors.division == Division::float32)
        return last - first < hn::Lanes(floats)
                   ? DivideFloat32(hn::CappedTag<float, 1>(), boxes, divisors, first, last, means)
                   : DivideFloat32(floats, boxes, divisors, first, last, means);
      if (divisors.division == Division::integer32 &&
          DivideInteger32<Boxes>(boxes, divisors, first, last, means))
        return;
    }
    if constexpr (std::is_same_v<Sum, std::uint64_t>)
      if (divisors.division == Division::float64_pairs)
        return InVectors(first, [&](auto d, std::size_t i) {
          return DivideEach<Boxes, true>(d, boxes, divisors, i, last, means);
        });
    DivideFloat64<Boxes>(boxes, divisors, first, last, means);
  });
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
