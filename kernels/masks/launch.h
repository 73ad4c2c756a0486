#pragma once
// Launches of mask work, in the manner of kernels/device/launch.h.

#include <cstdint>

#include "kernels/device/launch.h"
#include "masks/validity_mask.h"

namespace satin::kernels {

struct ValidityMaskArguments {
  ValidityMaskJob job;
  Source picture;
  Source mask;
  Target selected;
  Target included;
};

void select_included(const ValidityMaskArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
