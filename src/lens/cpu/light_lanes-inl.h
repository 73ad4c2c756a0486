// The colours of one pixel in the lanes of a vector, for files that Highway compiles once for every SIMD
// target: lens/maths/lens_picture.h and lens/maths/disocclusion_fill.h, step by step.

#if defined(SATIN_LIGHT_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_LIGHT_LANES_INL_H
#undef SATIN_LIGHT_LANES_INL_H
#else
#define SATIN_LIGHT_LANES_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "lens/maths/disocclusion_fill.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Pixels of three colours have one lane more, which is 0.
template <int Channels>
using LightTag = hn::CappedTag<float, static_cast<std::size_t>(Channels == 3 ? 4 : Channels)>;

/// Loads colours from lane `part` on. They are below 2^31 as long as lamps are not brightened.
template <int Channels, class D>
HWY_INLINE auto ColoursAt(D /*d*/, const std::uint32_t* colours, std::size_t part) {
  const hn::RebindToSigned<D> integers;
  const auto* from = reinterpret_cast<const std::int32_t*>(colours) + part;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (Channels == 3) {
    const hn::Half<decltype(integers)> half;
    const auto all = hn::Combine(integers, hn::Set(half, from[2]), hn::LoadU(half, from));
    return hn::IfThenElseZero(hn::FirstN(integers, 3), all);
  } else
#endif
  {
    return hn::LoadU(integers, from);
  }
}

/// lens_light()
template <class D, class V>
HWY_INLINE auto LightOf(D d, V colours, const LensUnit& unit) {
  const auto light = hn::Div(hn::ConvertTo(d, colours), hn::Set(d, unit.white));
  return hn::Min(light, hn::Set(d, lens_largest_light));
}

/// compressed_light()
template <class D, class V>
HWY_INLINE V Compressed(D d, V light) {
  return hn::Div(light, hn::Add(hn::Set(d, 1.0F), light));
}

/// lens_integer(expanded_light())
template <class D, class V>
HWY_INLINE auto ExpandedColours(D d, V mean, const LensUnit& unit) {
  const auto rest = hn::Sub(hn::Set(d, 1.0F), mean);
  const auto light = hn::Div(mean, hn::Max(rest, hn::Set(d, least_light_left)));
  const auto value = hn::Add(hn::Mul(light, hn::Set(d, unit.white)), hn::Set(d, 0.5F));
  return hn::ConvertTo(hn::RebindToSigned<D>(), hn::Min(value, hn::Set(d, unit.largest)));
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
