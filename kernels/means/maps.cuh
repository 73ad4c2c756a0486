#pragma once
// What the radius map and the mask of a box mean say of a pixel.

#include <cstdint>

#include "kernels/means/launch.h"
#include "means/box_mean.h"

namespace satin::kernels {

template <class T>
__device__ const T* pixel_of(const Source& source, std::int64_t x, std::int64_t y, int channels) {
  return reinterpret_cast<const T*>(source.data + y * source.row) + x * channels;
}

struct Radii {
  Radius256 x = 0;
  Radius256 y = 0;
};

__device__ inline Radii radii_at(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y) {
  const RadiusField& field = arguments.radius;
  if (!field.from_map) return {field.x, field.y};
  const Source& map = arguments.radius_map;
  Radius256 radius = 0;
  if (field.map_type == Type::u8) {
    radius = radius_from_map(*pixel_of<std::uint8_t>(map, x, y, 1), 0xFFU, field.low, field.high);
  } else if (field.map_type == Type::u16) {
    radius = radius_from_map(*pixel_of<std::uint16_t>(map, x, y, 1), 0xFFFFU, field.low, field.high);
  } else {
    radius = radius_from_map(*pixel_of<float>(map, x, y, 1), field.low, field.high);
  }
  return {radius, radius};
}

__device__ inline std::uint32_t mask_at(const BoxMeanArguments& arguments, std::int64_t x, std::int64_t y) {
  if (arguments.rule.mask_maximum == 0) return 0;
  return arguments.rule.mask_maximum == 0xFF ? *pixel_of<std::uint8_t>(arguments.mask, x, y, 1)
                                             : *pixel_of<std::uint16_t>(arguments.mask, x, y, 1);
}

}  // namespace satin::kernels
