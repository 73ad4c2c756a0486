#pragma once
// Launches of masks.cu, in the manner of launch.h.

#include <cstdint>

#include "core/operations/active_tiles.h"
#include "core/operations/inclusion.h"
#include "kernels/launch.h"

namespace satin::kernels {

struct ActiveTilesArguments {
  ActiveTilesJob job;
  Source mask;
  std::uint8_t* active = nullptr;  ///< one value a tile, row by row: 1 or 0
};

void find_active_tiles(const ActiveTilesArguments& arguments, StreamHandle stream);

struct InclusionArguments {
  InclusionJob job;
  Source picture;
  Source mask;
  Target selected;
  Target included;
};

void select_included(const InclusionArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
