#pragma once
// Every value between two others of its place, spread from black to white.

#include <cstdint>

#include "order/maths/stretch.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

template <class T>
struct StretchPixel {
  int channels;
  int colours;
  Rows<const T> picture;
  Rows<const T> low;
  Rows<const T> high;
  MaskRows mask;
  Rows<T> output;

  SATIN_HD void operator()(int x, int y) const {
    const std::int64_t first = std::int64_t{x} * channels;
    const std::uint32_t maximum = mask.maximum == 0 ? 1 : mask.maximum;
    const std::uint32_t weight = mask.maximum == 0 ? 1 : mask.weight(x, y);
    for (std::int64_t i = first; i < first + channels; ++i) {
      const T own = picture.row(y)[i];
      const bool colour = i - first < colours;
      output.row(y)[i] =
          colour ? blended(own, stretched(own, low.row(y)[i], high.row(y)[i]), weight, maximum) : own;
    }
  }
};

struct StretchJob {
  using Operation = PixelwiseOperation<StretchJob>;
  static constexpr const char* doing = "stretching values between percentiles";

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  int colours = 1;                 ///< the first channels; the others keep their values
  Type type = Type::u8;            ///< u8, u16 or f32
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask

  /// All but the mask are of one shape.
  struct Images {
    ImageView picture;
    ImageView low;
    ImageView high;
    ImageView mask;
    MutableImageView output;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const MaskRows mask(images.mask, mask_maximum);
    const auto stretch = [&]<class T>(T) {
      launch(width, height,
             StretchPixel<T>{channels, colours, Rows<const T>(images.picture), Rows<const T>(images.low),
                             Rows<const T>(images.high), mask, Rows<T>(images.output)});
    };
    if (type == Type::u8) return stretch(std::uint8_t{});
    if (type == Type::u16) return stretch(std::uint16_t{});
    stretch(float{});
  }
};

}  // namespace satin
