#pragma once
// Exact Euclidean distances in masks, and their uses: outlines that move by a disc, and soft edges.
//
// The distance of a pixel is that between its centre and the centre of the nearest pixel on the other side of
// the outline. It is kept as its square, an integer. Pixels outside the picture are on neither side.

#include <cstdint>
#include <string>

#include "core/maths/hd.h"
#include "core/operation.h"
#include "satin/error.h"

namespace satin {

/// Distances along rows and columns are cut at reach + 1, which bounds every sum of two squares: at most
/// 2 * 16385^2 < 2^30.
inline constexpr std::int32_t largest_distance_reach = 16384;

/// A value from 0 to 255 that rises with the squared distance.
struct DistanceRamp {
  static constexpr int steps = 255;
  std::uint32_t first[steps] = {};  ///< [k - 1]: the smallest squared distance with value k or more
};

/// Returns the value of a ramp: how many of the ascending `first` are at most `squared`.
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
  ramp      ///< u8: inside, the value of the ramp `inside`; outside, 255 less that of the ramp `outside`
};

struct DistanceOperation;

struct DistanceJob {
  using Operation = DistanceOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  MaskSide side = MaskSide::both;  ///< distances of pixels on the other side count as 0
  std::uint32_t most = 1;          ///< limit of squared distances: larger ones count as this
  DistanceResult result = DistanceResult::squared;
  DistanceRamp inside;
  DistanceRamp outside;
  bool inverted = false;  ///< whether moved and ramp give 255 less the value
};

/// `mask` is u8, one channel, 0 outside and 255 inside, without other values. `output` has one channel and
/// does not alias the mask.
struct DistanceOperation : Operation {
  virtual void run(const ImageView& mask, const MutableImageView& output, Stream stream) = 0;
};

/// Returns floor(sqrt(n)).
[[nodiscard]] inline std::uint32_t whole_root(std::uint32_t n) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = 1U << 15; bit != 0; bit /= 2)
    if (std::uint64_t{root + bit} * (root + bit) <= n) root += bit;
  return root;
}

/// Returns the largest distance along a row or a column that is below the job's limit: floor(sqrt(most - 1)).
/// Throws Error(usage) unless `most` is from 1 to 16385^2; this is the one check of the bound above.
[[nodiscard]] inline std::int32_t reach_of(const DistanceJob& job) {
  constexpr std::uint32_t limit = (largest_distance_reach + 1) * (largest_distance_reach + 1);
  if (job.most < 1 || job.most > limit)
    throw Error(ErrorKind::usage, "Squared distances up to " + std::to_string(job.most) +
                                      " pixels: the limit is from 1 to " + std::to_string(limit) + ".");
  return static_cast<std::int32_t>(whole_root(job.most - 1));
}

}  // namespace satin
