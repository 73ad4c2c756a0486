#pragma once
// Radii of a depth image of another size at the pixels of a picture.

#include <cstdint>

#include "core/operation.h"
#include "lens/maths/enlarge_radii.h"

namespace satin {

struct EnlargeRadiiOperation;

struct EnlargeRadiiJob {
  using Operation = EnlargeRadiiOperation;

  EnlargeSizes sizes;
  Type type = Type::u8;  ///< of the picture: u8, u16 or f32
  int channels = 1;
  int colours = 1;  ///< that guide: 1 or 3
};

struct EnlargeRadiiOperation : Operation {
  /// `samples` (i32, of the depth image's size, no unknown_radius) to `radii` (i32, of the picture's size):
  /// by enlarged_radius() of core/maths; the sample at the pixel's centre where the depth image is wider than
  /// the picture.
  virtual void run(const ImageView& picture, const ImageView& samples, const MutableImageView& radii,
                   Stream stream) = 0;
};

}  // namespace satin
