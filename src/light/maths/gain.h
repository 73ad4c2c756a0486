#pragma once
// How host and device read a base picture with a gain map: its linear light, and the samples of the map that
// belong to a pixel.

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"
#include "satin/view.h"

namespace satin {

/// Steps between two codes of an enlarged map, and the entries of a table of gains.
inline constexpr unsigned gain_steps = 256;
inline constexpr unsigned gain_entries = 255 * gain_steps + 1;

/// The samples of a map along an axis of a picture. Both cover the same length.
struct MapAxis {
  std::int64_t step;  ///< samples per half pixel, in units of 2^-32 (rounded down)
  std::int64_t last;  ///< position of the last sample, in 1/256 sample

  MapAxis(std::int64_t samples, std::int64_t pixels)
      : step((samples << 31) / pixels), last((samples - 1) * std::int64_t{gain_steps}) {}

  /// Returns the position of the centre of a pixel in 1/256 sample, clamped to the first and the last centre.
  /// (2 pixel + 1) * step stays below samples * 2^32, which is below 2^63 for sides up to 2^30. The step is
  /// too small by less than 2^-32, so the position by less than 1/256 for 2^23 pixels.
  [[nodiscard]] SATIN_HD unsigned at(int pixel) const {
    const std::int64_t place = ((2 * std::int64_t{pixel} + 1) * step >> 24) - std::int64_t{gain_steps / 2};
    return static_cast<unsigned>(place < 0 ? 0 : place > last ? last : place);
  }
};

/// How stored values become linear light of 0 to 1.
struct BaseLight {
  TransferView transfer;
  double scale;  ///< 1 / the largest value of the transfer table; 1 for floats
  bool is_bgr;   ///< whether the first of three colours is blue

  BaseLight(const Shape& base, const TransferView& tables)
      : transfer(tables),
        scale(base.type == Type::u8    ? 1.0 / 65535
              : base.type == Type::u16 ? 1.0 / 16777215
                                       : 1.0),
        is_bgr(base.order == Order::bgr && base.channels >= 3) {}

  template <class T>
  [[nodiscard]] SATIN_HD double of(T stored) const {
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<double>(stored);
    } else {
      return static_cast<double>(decode(stored, transfer)) * scale;
    }
  }
};

/// The offsets of a gain map: light added to the base and to the restored picture, red first.
struct GainOffsets {
  float base[3] = {};
  float light[3] = {};
};

/// Returns the number of colours, without alpha.
[[nodiscard]] inline int colours_of(const Shape& shape) {
  return shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
}

/// Calls function.operator()<T, Colours>() for the stored type of a picture with one or three colours.
template <class Function>
void with_colours(const Shape& shape, const Function& function) {
  const auto with = [&]<class T>() {
    colours_of(shape) == 1 ? function.template operator()<T, 1>() : function.template operator()<T, 3>();
  };
  if (shape.type == Type::u8) return with.template operator()<std::uint8_t>();
  if (shape.type == Type::u16) return with.template operator()<std::uint16_t>();
  with.template operator()<float>();
}

}  // namespace satin
