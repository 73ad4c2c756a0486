// Means of colours that were summed times alpha, compiled for every SIMD target: in doubles, which hold
// integers that they represent exactly.

#if defined(SATIN_UNWEIGHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_UNWEIGHT_INL_H
#undef SATIN_UNWEIGHT_INL_H
#else
#define SATIN_UNWEIGHT_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <type_traits>

#include "means/cpu/divide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// For every lane, the number of the lane that holds alpha of the same pixel.
template <std::size_t Channels, std::size_t Lanes>
constexpr std::array<std::int64_t, Lanes> LanesOfAlpha() {
  std::array<std::int64_t, Lanes> lanes{};
  for (std::size_t lane = 0; lane < Lanes; ++lane)
    lanes[lane] = static_cast<std::int64_t>(lane | (Channels - 1));
  return lanes;
}

/// The sum of alpha for every lane of a vector that begins with entry i.
template <int Boxes, bool Long, std::size_t Channels, class D, class V, class Sum>
HWY_INLINE auto AlphaFor(D d, V sum, const BoxDifferences<Sum>& boxes, std::size_t i) {
  if constexpr (hn::MaxLanes(D()) >= Channels) {
    alignas(64) static constexpr auto lanes = LanesOfAlpha<Channels, hn::MaxLanes(D())>();
    return hn::TableLookupLanes(EstimateOf(d, sum), hn::SetTableIndices(d, lanes.data()));
  } else {
    const hn::CappedTag<double, 1> one;
    const auto alpha = SumAt<Boxes, Long>(one, boxes, i | (Channels - 1));
    return hn::Set(d, hn::GetLane(EstimateOf(one, alpha)));
  }
}

template <int Boxes, bool Long, std::size_t Channels, class D, class Sum, class Mean>
std::size_t UnweightVectors(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                            std::size_t last, std::uint32_t white, Mean* means) {
  if (HWY_HAVE_SCALABLE && hn::MaxLanes(D()) > 1) return i;  // lane tables need a size that is known
  const hn::RebindToSigned<D> integers;
  const auto channel_bits = hn::Set(integers, Channels - 1);
  const auto round = hn::Set(d, rounding_for<Mean>);
  for (; i + hn::Lanes(d) <= last; i += hn::Lanes(d)) {
    const auto phase = static_cast<std::int64_t>(hn::MaxLanes(D()) >= Channels ? 0 : i % Channels);
    const auto channel = hn::And(hn::Iota(integers, phase), channel_bits);
    const auto is_alpha = hn::RebindMask(d, hn::Eq(channel, channel_bits));
    const auto sum = SumAt<Boxes, Long>(d, boxes, i);
    const auto alpha = hn::Max(AlphaFor<Boxes, Long, Channels>(d, sum, boxes, i), hn::Set(d, 1.0));
    const auto divisor = hn::IfThenElse(is_alpha, DivisorAt(d, divisors, i), alpha);
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
/// [k][j]: the pixel of lane j of vector k, among the pixels of `Channels` vectors.
template <std::size_t Channels, std::size_t Lanes>
constexpr std::array<std::array<std::int64_t, Lanes>, Channels> LanesOfPixels() {
  std::array<std::array<std::int64_t, Lanes>, Channels> lanes{};
  for (std::size_t k = 0; k < Channels; ++k)
    for (std::size_t j = 0; j < Lanes; ++j)
      lanes[k][j] = static_cast<std::int64_t>((k * Lanes + j) / Channels);
  return lanes;
}

/// The sum at entry i as a double. One box has the weight 1, so its sum is the difference itself.
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

/// Stores 2 or 4 vectors as StoreNearest() does, all at once.
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

/// Divides as many pixels at a time as a vector has lanes, by one vector of quotients: products with rounded
/// reciprocals are as right as the quotients are (QuotientOf).
template <int Boxes, std::size_t Channels, class D, class Sum, class Mean>
std::size_t UnweightBlocks(D d, BoxDifferences<Sum> boxes, const Divisors& divisors, std::size_t i,
                           std::size_t last, std::uint32_t white, Mean* means) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  if constexpr (lanes >= Channels) {
    alignas(64) static constexpr auto pixels = LanesOfPixels<Channels, lanes>();
    const hn::RebindToSigned<D> integers;
    const auto channel_bits = hn::Set(integers, Channels - 1);
    const auto is_alpha =
        hn::RebindMask(d, hn::Eq(hn::And(hn::Iota(integers, 0), channel_bits), channel_bits));
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

/// Means of entries [first, last), whole pixels of 2 or 4 channels whose colours were summed times alpha: the
/// last mean is that of alpha, the others are round(colour sum / alpha sum), ties up, at most `white` (0
/// where no alpha was summed). Weighted sums are below 2^50, or long, and those of alpha below 2^52.
template <class Sum, class Mean>
void Unweight(const BoxDifferences<Sum>& boxes, const Divisors& divisors, std::size_t first, std::size_t last,
              std::size_t channels, std::uint32_t white, Mean* means) {
  const auto of = [&]<int Boxes, bool Long, std::size_t Channels>() {
    InVectors(first, [&](auto d, std::size_t i) {
      if constexpr (!Long)
        if (divisors.window_pixels == nullptr)
          i = UnweightBlocks<Boxes, Channels>(d, boxes, divisors, i, last, white, means);
      return UnweightVectors<Boxes, Long, Channels>(d, boxes, divisors, i, last, white, means);
    });
  };
  const auto run = [&]<int Boxes, bool Long>() {
    channels == 2 ? of.template operator()<Boxes, Long, 2>() : of.template operator()<Boxes, Long, 4>();
  };
  WithBoxes(boxes, [&]<int Boxes>() {
    if constexpr (std::is_same_v<Sum, std::uint64_t>)
      if (divisors.division == Division::float64_pairs) return run.template operator()<Boxes, true>();
    run.template operator()<Boxes, false>();
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
