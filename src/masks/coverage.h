#pragma once
// Which pixels are covered, as weights.

#include <cstdint>
#include <vector>

#include "core/operation.h"
#include "satin/pixel_box.h"

namespace satin {

struct CoverageOperation;

struct CoverageJob {
  using Operation = CoverageOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type mask_type = Type::u8;    ///< u8 or u16, if there is a mask
  std::vector<PixelBox> boxes;  ///< inside the picture
};

struct CoverageOperation : Operation {
  /// weights (u8): 255 in the boxes and where the mask, if it is not empty, is not 0; 0 elsewhere.
  virtual void run(const ImageView& mask, const MutableImageView& weights, Stream stream) = 0;
};

}  // namespace satin
