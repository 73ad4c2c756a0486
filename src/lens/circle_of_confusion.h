#pragma once
// A depth image as a plane of signed radii.

#include <cstdint>

#include "core/operation.h"
#include "lens/maths/circle_of_confusion.h"

namespace satin {

struct CircleOfConfusionOperation;

struct CircleOfConfusionJob {
  using Operation = CircleOfConfusionOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< of the depth image: u8, u16 or f32
  int channels = 1;
  int channel = 0;
  DepthRule rule;
};

struct CircleOfConfusionOperation : Operation {
  /// Finds the focus, then fills `radii` (one channel, i32) by circle_of_confusion() of core/maths;
  /// unknown_radius where nothing is known. `state` is in the backend's memory.
  virtual void run(const ImageView& depth, LensState* state, const MutableImageView& radii,
                   Stream stream) = 0;
};

}  // namespace satin
