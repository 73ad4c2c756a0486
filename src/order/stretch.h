#pragma once
// Contrast stretch of each pixel between two values of its own: `low` becomes black, `high` becomes white.

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "core/with_type.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

/// Maps `low` and below to 0, `high` and above to white (1 for floats), and values between linearly, integers
/// to nearest, ties up. Returns the value itself if low == high.
template <class T>
SATIN_HD T stretched(T value, T low, T high) {
  if (!(low < high)) return value;
  if (!(low < value)) return T{0};
  if constexpr (std::is_same_v<T, float>) {
    if (!(value < high)) return 1;
    return static_cast<float>((static_cast<double>(value) - static_cast<double>(low)) /
                              (static_cast<double>(high) - static_cast<double>(low)));
  } else {
    constexpr std::uint32_t white = static_cast<T>(~T{0});
    if (!(value < high)) return static_cast<T>(white);
    const auto range = static_cast<std::uint64_t>(high - low);
    return static_cast<T>((2 * static_cast<std::uint64_t>(value - low) * white + range) / (2 * range));
  }
}

/// Blends `weight` / `maximum` of the result with the rest of the picture's own value.
template <class T>
SATIN_HD T blended(T own, T result, std::uint32_t weight, std::uint32_t maximum) {
  if (weight == 0) return own;
  if (weight == maximum) return result;
  if constexpr (std::is_same_v<T, float>) {
    const double sum = static_cast<double>(own) * static_cast<double>(maximum - weight) +
                       static_cast<double>(result) * static_cast<double>(weight);
    return static_cast<float>(sum / static_cast<double>(maximum));
  } else {
    return static_cast<T>(blend(own, result, weight, maximum));
  }
}

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
  int colours = 1;       ///< number of channels that are stretched; alpha after them keeps its value
  Type type = Type::u8;  ///< u8, u16 or f32
  std::uint32_t mask_maximum = 0;  ///< 255 or 65535; 0: no mask

  /// All views but the mask have one shape.
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
    with_pixel_type(type, [&]<class T>() {
      launch(width, height,
             StretchPixel<T>{channels, colours, Rows<const T>(images.picture), Rows<const T>(images.low),
                             Rows<const T>(images.high), mask, Rows<T>(images.output)});
    });
  }
};

}  // namespace satin
