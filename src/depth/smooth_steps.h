#pragma once
// Depth of 8 bits without its steps.

#include <cstdint>

#include "core/operation.h"
#include "depth/maths/smooth_steps.h"

namespace satin {

struct SmoothStepsOperation;

struct SmoothStepsJob {
  using Operation = SmoothStepsOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  int channel = 0;   ///< that holds the depth
  int unknown = -1;  ///< the code of pixels of which nothing is known; -1: none
};

struct SmoothStepsOperation : Operation {
  /// `codes` (u8) to `smoothed` (u16, one channel) by smoothed_code() of core/maths.
  virtual void run(const ImageView& codes, const MutableImageView& smoothed, Stream stream) = 0;
};

}  // namespace satin
