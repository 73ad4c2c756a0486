// Rows blended under a mask of bytes, compiled for every SIMD target. ByCover() finds runs of pixels that the
// mask leaves alone or covers fully, which need no blending; BlendPixels() blends the others.

#if defined(SATIN_BLEND_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_BLEND_INL_H
#undef SATIN_BLEND_INL_H
#else
#define SATIN_BLEND_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "pixels/cpu/load_wide-inl.h"
#include "pixels/maths/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether all weights of a run of pixels are 0 (none) or the largest (full), or neither (part).
enum class Cover : std::uint8_t { none, part, full };

template <class Weight>
Cover CoverOf(const Weight* mask, std::size_t pixels) {
  constexpr Weight whole = std::numeric_limits<Weight>::max();
  const hn::ScalableTag<Weight> d;
  auto any = hn::Zero(d);
  auto every = hn::Set(d, whole);
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= pixels; x += hn::Lanes(d)) {
    const auto weights = hn::LoadU(d, mask + x);
    any = hn::Or(any, weights);
    every = hn::And(every, weights);
  }
  bool none = hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
  bool full = hn::AllTrue(d, hn::Eq(every, hn::Set(d, whole)));
  for (; x < pixels; ++x) {
    none = none && mask[x] == 0;
    full = full && mask[x] == whole;
  }
  return none ? Cover::none : full ? Cover::full : Cover::part;
}

/// Calls use(cover, first, pixels) for consecutive runs of a row.
template <class Weight, class Use>
void ByCover(const Weight* mask, std::size_t pixels, const Use& use) {
  constexpr std::size_t block = 64;
  std::size_t first = 0;
  Cover cover = Cover::none;
  for (std::size_t next = 0; next < pixels; next += block) {
    const Cover found = CoverOf(mask + next, std::min(block, pixels - next));
    if (found != cover && first < next) {
      use(cover, first, next - first);
      first = next;
    }
    cover = found;
  }
  if (first < pixels) use(cover, first, pixels - first);
}

#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
template <int Channels, class Own>
std::size_t BlendVectors(const Own*, const std::uint16_t*, const std::uint8_t*, std::size_t, std::uint16_t*) {
  return 0;
}
#else
using BlendWords = hn::ScalableTag<std::uint16_t>;
using BlendVector = hn::Vec<BlendWords>;
constexpr std::size_t blend_lanes = hn::MaxLanes(BlendWords());

/// Returns pairs of the even entries of two vectors.
HWY_INLINE BlendVector EvenPairs(BlendVector first, BlendVector second) {
  const BlendWords d;
  const hn::RepartitionToWide<BlendWords> pairs;
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(pairs, second))), first);
}

HWY_INLINE BlendVector OddPairs(BlendVector first, BlendVector second) {
  const BlendWords d;
  const hn::RepartitionToWide<BlendWords> pairs;
  return hn::OddEven(second, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(pairs, first))));
}

/// Blends pairs (own - 2^15, mean - 2^15) with pairs (255 - weight, weight). The upper half of each result is
/// blend(), i.e. y / 255 for the sum of products y, rounded by adding 127, with y <= 255 * 65535 + 127.
/// Division: for y = 255 q + r, 257 y is 2^16 q + 257 r - q. Adding y / 256 + 256, which is from q to q +
/// 256, makes the rest non-negative and keeps it below 2^16.
HWY_INLINE hn::Vec<hn::RepartitionToWide<BlendWords> > BlendPairs(BlendVector values, BlendVector weights) {
  const hn::RepartitionToWide<BlendWords> d;
  const hn::RebindToSigned<BlendWords> halves;
  const hn::RebindToSigned<decltype(d)> integers;
  auto rest = hn::Zero(integers);
  const auto products = hn::ReorderWidenMulAccumulate(integers, hn::BitCast(halves, values),
                                                      hn::BitCast(halves, weights), hn::Zero(integers), rest);
  // Added afterwards: of an initial value of the products Highway defines the sum over all lanes alone.
  const auto offset = hn::Set(d, 255U * 0x8000 + 127);
  const auto sum = hn::Add(hn::BitCast(d, hn::RearrangeToOddPlusEven(products, rest)), offset);
  const auto lift = hn::Add(hn::ShiftRight<8>(sum), hn::Set(d, 256U));
  return hn::Add(hn::Add(hn::ShiftLeft<8>(sum), sum), lift);
}

HWY_INLINE BlendVector BlendOf(BlendVector own, BlendVector means, BlendVector weights) {
  const BlendWords d;
  const BlendVector lowered = hn::Set(d, 0x8000);
  const BlendVector rest = hn::Xor(weights, hn::Set(d, 255));
  own = hn::Xor(own, lowered);
  means = hn::Xor(means, lowered);
  const auto even = BlendPairs(EvenPairs(own, means), EvenPairs(rest, weights));
  const auto odd = BlendPairs(OddPairs(own, means), OddPairs(rest, weights));
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<16>(even)));
}

/// Indices of a byte shuffle that gives each entry the weight of its pixel as a word. `Channels` vectors hold
/// `blend_lanes` pixels; for vector k weights are loaded from the weight of its first pixel on. The index
/// 0x80 gives 0.
template <std::size_t Channels>
constexpr std::array<std::array<std::uint8_t, 2 * blend_lanes>, Channels> WeightIndices() {
  std::array<std::array<std::uint8_t, 2 * blend_lanes>, Channels> indices{};
  for (std::size_t k = 0; k < Channels; ++k)
    for (std::size_t i = 0; i < blend_lanes; ++i) {
      indices[k][2 * i] =
          static_cast<std::uint8_t>((k * blend_lanes + i) / Channels - k * blend_lanes / Channels);
      indices[k][2 * i + 1] = 0x80;
    }
  return indices;
}

/// Returns the weights of the entries of vector k; `left` weights exist.
template <std::size_t Channels>
HWY_INLINE BlendVector WeightsOf(const std::uint8_t* mask, std::size_t left, std::size_t k) {
  const BlendWords d;
  const hn::Repartition<std::uint8_t, BlendWords> bytes;
  if constexpr (Channels == 1) {
    return LoadWide(d, mask);
  } else {
    alignas(64) static constexpr auto indices = WeightIndices<Channels>();
    const std::size_t first = k * blend_lanes / Channels;
    alignas(16) std::uint8_t last[16] = {};
    const std::uint8_t* from = mask + first;
    if (left < first + 16) from = std::copy_n(from, left - first, last) - (left - first);
    return hn::BitCast(
        d, hn::TableLookupBytesOr0(hn::LoadDup128(bytes, from), hn::Load(bytes, indices[k].data())));
  }
}

/// Blends pixels by vectors, the last of which may overlap the one before. Returns the number of pixels: all,
/// or none if they do not fill a vector.
template <int Channels, class Own>
std::size_t BlendVectors(const Own* HWY_RESTRICT own, const std::uint16_t* HWY_RESTRICT means,
                         const std::uint8_t* HWY_RESTRICT mask, std::size_t pixels,
                         std::uint16_t* HWY_RESTRICT blended) {
  const BlendWords d;
  if (pixels < blend_lanes) return 0;
  for (std::size_t next = 0; next < pixels; next += blend_lanes) {
    const std::size_t x = std::min(next, pixels - blend_lanes);
    for (std::size_t k = 0; k < Channels; ++k) {
      const std::size_t i = x * Channels + k * blend_lanes;
      const BlendVector weights = WeightsOf<Channels>(mask + x, pixels - x, k);
      hn::StoreU(BlendOf(LoadWide(d, own + i), hn::LoadU(d, means + i), weights), d, blended + i);
    }
  }
  return pixels;
}
#endif

/// Sets blended[i] to blend(own[i], means[i], weight of the pixel, 255) of pixels/maths/pixel.h. Own is u8 or
/// u16.
template <class Own>
void BlendPixels(const Own* own, const std::uint16_t* means, const std::uint8_t* mask, std::size_t pixels,
                 std::size_t channels, std::uint16_t* blended) {
  std::size_t x = channels == 1   ? BlendVectors<1>(own, means, mask, pixels, blended)
                  : channels == 2 ? BlendVectors<2>(own, means, mask, pixels, blended)
                  : channels == 3 ? BlendVectors<3>(own, means, mask, pixels, blended)
                                  : BlendVectors<4>(own, means, mask, pixels, blended);
  for (; x < pixels; ++x)
    for (std::size_t i = x * channels; i < (x + 1) * channels; ++i)
      blended[i] = static_cast<std::uint16_t>(blend(own[i], means[i], mask[x], 255));
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
