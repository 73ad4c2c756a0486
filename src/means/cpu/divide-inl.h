// Means of a row from its prefix sums, compiled for every SIMD target: in doubles, or faster where words
// hold the sums.

#if defined(SATIN_DIVIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DIVIDE_INL_H
#undef SATIN_DIVIDE_INL_H
#else
#define SATIN_DIVIDE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "means/cpu/box_mean_ways.h"
#include "means/cpu/quotients-inl.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Floor(n / divisor) of words n below 2^31 is floor(n multiplier / 2^(31 + bits)), with 2^bits the first
/// power of two that is not below the divisor (Granlund and Montgomery 1994, theorem 4.2).
struct WordReciprocal {
  explicit WordReciprocal(std::uint32_t divisor)
      : bits(static_cast<int>(std::bit_width(divisor - 1))),
        multiplier(static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + bits)) + divisor - 1) / divisor)) {}
  int bits;
  std::uint32_t multiplier;
};

/// The nearest integer, ties up, to weight * difference / divisor: a power of two, and a divisor of at
/// least 2.
template <class D>
struct WordQuotient {
  using V = hn::Vec<D>;

  WordQuotient(D tag, double weight, double divisor)
      : WordQuotient(tag, weight, static_cast<std::uint32_t>(divisor)) {}

  HWY_INLINE V operator()(V difference) const {
    const hn::RepartitionToWide<D> products;
    const auto n = hn::Add(hn::ShiftLeftSame(difference, weight_bits), half);
    const auto odd_n = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(products, n)));
    const auto even = hn::BitCast(d, hn::ShiftRight<32>(hn::MulEven(n, multiplier)));
    const auto odd = hn::BitCast(d, hn::MulEven(odd_n, multiplier));
    return hn::ShiftRightSame(hn::OddEven(odd, even), bits);
  }

  D d;
  V multiplier, half;
  int weight_bits, bits;

 private:
  WordQuotient(D tag, double weight, std::uint32_t divisor)
      : d(tag),
        multiplier(hn::Set(d, WordReciprocal(divisor).multiplier)),
        half(hn::Set(d, divisor / 2)),
        weight_bits(std::countr_zero(static_cast<std::uint32_t>(weight))),
        bits(WordReciprocal(divisor).bits - 1) {}
};

template <class D, class Mean>
HWY_INLINE void StoreWords(D d, hn::Vec<D> means, Mean* to) {
  if constexpr (sizeof(Mean) == 4) {
    hn::StoreU(means, d, to);
  } else {
    const hn::Rebind<Mean, D> narrow;
    hn::StoreU(hn::TruncateTo(narrow, means), narrow, to);
  }
}

/// Means of whole boxes, in integers.
template <class D, class Mean>
void DivideWords(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t first,
                 std::size_t last, Mean* means) {
  const WordQuotient quotient(d, boxes.weight[0], divisors.divisor);
  for (std::size_t next = first; next < last; next += hn::Lanes(d)) {
    const std::size_t i = std::min(next, last - hn::Lanes(d));
    StoreWords(d, quotient(Difference(d, boxes, 0, i)), means + i);
  }
}

/// Means of values of 8 bits over whole boxes of at most largest_single_box pixels, in single precision,
/// which holds s + 1/4 exactly for every sum s. (s + 1/4) / divisor lies at least 1 / (4 divisor) from the
/// middle between two integers, and four roundings, each by at most 2^-24 of a mean, move it by less. What is
/// added rounds it to the integer. There is at least a vector of means, the last of which may overlap the one
/// before.
template <class D, class Mean>
void DivideInSingles(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t first,
                     std::size_t last, Mean* means) {
  const hn::RebindToSigned<D> integers;
  const hn::RebindToUnsigned<D> words;
  const auto reciprocal_y = hn::Set(d, static_cast<float>(1.0 / divisors.divisor));
  const auto divide = [&](const auto& reciprocal_at) {
    for (std::size_t next = first; next < last; next += hn::Lanes(d)) {
      const std::size_t i = std::min(next, last - hn::Lanes(d));
      const auto sum = hn::ConvertTo(d, hn::BitCast(integers, Difference(words, boxes, 0, i)));
      const auto rounded = hn::MulAdd(hn::Add(sum, hn::Set(d, 0.25F)), reciprocal_at(i), hn::Set(d, 0x1p23F));
      StoreWords(words, hn::BitCast(words, rounded), means + i);
    }
  };
  const float* single_x = divisors.single_x;
  if (single_x == nullptr) return divide([&](std::size_t) { return reciprocal_y; });
  divide([&](std::size_t i) { return hn::Mul(hn::LoadU(d, single_x + i), reciprocal_y); });
}

/// Weights of two boxes: sum = whole inner + outer edges, where the edges are what the larger box has more.
struct CoveredWeights {
  explicit CoveredWeights(const BoxDifferences<std::uint32_t>& boxes)
      : CoveredWeights(boxes.weight[0], boxes.weight[1]) {}
  CoveredWeights(double inner_box, double outer_box) : whole(inner_box + outer_box), outer(outer_box) {}
  double whole;  ///< a power of two
  double outer;
};

/// The inner sum less what is taken from it, so that it is a signed word.
template <class D>
struct CoveredWords {
  hn::VFromD<D> inner;
  hn::VFromD<D> edges;
};

template <class D>
HWY_INLINE CoveredWords<D> LoadCovered(D d, const BoxDifferences<std::uint32_t>& boxes, std::uint32_t taken,
                                       std::size_t i) {
  const auto inner = Difference(d, boxes, 0, i);
  return {hn::Sub(inner, hn::Set(d, taken)), hn::Sub(Difference(d, boxes, 1, i), inner)};
}

/// The number that is taken from inner sums, which are below 2^32 - 2^24 and of means below `largest`, so
/// that they fit signed words: the inner sum of the mean `centre`, or one that differs from it by a multiple
/// of 2^32 / whole, which words modulo 2^32 do not show.
inline std::uint32_t TakenFromInner(const CoveredWeights& weights, double divisor, double largest,
                                    double centre) {
  const double modulus = 0x1p32 / weights.whole;
  double taken = centre * divisor / weights.whole;
  if (taken > 0x1p31 || largest * divisor / weights.whole - taken > 0x1p31)
    taken -= std::ceil((taken - 0x1p31) / modulus) * modulus;
  return static_cast<std::uint32_t>(taken);
}

/// Quotients in single precision, for one divisor.
template <class D>
struct Estimate {
  using V = hn::Vec<D>;
  using Words = CoveredWords<hn::RebindToUnsigned<D>>;

  Estimate(D tag, const CoveredWeights& weights, double divisor, std::uint32_t taken, double lift)
      : d(tag),
        whole(hn::Set(d, static_cast<float>(weights.whole / divisor))),
        outer(hn::Set(d, static_cast<float>(weights.outer / divisor))),
        bias(hn::Set(d, static_cast<float>(taken * (weights.whole / divisor) + lift))) {}

  /// (whole inner + outer edges) / divisor + lift. Ten roundings at most, each below the largest mean / 2^24.
  HWY_INLINE V operator()(const Words& sums) const {
    const hn::RebindToSigned<D> integers;
    const auto at_edges = hn::MulAdd(hn::ConvertTo(d, hn::BitCast(integers, sums.edges)), outer, bias);
    return hn::MulAdd(hn::ConvertTo(d, hn::BitCast(integers, sums.inner)), whole, at_edges);
  }

  D d;
  V whole, outer, bias;
};

/// Means up to 16 bits less `centre`, 0 or 2^15, with a divisor up to 2^30 that is a multiple of 4: an
/// estimate that is a quarter low errs by less than another quarter, so that it is rounded to the mean or to
/// one less, and the remainder, which modular words hold exactly, tells which.
template <class D>
struct CoveredQuotient {
  using V = hn::Vec<D>;
  using Floats = hn::RebindToFloat<D>;

  CoveredQuotient(D tag, const CoveredWeights& weights, double of, std::uint32_t centre)
      : d(tag),
        taken(TakenFromInner(weights, of, 0x1p16, centre)),
        estimate(Floats(), weights, of, taken, -0.25 - centre),
        whole_bits(std::countr_zero(static_cast<std::uint32_t>(weights.whole))),
        outer(hn::Set(d, static_cast<std::uint32_t>(weights.outer))),
        divisor(hn::Set(d, static_cast<std::uint32_t>(of))),
        largest_below(hn::Set(hn::RebindToSigned<D>(),
                              static_cast<std::int32_t>((static_cast<std::uint32_t>(of) - 1) / 2))) {}

  HWY_INLINE V operator()(const CoveredWords<D>& sums) const {
    const hn::RebindToSigned<D> integers;
    const auto quotient = hn::BitCast(d, NearestWord(estimate(sums)));
    const auto sum = hn::Add(hn::ShiftLeftSame(sums.inner, whole_bits), hn::Mul(sums.edges, outer));
    const auto rest = hn::BitCast(integers, hn::Sub(sum, hn::Mul(quotient, divisor)));
    const auto above = hn::RebindMask(d, hn::Gt(rest, largest_below));
    return hn::Sub(quotient, hn::VecFromMask(d, above));
  }

  D d;
  std::uint32_t taken;
  Estimate<Floats> estimate;
  int whole_bits;
  V outer, divisor;
  hn::Vec<hn::RebindToSigned<D>> largest_below;
};

template <class D>
void DivideByRemainder(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t first,
                       std::size_t last, std::uint16_t* means) {
  const CoveredQuotient quotient(d, CoveredWeights(boxes), divisors.divisor, 0);
  for (std::size_t next = first; next < last; next += hn::Lanes(d)) {
    const std::size_t i = std::min(next, last - hn::Lanes(d));
    StoreWords(d, quotient(LoadCovered(d, boxes, quotient.taken, i)), means + i);
  }
}

/// Means of 8 bits: an estimate errs by less than 2^-12, so that only what lies as near to the middle between
/// two integers needs more.
template <class D>
struct ByteEstimate {
  using Floats = hn::RebindToFloat<D>;

  ByteEstimate(D tag, const CoveredWeights& weights, double divisor)
      : d(tag),
        taken(TakenFromInner(weights, divisor, 0x1p8, 0)),
        estimate(Floats(), weights, divisor, taken, 0) {}

  /// The means in the low bytes, and whether all are certain.
  HWY_INLINE bool operator()(const CoveredWords<D>& sums, hn::Vec<D>& means) const {
    const Floats floats;
    const auto round = hn::Set(floats, 0x1p23F);
    const auto quotient = estimate(sums);
    const auto rounded = hn::Add(quotient, round);
    const auto apart = hn::Abs(hn::Sub(quotient, hn::Sub(rounded, round)));
    means = hn::BitCast(d, rounded);
    return hn::AllTrue(floats, hn::Lt(apart, hn::Set(floats, 0.5F - 0x1p-12F)));
  }

  D d;
  std::uint32_t taken;
  Estimate<Floats> estimate;
};

template <class D>
void DivideByEstimate(D d, BoxDifferences<std::uint32_t> boxes, const Divisors& divisors, std::size_t first,
                      std::size_t last, std::uint8_t* means) {
  const ByteEstimate estimate(d, CoveredWeights(boxes), divisors.divisor);
  for (std::size_t next = first; next < last; next += hn::Lanes(d)) {
    const std::size_t i = std::min(next, last - hn::Lanes(d));
    hn::Vec<D> mean;
    if (estimate(LoadCovered(d, boxes, estimate.taken, i), mean)) {
      StoreWords(d, mean, means + i);
    } else {
      DivideByOne<2>(hn::ScalableTag<double>(), boxes, divisors, i, i + hn::Lanes(d), means);
    }
  }
}

constexpr double largest_word_divisor = 0x1p30;

/// Whether all means are stored, by integers or with single precision: there is one divisor, and at least a
/// vector of means, the last of which may overlap the one before.
template <class Mean>
bool DivideInWords(const BoxDifferences<std::uint32_t>& boxes, const Divisors& divisors, std::size_t first,
                   std::size_t last, Mean* means) {
  constexpr hn::ScalableTag<std::uint32_t> d;
  if constexpr (hn::MaxLanes(d) > 1) {
    if (last - first < hn::Lanes(d) || divisors.size_x != nullptr) return false;
    if (boxes.boxes == 1) {
      if (!divisors.words || divisors.divisor <= 1) return false;
      DivideWords(d, boxes, divisors, first, last, means);
      return true;
    }
    if constexpr (sizeof(Mean) == 1) {
      DivideByEstimate(d, boxes, divisors, first, last, means);
      return true;
    } else if constexpr (sizeof(Mean) == 2) {
      if (divisors.divisor > largest_word_divisor) return false;
      DivideByRemainder(d, boxes, divisors, first, last, means);
      return true;
    }
  }
  return false;
}

/// means[i] of entries [first, last) = round(sum of weight * (ahead[i] - behind[i]) / divisor), ties up,
/// exactly. Weighted sums are below 2^50, or long: then two doubles hold them, so that the remainder of an
/// estimate is exact and tells which integer is nearest. Means are below 2^31. Means of 64 bits are signed,
/// like the sums then: the bounds are those of the magnitudes.
template <class Sum, class Mean>
void Divide(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first, std::size_t last,
            Mean* means) {
  if constexpr (std::is_same_v<Sum, std::uint32_t>) {
    if (divisors.singles) {
      constexpr hn::ScalableTag<float> d;
      return last - first < hn::Lanes(d)
                 ? DivideInSingles(hn::CappedTag<float, 1>(), boxes, divisors, first, last, means)
                 : DivideInSingles(d, boxes, divisors, first, last, means);
    }
    if (DivideInWords(boxes, divisors, first, last, means)) return;
    if (divisors.words && divisors.size_x != nullptr)
      return InVectors(
          first, [&](auto d, std::size_t i) { return DivideByProducts(d, boxes, divisors, i, last, means); });
  }
  WithBoxes(boxes, [&]<int Boxes>() {
    InVectors(first, [&](auto d, std::size_t i) {
      if constexpr (std::is_same_v<Sum, std::uint64_t>)
        if (divisors.long_sums) return DivideEach<Boxes, true>(d, boxes, divisors, i, last, means);
      return divisors.size_x == nullptr ? DivideByOne<Boxes>(d, boxes, divisors, i, last, means)
                                        : DivideEach<Boxes, false>(d, boxes, divisors, i, last, means);
    });
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
