#pragma once
// Which pixels are covered, as weights.

#include <cstdint>
#include <vector>

#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"
#include "satin/pixel_box.h"

namespace satin {

struct CoverByMask {
  MaskRows mask;
  Rows<std::uint8_t> weights;

  SATIN_HD void operator()(int x, int y) const { weights.row(y)[x] = mask.weight(x, y) != 0 ? 255 : 0; }
};

/// Places are those of the box.
struct CoverBox {
  std::int64_t left;
  std::int64_t top;
  Rows<std::uint8_t> weights;

  SATIN_HD void operator()(int x, int y) const { weights.row(top + y)[left + x] = 255; }
};

struct CoverageJob {
  using Operation = PixelwiseOperation<CoverageJob>;
  static constexpr const char* doing = "covering boxes";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type mask_type = Type::u8;    ///< u8 or u16, if there is a mask
  std::vector<PixelBox> boxes;  ///< of a pixel or more, inside the picture

  struct Images {
    ImageView mask;            ///< empty: none
    MutableImageView weights;  ///< u8: 255 in the boxes and where the mask is not 0, 0 elsewhere
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const Rows<std::uint8_t> weights(images.weights);
    const std::uint32_t maximum = images.mask.empty() ? 0 : mask_type == Type::u8 ? 0xFF : 0xFFFF;
    launch(width, height, CoverByMask{MaskRows(images.mask, maximum), weights});
    for (const PixelBox& box : boxes) launch(box.width, box.height, CoverBox{box.x, box.y, weights});
  }
};

}  // namespace satin
