#pragma once
// What the steps before the splat make of one picture, in the memory of one device.

#include <cstdint>

#include "core/maths/atomics.h"
#include "core/maths/hd.h"
#include "depth/maths/signed_radius.h"

namespace satin {

// What a lens spreads: points of the scene, each with its colour and its circle of confusion.

/// The weight of a sample that covers its pixel wholly.
inline constexpr std::uint32_t lens_full_weight = 1U << 12;

/// Radii are in 1/256 pixel. Those up to this one, 0.6 pixels, are in focus: the sample stays on its pixel.
inline constexpr std::uint32_t lens_focus_radius = 153;

/// No radius is as large.
inline constexpr std::uint32_t never_merged = ~std::uint32_t{0};
/// Radii of samples that are merged differ by no more: half a pixel.
inline constexpr std::uint32_t merged_difference = 128;

/// Visible samples of 2 x 2 pixels, at even places, that are of one group, cover their pixels wholly and are
/// no highlights: if their radii are alike and large enough, nobody sees that they are spread as one block,
/// each by the kernel of a block of their mean radius.
SATIN_HD bool can_merge(const std::uint32_t (&radii)[4], std::uint32_t merge_from) {
  std::uint32_t low = radii[0];
  std::uint32_t high = radii[0];
  for (int i = 1; i < 4; ++i) {
    low = radii[i] < low ? radii[i] : low;
    high = radii[i] > high ? radii[i] : high;
  }
  return low >= merge_from && high - low <= merged_difference;
}

/// Rounded to nearest, ties up; radii are below 2^30.
SATIN_HD std::uint32_t merged_radius_of(const std::uint32_t (&radii)[4]) {
  return (radii[0] + radii[1] + radii[2] + radii[3] + 2) / 4;
}

struct LensSample {
  std::uint32_t colour[4];  ///< linear, premultiplied by alpha; then alpha in the same unit, if there is one
  std::int32_t x, y;        ///< inside the picture; of a block its upper left pixel
  std::uint32_t radius;     ///< of the circle of confusion, in 1/256 pixel
  std::uint16_t weight;     ///< in parts of lens_full_weight; of a block the sum over its pixels
  std::uint8_t block;       ///< 1: a pixel; 2: 2 x 2 pixels
  std::uint8_t group;       ///< 0 is the nearest
};

inline constexpr int lens_most_groups = 5;
inline constexpr int depth_bins = 256;

/// The groups of depth, nearest first: group g holds the radii that are below limits[g - 1] and not below
/// limits[g].
struct DepthGroups {
  std::int32_t count = 1;
  std::int32_t limits[lens_most_groups - 1] = {};

  SATIN_HD int group_of(std::int32_t radius) const {
    int group = 0;
    while (group + 1 < count && radius < limits[group]) ++group;
    return group;
  }
};

/// Samples beside the visible ones, in no order. A group whose samples do not fit is left away as a whole, so
/// that the result does not depend on which came first.
struct LensList {
  LensSample* samples = nullptr;
  std::uint32_t* count = nullptr;      ///< of complete groups
  std::uint32_t* attempted = nullptr;  ///< of the group in work, those that do not fit included
  std::uint32_t capacity = 0;

  SATIN_HD void add(const LensSample& sample) const {
    const std::uint64_t place = std::uint64_t{*count} + add_shared(attempted, 1);
    if (place < capacity) samples[place] = sample;
  }
  /// Ends the group in work, by one thread; false: it did not fit.
  SATIN_HD bool complete() const {
    const bool fits = std::uint64_t{*count} + *attempted <= capacity;
    if (fits) *count += *attempted;
    *attempted = 0;
    return fits;
  }
};

/// Dense planes, width * height values each, rows without gaps.
struct LensPlanes {
  int width = 0;
  int height = 0;
  int channels = 1;
  std::int32_t* radii = nullptr;        ///< signed, positive near; as given, later those of the samples
  std::int32_t* sharpened = nullptr;    ///< signed, without ramps
  std::uint8_t* edges = nullptr;        ///< 1: a silhouette
  std::uint32_t* colours = nullptr;     ///< of the visible samples: `channels` interleaved linear integers
  std::uint32_t* magnitudes = nullptr;  ///< |radius| of the visible samples
  std::uint16_t* weights = nullptr;     ///< of lens_full_weight
  std::uint8_t* groups = nullptr;       ///< of the visible samples

  SATIN_HD std::int64_t place(int x, int y) const { return static_cast<std::int64_t>(y) * width + x; }
  SATIN_HD bool holds(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

}  // namespace satin
