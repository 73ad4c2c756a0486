#pragma once
// Pixels that a mask leaves: a copy of a picture with 0 elsewhere, and a validity mask of 1 and 0.

#include <cstdint>
#include <memory>

#include "core/backend.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Element has the size of a channel; floats are copied as their bits.
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
  Type type = Type::u8;       ///< type of the picture: u8, u16 or f32
  Type mask_type = Type::u8;  ///< u8 or u16

  struct Images {
    ImageView picture;
    ImageView mask;
    MutableImageView selected;  ///< the pixels whose mask is not 0; the others are 0
    MutableImageView included;  ///< u8, one channel: 1 where the mask is not 0, 0 elsewhere
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

/// Selects the pixels whose mask is not 0, for operations that do not read masks.
class ValidPixels {
 public:
  ValidPixels(Backend& backend, const Shape& shape, std::uint32_t mask_maximum)
      : select_(backend.prepare(ValidityMaskJob{shape.width, shape.height, shape.channels, shape.type,
                                                mask_maximum == 0xFF ? Type::u8 : Type::u16})),
        selected_(backend.allocate(Shape{shape.width, shape.height, shape.channels, shape.type})),
        included_(backend.allocate(Shape{shape.width, shape.height, 1, Type::u8})) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return byte_size(selected_.shape()) + byte_size(included_.shape());
  }
  /// Returns the picture with 0 where the mask is 0.
  ImageView select(const ImageView& picture, const ImageView& mask, Stream stream) {
    select_->run({picture, mask, selected_.view(), included_.view()}, stream);
    return selected_.view();
  }
  /// Validity mask of the last select().
  [[nodiscard]] ImageView included() const { return included_.view(); }

 private:
  std::unique_ptr<ValidityMaskJob::Operation> select_;
  Image selected_;
  Image included_;
};

}  // namespace satin
