#pragma once
// Step 0: ramps of depth, which resampling and anti-aliasing leave between two surfaces, become edges.

#include <cstdint>

#include "lens/maths/lens_planes.h"

namespace satin {

inline constexpr std::int32_t ramp_step = 77;         ///< 0.3 pixels a pixel, both ways
inline constexpr std::int32_t silhouette_step = 384;  ///< 1.5 pixels: farther apart are two surfaces

struct RadiusRange {
  std::int32_t low;
  std::int32_t high;
};

/// Smallest and largest radius within `reach` pixels each way, in the picture.
SATIN_HD RadiusRange radius_range(const std::int32_t* radii, const LensPlanes& planes, int x, int y,
                                  int reach) {
  const std::int32_t own = radii[planes.place(x, y)];
  RadiusRange range{own, own};
  const int left = x < reach ? 0 : x - reach;
  const int right = x + reach < planes.width ? x + reach : planes.width - 1;
  const int bottom = y + reach < planes.height ? y + reach : planes.height - 1;
  for (int v = y < reach ? 0 : y - reach; v <= bottom; ++v) {
    const std::int32_t* row = radii + planes.place(0, v);
    for (int u = left; u <= right; ++u) {
      range.low = row[u] < range.low ? row[u] : range.low;
      range.high = row[u] > range.high ? row[u] : range.high;
    }
  }
  return range;
}

/// Both one-sided differences have one sign and exceed the step.
SATIN_HD bool on_ramp(std::int32_t before, std::int32_t own, std::int32_t after) {
  const std::int32_t a = own - before;
  const std::int32_t b = after - own;
  return (a > ramp_step && b > ramp_step) || (a < -ramp_step && b < -ramp_step);
}

/// Radii of one pixel -> sharpened: on a ramp between two surfaces, that of the nearer one in value.
struct SharpenRamp {
  LensPlanes planes;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = planes.place(x, y);
    const std::int32_t* radii = planes.radii;
    const std::int32_t own = radii[at];
    planes.sharpened[at] = own;
    if (x == 0 || y == 0 || x + 1 == planes.width || y + 1 == planes.height) return;
    if (!on_ramp(radii[at - 1], own, radii[at + 1]) &&
        !on_ramp(radii[at - planes.width], own, radii[at + planes.width]))
      return;
    const RadiusRange range = radius_range(radii, planes, x, y, 2);
    if (range.high - range.low > silhouette_step)
      planes.sharpened[at] = own - range.low < range.high - own ? range.low : range.high;
  }
};

/// Sharpened radii -> edges: the range over 3 x 3 pixels is that of two surfaces.
struct FindSilhouette {
  LensPlanes planes;

  SATIN_HD void operator()(int x, int y) const {
    std::uint8_t edge = 0;
    if (x > 0 && y > 0 && x + 1 < planes.width && y + 1 < planes.height) {
      const RadiusRange range = radius_range(planes.sharpened, planes, x, y, 1);
      edge = range.high - range.low > silhouette_step ? 1 : 0;
    }
    planes.edges[planes.place(x, y)] = edge;
  }
};

}  // namespace satin
