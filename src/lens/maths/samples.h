#pragma once
// Samples: points of the scene, each with its colour and its circle of confusion. The steps before the splat
// write them, the splat spreads them.
//
// Every pixel has one visible sample, in dense planes (LensPlanes). Samples beside these, of silhouettes and
// of what nearer things hide, are in one unordered list (LensList). All of it is in the memory of one device.

#include <cstdint>

#include "core/maths/atomics.h"
#include "core/maths/hd.h"
#include "depth/maths/signed_radius.h"

namespace satin {

/// Weight of a sample that covers its whole pixel.
inline constexpr std::uint32_t lens_full_weight = 1U << 12;

/// Radius from which on the search for farther groups does not reach far enough, 31 pixels in 1/256 pixel.
inline constexpr std::uint32_t lens_exposed_radius = 31 * 256;

/// Largest radius in focus, 0.6 pixels in 1/256 pixel: the sample stays on its pixel.
inline constexpr std::uint32_t lens_focus_radius = 153;

struct LensSample {
  std::uint32_t colour[4];  ///< linear, premultiplied; then alpha in the same unit, if there is one
  std::int32_t x, y;        ///< coordinates in the picture; a block has those of its upper left pixel
  std::uint32_t radius;     ///< radius of the circle of confusion, 1/256 pixel
  std::uint16_t weight;     ///< weight in 1/lens_full_weight; a block has the sum over its pixels
  std::uint8_t block;       ///< side in pixels: 1 or 2
  std::uint8_t group;       ///< 0 is the nearest
};

inline constexpr int lens_most_groups = 5;
inline constexpr int depth_bins = 256;

/// Groups of depth, the nearest first. Group g holds the radii below limits[g - 1] and not below limits[g].
struct DepthGroups {
  std::int32_t count = 1;
  std::int32_t limits[lens_most_groups - 1] = {};

  SATIN_HD int group_of(std::int32_t radius) const {
    int group = 0;
    while (group + 1 < count && radius < limits[group]) ++group;
    return group;
  }
};

/// Samples beside the visible ones, in no order. What complete() finds not to fit is dropped as a whole, so
/// that the result does not depend on which samples came first.
struct LensList {
  LensSample* samples = nullptr;
  std::uint32_t* count = nullptr;      ///< completed samples
  std::uint32_t* attempted = nullptr;  ///< samples added since then, including those that do not fit
  std::uint32_t capacity = 0;

  SATIN_HD void add(const LensSample& sample) const {
    const std::uint64_t place = std::uint64_t{*count} + add_shared(attempted, 1);
    if (place < capacity) samples[place] = sample;
  }
  /// Completes the samples that were added; called by one thread. Returns whether they fit.
  SATIN_HD bool complete() const {
    const bool fits = std::uint64_t{*count} + *attempted <= capacity;
    if (fits) *count += *attempted;
    *attempted = 0;
    return fits;
  }
};

/// Dense planes of width * height values, without padding.
struct LensPlanes {
  int width = 0;
  int height = 0;
  int channels = 1;
  std::int32_t* radii = nullptr;        ///< signed, positive near: the input, then of the visible samples
  std::int32_t* sharpened = nullptr;    ///< `radii` with sharpened ramps
  std::uint8_t* edges = nullptr;        ///< 1 on silhouettes
  std::uint32_t* colours = nullptr;     ///< visible samples: `channels` interleaved linear integers
  std::uint32_t* magnitudes = nullptr;  ///< visible samples: absolute radii
  std::uint16_t* weights = nullptr;     ///< visible samples: weights in 1/lens_full_weight
  std::uint8_t* groups = nullptr;       ///< visible samples: group numbers
  std::uint8_t* exposed = nullptr;      ///< 1 where a farther group is as near as the pixel's radius

  SATIN_HD std::int64_t place(int x, int y) const { return static_cast<std::int64_t>(y) * width + x; }
  SATIN_HD bool holds(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

}  // namespace satin
