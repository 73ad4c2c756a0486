#pragma once
// A picture of which only some pixels count.

#include <cstdint>

#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Element has the size of a channel: floats are moved as their bits.
template <class Element>
struct SelectValid {
  int channels;
  Rows<const Element> picture;
  MaskRows mask;
  Rows<Element> selected;
  Rows<std::uint8_t> included;

  SATIN_HD void operator()(int x, int y) const {
    const bool in = mask.weight(x, y) != 0;
    const Element* from = picture.row(y) + std::int64_t{x} * channels;
    Element* to = selected.row(y) + std::int64_t{x} * channels;
    for (int c = 0; c < channels; ++c) to[c] = in ? from[c] : Element{0};
    included.row(y)[x] = in ? 1 : 0;
  }
};

struct ValidityMaskJob {
  using Operation = PixelwiseOperation<ValidityMaskJob>;
  static constexpr const char* doing = "selecting the pixels that a mask leaves";

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;       ///< of the picture: u8, u16 or f32
  Type mask_type = Type::u8;  ///< u8 or u16

  struct Images {
    ImageView picture;
    ImageView mask;
    MutableImageView selected;  ///< the pixels whose mask is not 0, and 0 in place of the others
    MutableImageView included;  ///< u8, one channel: 1 for the former, 0 for the latter
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const MaskRows mask(images.mask, mask_type == Type::u8 ? 0xFF : 0xFFFF);
    const auto select = [&]<class Element>(Element) {
      launch(width, height,
             SelectValid<Element>{channels, Rows<const Element>(images.picture), mask,
                                  Rows<Element>(images.selected), Rows<std::uint8_t>(images.included)});
    };
    if (type == Type::u8) return select(std::uint8_t{});
    if (type == Type::u16) return select(std::uint16_t{});
    select(std::uint32_t{});
  }
};

}  // namespace satin
