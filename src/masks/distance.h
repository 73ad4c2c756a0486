#pragma once
// Exact Euclidean distances in masks, and what is made of them: outlines that move by a disc, and soft edges.
//
// The distance of a pixel is that between its centre and the centre of the nearest pixel on the other side of
// the outline; it is kept as its square, an integer. Pixels outside the picture are on neither side.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/operation.h"

namespace satin {

// Squared distances between pixels, and grey ramps over them: integers throughout.
//
// Rows and columns of a distance are cut at a reach, which bounds every sum: with a reach of 16384 a square
// of columns and one of rows make at most 2 * 16385^2 < 2^30.

inline constexpr std::int32_t largest_distance_reach = 16384;

/// 0 to 255 as a function of a squared distance that never falls.
struct DistanceRamp {
  static constexpr int steps = 255;
  std::uint32_t first[steps] = {};  ///< [k - 1]: the smallest squared distance with value k or more
};

/// How many of the ascending `first` are at most `squared`.
SATIN_HD std::uint32_t ramp_value(const std::uint32_t* first, std::uint32_t squared) {
  std::uint32_t value = 0;
  for (std::uint32_t half = 128; half != 0; half /= 2)
    if (first[value + half - 1] <= squared) value += half;
  return value;
}

enum class MaskSide : std::uint8_t { outside, inside, both };

enum class DistanceResult : std::uint8_t {
  squared,  ///< u32: the squared distance of pixels on `side`, at most `most`; 0 for the others
  moved,    ///< u8: the mask after pixels on `side`, which is not both, nearer than `most` have changed sides
  ramp      ///< u8: the value of `inside` at the squared distance; outside 255 less that of `outside`
};

struct DistanceOperation;

struct DistanceJob {
  using Operation = DistanceOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  MaskSide side = MaskSide::both;  ///< the distances of pixels on the other side count as 0
  std::uint32_t most = 1;          ///< squared distances from here on are not told apart
  DistanceResult result = DistanceResult::squared;
  DistanceRamp inside;
  DistanceRamp outside;
  bool inverted = false;  ///< moved and ramp: 255 less the value
};

/// `mask`: u8, one channel, 0 outside and 255 inside, nothing else. `output` has one channel and does not
/// alias the mask.
struct DistanceOperation : Operation {
  virtual void run(const ImageView& mask, const MutableImageView& output, Stream stream) = 0;
};

/// floor(sqrt(n))
[[nodiscard]] std::uint32_t whole_root(std::uint32_t n);

/// The largest distance along a row or a column that is below the job's limit: floor(sqrt(most - 1)). The one
/// place that checks the bound above: throws Error(usage) unless most is from 1 to
/// 16385^2.
[[nodiscard]] std::int32_t reach_of(const DistanceJob& job);

}  // namespace satin
