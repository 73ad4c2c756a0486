// Lanes of whole pixels with alpha, for the files that Highway compiles once for every SIMD target.

#if defined(SATIN_PIXEL_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_PIXEL_LANES_INL_H
#undef SATIN_PIXEL_LANES_INL_H
#else
#define SATIN_PIXEL_LANES_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_SCALABLE
template <std::size_t Channels>
constexpr bool holds_pixels = false;
#else
/// Whether a vector of doubles holds whole pixels of 2 or 4 channels.
template <std::size_t Channels>
constexpr bool holds_pixels = hn::MaxLanes(hn::ScalableTag<double>()) >= Channels;

/// Where alpha, the last channel, lies in a vector of doubles.
template <std::size_t Channels>
struct PixelLanes {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;

  PixelLanes() {
    alignas(64) std::int64_t last[hn::MaxLanes(D())];
    for (std::size_t lane = 0; lane < hn::MaxLanes(D()); ++lane)
      last[lane] = static_cast<std::int64_t>(lane | (Channels - 1));
    const hn::RebindToSigned<D> integers;
    alpha_lanes = hn::SetTableIndices(D(), last);
    is_alpha = hn::RebindMask(D(), hn::Eq(hn::Iota(integers, 0), hn::Load(integers, last)));
  }

  /// Alpha of every pixel in all of its lanes.
  [[nodiscard]] HWY_INLINE V alpha_of(V values) const { return hn::TableLookupLanes(values, alpha_lanes); }

  decltype(hn::SetTableIndices(D(), static_cast<const std::int64_t*>(nullptr))) alpha_lanes;
  hn::Mask<D> is_alpha;
};
#endif

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
