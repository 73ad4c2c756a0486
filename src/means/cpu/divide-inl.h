// Means from differences of prefix sums, compiled for every SIMD target. Every mean is the exact integer
// nearest to sum / divisor, ties up, so all targets give the same bytes. A row is divided in integers of
// 32 bits, in doubles, or with remainders of 64 bits (Division in means/cpu/box_chain.h); the comments of
// each prove that its roundings cannot change the result. The last section divides colours by the sum of
// alpha.

#if defined(SATIN_DIVIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_DIVIDE_INL_H
#undef SATIN_DIVIDE_INL_H
#else
#define SATIN_DIVIDE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "means/cpu/box_chain.h"
#include "pixels/cpu/load_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sums over the whole boxes of one window as weighted differences of prefixes. Sum is u32, u64 or
/// double. Differences of u32 are below 2^31; if there are two boxes, the inner one is below 2^32, and the
/// outer one is larger by less than 2^31.
template <class Sum>
struct BoxDifferences {
  int boxes = 1;  ///< 1 or 2; with u64 also 4
  const Sum* ahead[4] = {};
  const Sum* behind[4] = {};
  double weight[4] = {};
};

/// The divisors of a row of sums.
struct Divisors {
  Division division = Division::float64;
  double divisor = 1;                     ///< common divisor, or common factor of the divisors
  const double* window_pixels = nullptr;  ///< null, or the other factor of the divisor of each entry
};

/// Calls call.template operator()<Boxes>() with the number of boxes.
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

/// Adds the boxes in their order. Products and sums of u64, which are signed and may be rounded, are not
/// fused.
template <int Boxes, class D, class Sum>
HWY_INLINE auto WeightedSum(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  const auto weight = hn::Set(d, boxes.weight[0]);
  if constexpr (sizeof(Sum) == 4 && Boxes == 2) {
    // SIMD converts signed words: the inner sum is lowered by 2^31, which is added again below.
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

/// Sums that may exceed 64 bits: WideSum of pixels/maths/divide.h for every lane.
template <class D>
struct WideSums {
  hn::Vec<hn::Rebind<std::uint64_t, D>> low;
  hn::Vec<D> estimate;
};

/// Returns the low 64 bits of products of integers and words below 2^32.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LowWordProduct(D d, V integers, V words) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::Set(d, hn::GetLane(integers) * hn::GetLane(words));
  } else {
    const hn::Repartition<std::uint32_t, D> halves;
    const auto high = hn::BitCast(halves, hn::ShiftRight<32>(integers));
    const auto low = hn::MulEven(hn::BitCast(halves, integers), hn::BitCast(halves, words));
    return hn::Add(low, hn::ShiftLeft<32>(hn::MulEven(high, hn::BitCast(halves, words))));
  }
}

/// Returns the low 64 bits of products.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LowProduct(D d, V a, V b) {
  if constexpr (has_avx512 && hn::MaxLanes(D()) == 8) {
    return V{_mm512_mullo_epi64(a.raw, b.raw)};
  } else {
    const auto high = LowWordProduct(d, a, hn::ShiftRight<32>(b));
    return hn::Add(LowWordProduct(d, a, hn::And(b, hn::Set(d, 0xFFFFFFFFU))), hn::ShiftLeft<32>(high));
  }
}

template <int Boxes, bool Wide, class D, class Sum>
HWY_INLINE auto SumAt(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  if constexpr (Wide) {
    const hn::Rebind<std::uint64_t, D> integers;
    const auto product = [&](int box) HWY_ATTR {
      const auto weight = hn::Set(integers, static_cast<std::uint64_t>(boxes.weight[box]));
      return LowWordProduct(integers, Difference(d, boxes, box, i), weight);
    };
    auto low = product(0);
    for (int box = 1; box < Boxes; ++box) low = hn::Add(low, product(box));
    return WideSums<D>{low, WeightedSum<Boxes>(d, boxes, i)};
  } else {
    return WeightedSum<Boxes>(d, boxes, i);
  }
}

template <class D, class V>
HWY_INLINE V EstimateOf(D /*d*/, V sum) {
  return sum;
}

template <class D>
HWY_INLINE hn::Vec<D> EstimateOf(D /*d*/, WideSums<D> sum) {
  return sum.estimate;
}

/// Returns a quotient that rounds to the integer nearest to sum / divisor, ties up. Adding 1/4 moves ties
/// above the midpoint of two integers and nothing else across it: for an integer sum s below 2^50, (s + 1/4)
/// / divisor is at least 1 / (4 divisor) from the midpoint, and the quotient, or a product with the rounded
/// reciprocal, errs by less.
template <class D, class V>
HWY_INLINE V QuotientOf(D d, V sum, V divisor) {
  return hn::Div(hn::Add(sum, hn::Set(d, 0.25)), divisor);
}

/// Returns whole numbers from 0 to 2^52 as integers.
template <class D>
HWY_INLINE auto WholeBits(D d, hn::Vec<D> wholes) {
  const hn::Rebind<std::uint64_t, D> bits;
  const auto unit = hn::Set(d, 0x1p52);
  return hn::Sub(hn::BitCast(bits, hn::Add(wholes, unit)), hn::BitCast(bits, unit));
}

/// Returns the rounded quotient of a wide sum, which may be negative, as divide_round() of
/// pixels/maths/divide.h does: below 2^49 in magnitude the estimate errs by at most one after it is rounded,
/// so that the low 64 bits of the remainder are the remainder. Divisors are below 2^52.
template <class D>
HWY_INLINE hn::Vec<D> QuotientOf(D d, WideSums<D> sum, hn::Vec<D> divisor) {
  const hn::Rebind<std::uint64_t, D> bits;
  const hn::Rebind<std::int64_t, D> integers;
  const auto whole = hn::Set(d, rounding_for<std::uint64_t>);
  const auto whole_bits = hn::BitCast(bits, whole);
  const auto rounded = hn::Add(hn::Div(sum.estimate, divisor), whole);
  const auto quotient = hn::Sub(hn::BitCast(bits, rounded), whole_bits);
  const auto count = WholeBits(d, divisor);
  const auto rest = hn::BitCast(integers, hn::Sub(sum.low, LowProduct(bits, quotient, count)));
  const auto twice = hn::Add(rest, rest);
  const auto most = hn::BitCast(integers, count);
  const auto one = hn::Set(d, 1.0);
  const auto more = hn::IfThenZeroElse(hn::RebindMask(d, hn::Gt(most, twice)), one);
  const auto less = hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(hn::Neg(most), twice)), one);
  return hn::Add(hn::Sub(rounded, whole), hn::Sub(more, less));
}

/// Divides with a divisor per entry, or wide sums. `boxes` is a copy, so that no store to the means can alias
/// it.
template <int Boxes, bool Wide, class D, class Sum, class Mean>
std::size_t DivideEach(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                       std::size_t last, Mean* means) {
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto quotient = QuotientOf(d, SumAt<Boxes, Wide>(d, boxes, i), DivisorAt(d, divisors, i));
    StoreNearest(d, hn::Add(quotient, round), means + i);
  }
  return i;
}

/// Divides by one divisor, multiplying with its reciprocal.
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

/// Calls loop(d, first) for whole vectors, then for single entries. It returns the first entry that it left.
template <class Loop>
void InVectors(std::size_t first, const Loop& loop) {
  loop(hn::CappedTag<double, 1>(), loop(hn::ScalableTag<double>(), first));
}

/// Divides entries [first, last) in doubles, for sums below divide_limit.
template <int Boxes, class Sum, class Mean>
void DivideFloat64(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first,
                   std::size_t last, Mean* means) {
  InVectors(first, [&](auto d, std::size_t i) {
    return divisors.window_pixels == nullptr ? DivideByOne<Boxes>(d, boxes, divisors, i, last, means)
                                             : DivideEach<Boxes, false>(d, boxes, divisors, i, last, means);
  });
}

/// Calls run(i) for the first entry of every vector of a row that has at least one vector. The last vector
/// may overlap the one before.
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

/// The integer nearest to weight * sum / divisor, ties up, where weight is a power of two and divisor at
/// least 2. For n below 2^31, floor(n / divisor) = floor(n multiplier / 2^(32 + bits)), where 2^(bits + 1) is
/// the least power of two that is not below the divisor (Granlund and Montgomery 1994, theorem 4.2).
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

/// The integer nearest to the weighted sum of two boxes over a divisor, ties up. The weights add up to a
/// power of two of at least 256, the result is below 2^16, and the divisor at most largest_word_divisor. The
/// quotient in floats is computed 1/4 too low and errs by less than 1/4, so it rounds to the mean or to one
/// less. The remainder decides: it fits 32 bits although the sums wrap.
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

  /// An inner sum may have all 32 bits. It is then lowered by 2^31 for the conversion; times the sum of the
  /// weights this is a multiple of 2^32, so the remainder does not change.
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

/// Divides by integers of 32 bits. Returns false, and stores nothing, unless there is one divisor for at
/// least a vector of means.
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

/// Stores means[i] = round(sum of weight * (ahead[i] - behind[i]) / divisor), ties up, exactly, for entries
/// [first, last) and sums within the bounds of the division. Means are below 2^31. Means of 64 bits and their
/// sums are signed; the bounds then hold for magnitudes.
template <class Sum, class Mean>
void Divide(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first, std::size_t last,
            Mean* means) {
  WithBoxes(boxes, [&]<int Boxes>() {
    if constexpr (std::is_same_v<Sum, std::uint32_t>) {
      if (divisors.division == Division::integer32 &&
          DivideInteger32<Boxes>(boxes, divisors, first, last, means))
        return;
    }
    if constexpr (std::is_same_v<Sum, std::uint64_t>)
      if (divisors.division == Division::wide64)
        return InVectors(first, [&](auto d, std::size_t i) {
          return DivideEach<Boxes, true>(d, boxes, divisors, i, last, means);
        });
    DivideFloat64<Boxes>(boxes, divisors, first, last, means);
  });
}

// --- Means of colours that were summed times alpha ---

/// Returns, for every lane, the lane that holds alpha of the same pixel.
template <std::size_t Channels, std::size_t Lanes>
constexpr std::array<std::int64_t, Lanes> LanesOfAlpha() {
  std::array<std::int64_t, Lanes> lanes{};
  for (std::size_t lane = 0; lane < Lanes; ++lane)
    lanes[lane] = static_cast<std::int64_t>(lane | (Channels - 1));
  return lanes;
}

/// Returns the sum of alpha for every lane of a vector that begins with entry i.
template <int Boxes, bool Wide, std::size_t Channels, class D, class V, class Sum>
HWY_INLINE auto AlphaFor(D d, V sum, const BoxDifferences<Sum>& boxes, std::size_t i) {
  if constexpr (hn::MaxLanes(D()) >= Channels) {
    alignas(64) static constexpr auto lanes = LanesOfAlpha<Channels, hn::MaxLanes(D())>();
    return hn::TableLookupLanes(EstimateOf(d, sum), hn::SetTableIndices(d, lanes.data()));
  } else {
    const hn::CappedTag<double, 1> one;
    const auto alpha = SumAt<Boxes, Wide>(one, boxes, i | (Channels - 1));
    return hn::Set(d, hn::GetLane(EstimateOf(one, alpha)));
  }
}

/// Returns the lanes of a vector that begins with entry i that hold alpha.
template <std::size_t Channels, class D>
HWY_INLINE auto IsAlpha(D d, std::size_t i) {
  const hn::RebindToSigned<D> integers;
  const auto channel_bits = hn::Set(integers, Channels - 1);
  const auto phase = static_cast<std::int64_t>(hn::MaxLanes(D()) >= Channels ? 0 : i % Channels);
  return hn::RebindMask(d, hn::Eq(hn::And(hn::Iota(integers, phase), channel_bits), channel_bits));
}

template <int Boxes, bool Wide, std::size_t Channels, class D, class Sum, class Mean>
std::size_t UnweightVectors(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                            std::size_t last, std::uint32_t white, Mean* means) {
  if (HWY_HAVE_SCALABLE && hn::MaxLanes(D()) > 1) return i;  // lane tables need a constant size
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto sum = SumAt<Boxes, Wide>(d, boxes, i);
    const auto alpha = hn::Max(AlphaFor<Boxes, Wide, Channels>(d, sum, boxes, i), hn::Set(d, 1.0));
    const auto divisor = hn::IfThenElse(IsAlpha<Channels>(d, i), DivisorAt(d, divisors, i), alpha);
    const auto mean = hn::Min(QuotientOf(d, sum, divisor), hn::Set(d, white));
    StoreNearest(d, hn::Add(mean, round), means + i);
  }
  return i;
}

#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
template <int Boxes, std::size_t Channels, class D, class Sum, class Mean>
std::size_t UnweightBlocks(D, const BoxDifferences<Sum>&, const Divisors&, std::size_t i, std::size_t,
                           std::uint32_t, Mean*) {
  return i;
}
#else
/// Returns at [k][j] the pixel of lane j of vector k, among the pixels of `Channels` vectors.
template <std::size_t Channels, std::size_t Lanes>
constexpr std::array<std::array<std::int64_t, Lanes>, Channels> LanesOfPixels() {
  std::array<std::array<std::int64_t, Lanes>, Channels> lanes{};
  for (std::size_t k = 0; k < Channels; ++k)
    for (std::size_t j = 0; j < Lanes; ++j)
      lanes[k][j] = static_cast<std::int64_t>((k * Lanes + j) / Channels);
  return lanes;
}

/// Returns the sum at entry i as a double. A single box has weight 1, so its sum is the difference.
template <int Boxes, class D, class Sum>
HWY_INLINE auto StoredSum(D d, const BoxDifferences<Sum>& boxes, std::size_t i) {
  if constexpr (Boxes != 1) {
    return WeightedSum<Boxes>(d, boxes, i);
  } else if constexpr (std::is_same_v<Sum, double>) {
    return Difference(d, boxes, 0, i);
  } else {
    return ExactDouble(d, Difference(d, boxes, 0, i));
  }
}

/// Stores 2 or 4 vectors at once, with the result of StoreNearest().
template <class D, std::size_t Count, class Mean>
HWY_INLINE void StoreBlock(D /*d*/, const hn::Vec<D> (&rounded)[Count], Mean* to) {
  const hn::Repartition<std::uint32_t, D> words;
  const auto low_words = [&](std::size_t k) HWY_ATTR {
    return hn::ConcatEven(words, hn::BitCast(words, rounded[k + 1]), hn::BitCast(words, rounded[k]));
  };
  if constexpr (sizeof(Mean) == 2 && Count == 4) {
    const hn::Repartition<Mean, D> halves;
    const auto low = hn::BitCast(halves, low_words(0));
    hn::StoreU(hn::ConcatEven(halves, hn::BitCast(halves, low_words(2)), low), halves, to);
  } else {
    for (std::size_t k = 0; k < Count; k += 2) StoreWords(words, low_words(k), to + k / 2 * hn::Lanes(words));
  }
}

/// Divides as many pixels at a time as a vector has lanes, with one division for the reciprocals of all their
/// alphas. Products with rounded reciprocals round to the same integers as quotients (QuotientOf).
template <int Boxes, std::size_t Channels, class D, class Sum, class Mean>
std::size_t UnweightBlocks(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                           std::size_t last, std::uint32_t white, Mean* means) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  if constexpr (lanes >= Channels) {
    alignas(64) static constexpr auto pixels = LanesOfPixels<Channels, lanes>();
    const auto is_alpha = IsAlpha<Channels>(d, 0);
    const auto one = hn::Set(d, 1.0);
    const auto of_alpha = hn::Set(d, 1.0 / divisors.divisor);
    const auto quarter = hn::Set(d, 0.25);
    const auto round = hn::Set(d, rounding_for<Mean>);
    const auto most = hn::Set(d, rounding_for<Mean> + white);
    for (; i + Channels * lanes <= last; i += Channels * lanes) {
      hn::Vec<D> sums[Channels];
      for (std::size_t k = 0; k < Channels; ++k) sums[k] = StoredSum<Boxes>(d, boxes, i + k * lanes);
      auto alpha = hn::ConcatOdd(d, sums[1], sums[0]);
      if constexpr (Channels == 4) alpha = hn::ConcatOdd(d, hn::ConcatOdd(d, sums[3], sums[2]), alpha);
      const auto reciprocals = hn::Div(one, hn::Max(alpha, one));
      for (std::size_t k = 0; k < Channels; ++k) {
        const auto of_colour = hn::TableLookupLanes(reciprocals, hn::SetTableIndices(d, pixels[k].data()));
        const auto reciprocal = hn::IfThenElse(is_alpha, of_alpha, of_colour);
        const auto mean = hn::MulAdd(hn::Add(sums[k], quarter), reciprocal, round);
        sums[k] = hn::Min(mean, most);
      }
      StoreBlock(d, sums, means + i);
    }
  }
  return i;
}
#endif

/// Stores the means of entries [first, last): whole pixels of 2 or 4 channels whose colours were summed times
/// alpha. The last channel is the mean of alpha; the others are round(colour sum / alpha sum), ties up, at
/// most `white`, and 0 if the sum of alpha is 0. Weighted sums are below 2^50, or wide; sums of alpha are
/// below 2^52.
template <class Sum, class Mean>
void Unweight(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first, std::size_t last,
              std::size_t channels, std::uint32_t white, Mean* means) {
  const auto unweight = [&]<int Boxes, bool Wide, std::size_t Channels>() {
    InVectors(first, [&](auto d, std::size_t i) {
      if constexpr (!Wide)
        if (divisors.window_pixels == nullptr)
          i = UnweightBlocks<Boxes, Channels>(d, boxes, divisors, i, last, white, means);
      return UnweightVectors<Boxes, Wide, Channels>(d, boxes, divisors, i, last, white, means);
    });
  };
  const auto run = [&]<int Boxes, bool Wide>() {
    channels == 2 ? unweight.template operator()<Boxes, Wide, 2>()
                  : unweight.template operator()<Boxes, Wide, 4>();
  };
  WithBoxes(boxes, [&]<int Boxes>() {
    if constexpr (std::is_same_v<Sum, std::uint64_t>)
      if (divisors.division == Division::wide64) return run.template operator()<Boxes, true>();
    run.template operator()<Boxes, false>();
  });
}

// --- Means of floats ---

template <int Boxes, std::size_t Channels, class D>
std::size_t DivideFloats(D d, BoxDifferences<std::uint64_t> boxes, const Divisors& divisors,
                         FixedExponents exponents, const float* original, std::size_t i, std::size_t last,
                         float* means) {
  if (Channels != 0 && HWY_HAVE_SCALABLE && hn::MaxLanes(D()) > 1) return i;  // as UnweightVectors()
  const hn::Rebind<float, D> floats;
  const auto scale = hn::Set(d, power_of_two((Channels == 0 ? 0 : exponents.alpha) - exponents.colour));
  const auto alpha_scale = hn::Set(d, power_of_two(-exponents.alpha));
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto sum = WeightedSum<Boxes>(d, boxes, i);
    const auto divisor = DivisorAt(d, divisors, i);
    auto mean = hn::Mul(hn::Div(sum, divisor), Channels == 0 ? scale : alpha_scale);
    if constexpr (Channels != 0) {
      const auto alpha = AlphaFor<Boxes, false, Channels>(d, sum, boxes, i);
      const auto own = hn::PromoteTo(d, hn::LoadU(floats, original + i));
      const auto colour = hn::Mul(hn::Div(sum, alpha), scale);
      mean = hn::IfThenElse(IsAlpha<Channels>(d, i), mean, colour);
      mean = hn::IfThenElse(hn::Gt(alpha, hn::Zero(d)), mean, own);
    }
    hn::StoreU(hn::DemoteTo(floats, mean), floats, means + i);
  }
  return i;
}

/// Stores means[i] = (sum of weight * (ahead[i] - behind[i])) / divisor as floats for entries [first, last),
/// with signed differences. The boxes are added in their order, each step is rounded to double, and the last
/// one to float. With `alpha_channels`, 2 or 4 in place of 0, colours were summed times alpha and are divided
/// by its sum; where that is not positive, the entries of `original` are kept.
inline void FloatMeans(const BoxDifferences<std::uint64_t>& boxes, const Divisors& divisors,
                       FixedExponents exponents, std::size_t alpha_channels, const float* original,
                       std::size_t first, std::size_t last, float* means) {
  WithBoxes(boxes, [&]<int Boxes>() {
    const auto divide = [&]<std::size_t Channels>() {
      InVectors(first, [&](auto d, std::size_t i) {
        return DivideFloats<Boxes, Channels>(d, boxes, divisors, exponents, original, i, last, means);
      });
    };
    alpha_channels == 0   ? divide.template operator()<0>()
    : alpha_channels == 2 ? divide.template operator()<2>()
                          : divide.template operator()<4>();
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
