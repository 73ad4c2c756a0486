#pragma once
// Exact Euclidean distances in masks, and what is made of them: outlines that move by a disc, and soft edges.
//
// The distance of a pixel is that between its centre and the centre of the nearest pixel on the other side of
// the outline; it is kept as its square, an integer. Pixels outside the picture are on neither side.

#include <cstdint>

#include "core/operation.h"
#include "masks/maths/distance.h"

namespace satin {

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
/// place that checks the bound of masks/maths/distance.h: throws Error(usage) unless most is from 1 to
/// 16385^2.
[[nodiscard]] std::int32_t reach_of(const DistanceJob& job);

}  // namespace satin
