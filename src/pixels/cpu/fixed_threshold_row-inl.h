// Rows of one plane compared with a level, compiled for every SIMD target.

#if defined(SATIN_FIXED_THRESHOLD_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_FIXED_THRESHOLD_ROW_INL_H
#undef SATIN_FIXED_THRESHOLD_ROW_INL_H
#else
#define SATIN_FIXED_THRESHOLD_ROW_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "pixels/cpu/plane_rows-inl.h"
#include "pixels/maths/fixed_threshold.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Integers are above the level if they are above the largest integer that is not.
template <class T>
auto LimitOf(double level) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::min<double>(level, std::numeric_limits<T>::max()));
  } else {
    return level;
  }
}

/// out[x] = the side that value_at(x) of type T is on.
template <class T, class ValueAt>
void StoreSides(std::int64_t width, const FixedThresholdRule& rule, std::uint8_t* out,
                const ValueAt& value_at) {
  const auto above = static_cast<std::uint8_t>(rule.inverted ? 0 : 255);
  const auto below = static_cast<std::uint8_t>(255 - above);
  if (std::is_integral_v<T> && rule.level < 0) {
    std::fill_n(out, width, above);
    return;
  }
  const auto limit = LimitOf<T>(rule.level);
  for (std::int64_t x = 0; x < width; ++x) out[x] = value_at(x) > limit ? above : below;
}

/// side_of() of `width` pixels of the plane's type; `out` does not overlap them.
template <class T>
void CompareRow(const T* pixels, std::int64_t width, const FixedThresholdRule& rule, std::uint8_t* out) {
  const PlaneRead plane = rule.plane;  // a copy: bytes that are written could be the rule's
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (plane.channels >= 3) {
      TakePlane(pixels, static_cast<std::size_t>(width), plane, out);
      return StoreSides<T>(width, rule, out, [out](std::int64_t x) { return out[x]; });
    }
  if (plane.channels == 1)
    return StoreSides<T>(width, rule, out, [pixels](std::int64_t x) { return pixels[x]; });
  StoreSides<T>(width, rule, out,
                [pixels, plane](std::int64_t x) { return plane_value(pixels + x * plane.channels, plane); });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
