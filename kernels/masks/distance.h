#pragma once
// Launches of distance.cu, in the manner of launch.h.

#include <cstdint>

#include "kernels/device/launch.h"
#include "masks/distance.h"

namespace satin::kernels {

/// Pixels of a row that share one entry of GroupHeights; rows of columns are whole groups.
inline constexpr int distance_group = 32;

/// The smallest height that each side sees in a group.
struct GroupHeights {
  std::uint16_t inside = 0;
  std::uint16_t outside = 0;
};

struct DistanceArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t groups = 0;  ///< of a row
  MaskSide side = MaskSide::both;
  DistanceResult result = DistanceResult::squared;
  std::int32_t most = 1;
  std::int32_t reach = 0;
  bool inverted = false;
  Source mask;
  /// Distances down the columns, at most reach + 1: above 0 inside, below 0 outside, 0 beyond the row.
  std::int16_t* columns = nullptr;
  GroupHeights* group_heights = nullptr;  ///< not of moved
  const std::uint16_t* chords = nullptr;  ///< of moved: 1 + floor(sqrt(most - 1 - g^2)), 0 for reach + 1
  const std::uint32_t* ramps = nullptr;   ///< DistanceRamp::first of `inside`, then of `outside`
  Target output;
};

void distance(const DistanceArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
