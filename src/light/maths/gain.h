#pragma once
// Which samples of a gain map belong to a pixel, and the linear light of a stored value. Host and device.

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"
#include "satin/view.h"

namespace satin {

/// Steps between two codes of a map that is enlarged, and the number of its entries in a table of gains.
inline constexpr unsigned gain_steps = 256;
inline constexpr unsigned gain_entries = 255 * gain_steps + 1;

/// The samples of a map along an axis of a picture. Both cover the same length.
struct MapAxis {
  std::int64_t step;  ///< samples per half pixel, in units of 2^-32 (rounded down)
  int last;           ///< position of the last sample, in 1/256 sample

  MapAxis(std::int64_t samples, std::int64_t pixels)
      : step((samples << 31) / pixels), last(static_cast<int>((samples - 1) * std::int64_t{gain_steps})) {}

  /// Returns the position of the centre of a pixel in 1/256 sample, clamped to the first and the last centre.
  /// (2 pixel + 1) * step stays below samples * 2^32, which is below 2^63 for sides up to 2^30. The step is
  /// too small by less than 2^-32, so the position by less than 1/256 for 2^23 pixels.
  [[nodiscard]] SATIN_HD int at(int pixel) const {
    const std::int64_t place = ((2 * std::int64_t{pixel} + 1) * step >> 24) - std::int64_t{gain_steps / 2};
    return static_cast<int>(place < 0 ? 0 : place > last ? last : place);
  }
};

/// Returns the first pixel of a cell, where `cells` cells share the pixels of an axis.
SATIN_HD std::int64_t first_of_cell(std::int64_t cell, std::int64_t cells, std::int64_t pixels) {
  return cell * pixels / cells;
}

/// Returns the largest linear value of a transfer table; 1 for floats.
[[nodiscard]] inline float white_of_light(Type type) {
  return type == Type::u8 ? 65535.0F : type == Type::u16 ? 16777215.0F : 1.0F;
}

/// Returns linear light of 0 to 1. `white` is white_of_light().
template <class T>
SATIN_HD float base_light(T stored, const TransferView& transfer, float white) {
  if constexpr (std::is_same_v<T, float>) {
    return stored;
  } else {
    return static_cast<float>(decode(stored, transfer)) / white;
  }
}

/// The offsets of a gain map: light added to the base and to the restored picture, for three colours.
struct GainOffsets {
  float base[3] = {};
  float light[3] = {};
};

}  // namespace satin
