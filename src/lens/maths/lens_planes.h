#pragma once
// What the steps before the splat make of one picture, in the memory of one device.

#include <cstdint>

#include "core/maths/atomics.h"
#include "core/maths/hd.h"
#include "depth/maths/signed_radius.h"
#include "lens/maths/lens_sample.h"

namespace satin {

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
