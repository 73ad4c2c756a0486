#pragma once
// Step 0: ramps of depth, which resampling and anti-aliasing leave between two surfaces, become edges.

#include <cstdint>

#include "depth/maths/signed_radius.h"
#include "lens/maths/lens_planes.h"

namespace satin {

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
  return (a < b ? a : b) > ramp_step || (a < b ? b : a) < -ramp_step;
}

/// Row y of radii, for steps that compare pixels with those beside them. On the picture's first and last row
/// `at()` is the pixel itself. Beyond the ends of other rows it is some pixel of the picture where j is 0,
/// and must not be read where it is not.
struct RadiusRow {
  const std::int32_t* own;
  std::int64_t across;
  std::int64_t down;

  SATIN_HD RadiusRow(const std::int32_t* radii, const LensPlanes& planes, int y)
      : own(radii + planes.place(0, y)),
        across(y > 0 && y + 1 < planes.height ? 1 : 0),
        down(across * planes.width) {}
  /// The radius beside pixel x; i and j are -1, 0 or 1.
  [[nodiscard]] SATIN_HD std::int32_t at(int x, int i, int j) const { return own[x + i * across + j * down]; }
};

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

  struct Row {
    const SharpenRamp& step;
    RadiusRow radii;
    std::int32_t* sharpened;
    int y;

    SATIN_HD void operator()(int x) const { step(x, y); }
    [[nodiscard]] SATIN_HD bool is_rare(int x) const {
      return on_ramp(radii.at(x, -1, 0), radii.at(x, 0, 0), radii.at(x, 1, 0)) ||
             on_ramp(radii.at(x, 0, -1), radii.at(x, 0, 0), radii.at(x, 0, 1));
    }
    SATIN_HD void usual(int x) const { sharpened[x] = radii.at(x, 0, 0); }
  };
  SATIN_HD Row row(int y) const {
    return {*this, {planes.radii, planes, y}, planes.sharpened + planes.place(0, y), y};
  }
};

/// Sharpened radii -> edges: the range over 3 x 3 pixels is that of two surfaces.
struct FindSilhouette {
  LensPlanes planes;

  struct Row {
    RadiusRow radii;
    std::uint8_t* edges;
    int width;

    SATIN_HD void operator()(int x) const {
      if (x == 0 || x + 1 == width)
        edges[x] = 0;
      else
        inner(x);
    }
    /// The same for a pixel with neighbours on both sides.
    SATIN_HD void inner(int x) const {
      RadiusRange range{radii.at(x, 0, 0), radii.at(x, 0, 0)};
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          const std::int32_t radius = radii.at(x, i, j);
          range.low = radius < range.low ? radius : range.low;
          range.high = radius > range.high ? radius : range.high;
        }
      edges[x] = range.high - range.low > silhouette_step ? 1 : 0;
    }
  };
  SATIN_HD Row row(int y) const {
    return {{planes.sharpened, planes, y}, planes.edges + planes.place(0, y), planes.width};
  }
};

}  // namespace satin
