#pragma once
// Debug pictures of depth of field (`--debug`): the radii, the groups of depth, or the disocclusion fill, as
// linear integers like the result.

#include <cstdint>

#include "lens/maths/picture.h"
#include "lens/maths/samples.h"

namespace satin {

/// Linear colours of the groups, the nearest first.
SATIN_HD float group_shade(int group, int channel) {
  constexpr float shades[lens_most_groups][3] = {{1.0F, 0.05F, 0.05F},
                                                 {1.0F, 0.45F, 0.0F},
                                                 {0.1F, 0.7F, 0.1F},
                                                 {0.0F, 0.4F, 1.0F},
                                                 {0.25F, 0.05F, 0.6F}};
  return shades[group][channel];
}

/// White and full opacity of a debug picture.
struct ShadeUnit {
  const LensUnit* unit = nullptr;
  bool opacity = false;       ///< the last channel is opacity
  bool own_exponent = false;  ///< opacity has an exponent of its own: floats with straight alpha

  SATIN_HD std::uint32_t opaque() const {
    if (!own_exponent) return unit->brightest;
    return static_cast<std::uint32_t>(power_of_two(unit->alpha_exponent));
  }
};

/// Shows the radii or the groups. A last channel that is neither colour nor opacity keeps its values.
struct ShowShades {
  LensPlanes planes;
  ShadeUnit shade;
  bool groups = false;              ///< shows groups instead of radii
  bool blue_first = false;          ///< BGR order
  double largest = 1;               ///< largest radius, 1/256 pixel
  std::uint32_t* values = nullptr;  ///< dense, interleaved

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t at = planes.place(x, y);
    const std::uint32_t* own = planes.colours + at * planes.channels;
    const int last = planes.channels - 1;
    const int colours = planes.channels % 2 == 0 ? last : planes.channels;
    const double white = static_cast<double>(shade.unit->white);
    for (int c = 0; c < colours; ++c)
      values[at * planes.channels + c] =
          static_cast<std::uint32_t>(shade_of(at, blue_first ? 2 - c : c, colours) * white + 0.5);
    if (colours == last) values[at * planes.channels + last] = shade.opacity ? shade.opaque() : own[last];
  }

 private:
  [[nodiscard]] SATIN_HD double shade_of(std::int64_t at, int channel, int colours) const {
    if (groups) {
      const int group = planes.groups[at];
      if (colours == 1) return 1 - static_cast<double>(group) / lens_most_groups;
      return static_cast<double>(group_shade(group, channel));
    }
    const std::int32_t radius = planes.radii[at];
    const bool shown = colours == 1 || channel == (radius > 0 ? 0 : 2);
    return shown && largest > 0 ? static_cast<double>(magnitude_of(radius)) / largest : 0.0;
  }
};

struct ShowNothing {
  LensPlanes planes;
  ShadeUnit shade;
  std::uint32_t* values;

  SATIN_HD void operator()(int x, int y) const {
    std::uint32_t* to = values + planes.place(x, y) * planes.channels;
    for (int c = 0; c < planes.channels; ++c) to[c] = 0;
    if (shade.opacity) to[planes.channels - 1] = shade.opaque();
  }
};

inline constexpr int listed_columns = 4096;

/// Shows the hidden samples of one group. Place (x, y) is entry y * listed_columns + x of the list. Listed
/// samples of silhouettes are of their pixel's group or a nearer one, and are not shown.
struct ShowHidden {
  LensPlanes planes;
  LensList list;
  int group;
  std::uint32_t* values;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t i = static_cast<std::int64_t>(y) * listed_columns + x;
    if (i >= static_cast<std::int64_t>(*list.count)) return;
    const LensSample& sample = list.samples[i];
    if (sample.group != group) return;
    for (int v = sample.y; v < sample.y + sample.block; ++v)
      for (int u = sample.x; u < sample.x + sample.block; ++u) {
        const std::int64_t at = planes.place(u, v);
        if (planes.groups[at] >= group) continue;
        for (int c = 0; c < planes.channels; ++c) values[at * planes.channels + c] = sample.colour[c];
      }
  }
};

/// Shows the hidden samples of all groups, the nearest last.
template <class Launch>
void show_hidden(Launch& launch, const LensPlanes& planes, const ShadeUnit& shade, const LensList& list,
                 int groups, std::uint32_t* values) {
  launch(planes.width, planes.height, ShowNothing{planes, shade, values});
  const int rows = static_cast<int>((std::int64_t{list.capacity} + listed_columns - 1) / listed_columns);
  for (int group = groups - 1; group > 0; --group)
    launch(listed_columns, rows, ShowHidden{planes, list, group, values});
}

}  // namespace satin
