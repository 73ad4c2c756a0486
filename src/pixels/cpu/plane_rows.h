#pragma once
// Rows of one plane of a picture.

#include <algorithm>
#include <cstdint>

#include "pixels/cpu/plane_simd.h"
#include "pixels/maths/plane.h"
#include "satin/image.h"

namespace satin::cpu {

/// Calls work(row of T) with the C++ type of u8, u16 or f32.
template <class Work>
void with_plane_row(const PlaneRead& plane, const ImageView& picture, std::int64_t y, const Work& work) {
  if (plane.type == Type::u8) return work(picture.row<std::uint8_t>(y));
  if (plane.type == Type::u16) return work(picture.row<std::uint16_t>(y));
  work(picture.row<float>(y));
}

/// Integer is wide enough for the plane's values.
template <class Integer>
void read_quantised(const PlaneRead& plane, int exponent, const ImageView& picture, std::int64_t y,
                    Integer* out) {
  const std::int64_t width = picture.shape.width;
  if constexpr (sizeof(Integer) == 1)
    if (plane.channels >= 3)
      return take_plane(picture.row<std::uint8_t>(y), static_cast<std::size_t>(width), plane, out);
  with_plane_row(plane, picture, y, [&](const auto* row) {
    if (plane.channels == 1) {
      for (std::int64_t x = 0; x < width; ++x)
        out[x] = static_cast<Integer>(quantise(row[x], plane, exponent));
    } else {
      for (std::int64_t x = 0; x < width; ++x)
        out[x] =
            static_cast<Integer>(quantise(plane_value(row + x * plane.channels, plane), plane, exponent));
    }
  });
}

inline void read_values(const PlaneRead& plane, const ImageView& picture, std::int64_t y, double* out) {
  const std::int64_t width = picture.shape.width;
  with_plane_row(plane, picture, y, [&](const auto* row) {
    for (std::int64_t x = 0; x < width; ++x)
      out[x] = static_cast<double>(plane_value(row + x * plane.channels, plane));
  });
}

}  // namespace satin::cpu
