// Words of all stripes of a row (means/cpu/stripes-inl.h) and means of windows of them, compiled for every
// SIMD target.

#if defined(SATIN_STRIPED_WORDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_STRIPED_WORDS_INL_H
#undef SATIN_STRIPED_WORDS_INL_H
#else
#define SATIN_STRIPED_WORDS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>

#include "means/cpu/divide-inl.h"
#include "means/cpu/stripes-inl.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One entry of all stripes.
struct StripedWords {
  using D = Stripes::Words;
  using V = hn::Vec<D>;

  static HWY_INLINE StripedWords load(const std::uint32_t* from) {
    StripedWords words;
    for (std::size_t p = 0; p < Stripes::parts; ++p)
      words.part[p] = hn::LoadU(D(), from + p * Stripes::part_lanes);
    return words;
  }
  static HWY_INLINE StripedWords set(std::uint32_t word) {
    StripedWords words;
    for (V& part : words.part) part = hn::Set(D(), word);
    return words;
  }
  HWY_INLINE void store(std::uint32_t* to) const {
    for (std::size_t p = 0; p < Stripes::parts; ++p) hn::StoreU(part[p], D(), to + p * Stripes::part_lanes);
  }
  friend HWY_INLINE StripedWords operator+(StripedWords a, const StripedWords& b) {
    for (std::size_t p = 0; p < Stripes::parts; ++p) a.part[p] = hn::Add(a.part[p], b.part[p]);
    return a;
  }
  friend HWY_INLINE StripedWords operator-(StripedWords a, const StripedWords& b) {
    for (std::size_t p = 0; p < Stripes::parts; ++p) a.part[p] = hn::Sub(a.part[p], b.part[p]);
    return a;
  }

  V part[Stripes::parts];
};

/// Values of one entry of all stripes, less their centre.
using StripedShorts = hn::CappedTag<std::int16_t, Stripes::lanes>;

template <class Value>
HWY_INLINE hn::Vec<StripedShorts> LoadShorts(const Value* row) {
  if constexpr (sizeof(Value) == 1) {
    return LoadWide(StripedShorts(), row);
  } else {
    return hn::LoadU(StripedShorts(), reinterpret_cast<const std::int16_t*>(row));
  }
}

/// A weight up to 256, as add_weighted() takes it.
HWY_INLINE StripedWords::V PairWeight(std::uint32_t weight) {
  const bool pairs = Stripes::parts == 2;
  return hn::Set(StripedWords::D(), pairs ? (weight & 0xFFFF) - (weight << 16) : weight);
}

/// sums + weight (more - less)
template <bool Weighted>
HWY_INLINE StripedWords AddWeighted(StripedWords sums, hn::Vec<StripedShorts> more,
                                    hn::Vec<StripedShorts> less, StripedWords::V weight) {
  const StripedWords::D d;
  const hn::RebindToSigned<StripedWords::D> words;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  const StripedShorts shorts;
  const auto add = [&](StripedWords::V& sum, auto pairs) HWY_ATTR {
    auto unused = hn::Zero(words);
    sum = hn::BitCast(d, hn::ReorderWidenMulAccumulate(words, pairs, hn::BitCast(shorts, weight),
                                                       hn::BitCast(words, sum), unused));
  };
  add(sums.part[0], hn::InterleaveLower(shorts, more, less));
  add(sums.part[1], hn::InterleaveUpper(shorts, more, less));
#else
  const auto difference = hn::BitCast(d, hn::Sub(hn::PromoteTo(words, more), hn::PromoteTo(words, less)));
  sums.part[0] = hn::Add(sums.part[0], Weighted ? hn::Mul(difference, weight) : difference);
#endif
  return sums;
}

/// Stores means less their centre, and flips bits of those that have 16.
template <class Mean>
HWY_INLINE void StoreMeans(const StripedWords& means, hn::Vec<StripedShorts> flip, Mean* to) {
  const hn::RebindToUnsigned<StripedShorts> shorts;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  const hn::RebindToSigned<StripedWords::D> words;
  const auto narrow = hn::ReorderDemote2To(StripedShorts(), hn::BitCast(words, means.part[0]),
                                           hn::BitCast(words, means.part[1]));
  if constexpr (sizeof(Mean) == 1) {
    const hn::Rebind<std::uint8_t, StripedShorts> bytes;
    hn::StoreU(hn::DemoteTo(bytes, narrow), bytes, to);
  } else {
    hn::StoreU(hn::BitCast(shorts, hn::Xor(narrow, flip)), shorts, to);
  }
#else
  if constexpr (sizeof(Mean) == 1) {
    const hn::Rebind<std::uint8_t, StripedShorts> bytes;
    hn::StoreU(hn::TruncateTo(bytes, means.part[0]), bytes, to);
  } else {
    hn::StoreU(hn::Xor(hn::TruncateTo(shorts, means.part[0]), hn::BitCast(shorts, flip)), shorts, to);
  }
#endif
}

/// Sums of one window in all stripes.
struct StripedSums {
  StripedWords inner;
  StripedWords edges;  ///< of fractional radii

  [[nodiscard]] HWY_INLINE CoveredWords<StripedWords::D> part(std::size_t p) const {
    return {inner.part[p], edges.part[p]};
  }
};

/// Quotients of windows are given inner sums less what is `taken`; their means are less their centre.
///
/// Means of 16 bits in single precision. Sums less those of the middle mean are up to 2^24 in magnitude,
/// which floats hold, and products, rounded once with the integer, miss them by what the reciprocal does. The
/// divisor is odd: no quotient is nearer than 1 / (2 divisor) to the middle between two integers.
struct ShortQuotient {
  static constexpr float round = 0x1.8p23F;

  ShortQuotient(double weight, double divisor)
      : taken(static_cast<std::uint32_t>(0x8000 / weight * divisor)),
        reciprocal(hn::Set(Floats(), static_cast<float>(weight / divisor))) {}

  /// For a weight that is a power of two.
  static bool exact(double weight, double divisor) {
    const double reciprocal = static_cast<float>(weight / divisor);
    const double product = HWY_NATIVE_FMA ? 0 : 0x1p-10;  // where it is rounded by itself
    const double error = 0x8000 * std::abs(reciprocal / weight * divisor - 1) + product;
    return std::fmod(divisor, 2) == 1 && 0x8000 / weight * divisor <= 0x1p24 && error < 0.4999 / divisor;
  }

  HWY_INLINE bool operator()(const StripedSums& sums, StripedWords& means) const {
    const StripedWords::D d;
    const hn::RebindToSigned<StripedWords::D> integers;
    const auto rounding = hn::Set(Floats(), round);
    for (std::size_t p = 0; p < Stripes::parts; ++p) {
      const auto sum = hn::ConvertTo(Floats(), hn::BitCast(integers, sums.inner.part[p]));
      const auto rounded = hn::MulAdd(sum, reciprocal, rounding);
      means.part[p] = hn::Sub(hn::BitCast(d, rounded), hn::BitCast(d, rounding));
    }
    return true;
  }

  using Floats = hn::RebindToFloat<StripedWords::D>;
  std::uint32_t taken;
  hn::Vec<Floats> reciprocal;
};

/// Means of whole boxes in integers.
template <class Mean>
struct WholeQuotient {
  WholeQuotient(double weight, double divisor) : quotient(StripedWords::D(), weight, divisor) {}

  HWY_INLINE bool operator()(const StripedSums& sums, StripedWords& means) const {
    for (std::size_t p = 0; p < Stripes::parts; ++p) means.part[p] = quotient(sums.inner.part[p]);
    means = means - StripedWords::set(value_centre<Mean>);
    return true;
  }

  static constexpr std::uint32_t taken = 0;
  WordQuotient<StripedWords::D> quotient;
};

/// Means of 16 bits, of fractional radii.
struct StripedCoveredQuotient {
  StripedCoveredQuotient(const CoveredWeights& weights, double divisor)
      : quotient(StripedWords::D(), weights, divisor, value_centre<std::uint16_t>), taken(quotient.taken) {}

  HWY_INLINE bool operator()(const StripedSums& sums, StripedWords& means) const {
    for (std::size_t p = 0; p < Stripes::parts; ++p) means.part[p] = quotient(sums.part(p));
    return true;
  }

  CoveredQuotient<StripedWords::D> quotient;
  std::uint32_t taken;
};

/// Means of 8 bits, of fractional radii. They are seldom left in doubt, and are then settled by doubles, as
/// in DivideByOne().
struct StripedByteQuotient {
  StripedByteQuotient(const CoveredWeights& of_boxes, double of)
      : estimate(StripedWords::D(), of_boxes, of), weights(of_boxes), divisor(of), taken(estimate.taken) {}

  HWY_INLINE bool operator()(const StripedSums& sums, StripedWords& means) const {
    bool certain = true;
    for (std::size_t p = 0; p < Stripes::parts; ++p) {
      certain &= estimate(sums.part(p), means.part[p]);
      means.part[p] = hn::And(means.part[p], hn::Set(StripedWords::D(), 0xFF));
    }
    return certain;
  }
  void settle(const std::uint32_t* inner, const std::uint32_t* edges, std::uint8_t* means) const {
    const double reciprocal = 1.0 / divisor;
    for (std::size_t k = 0; k < Stripes::lanes; ++k) {
      const double sum = (inner[k] + taken) * weights.whole + edges[k] * weights.outer;
      means[Stripes::lane_of(k)] = static_cast<std::uint8_t>((sum + 0.25) * reciprocal + 0.5);
    }
  }

  ByteEstimate<StripedWords::D> estimate;
  CoveredWeights weights;
  double divisor;
  std::uint32_t taken;
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
