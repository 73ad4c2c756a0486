#pragma once
// Masks to label: noise, blobs and specks of smoothed noise, strokes like those of a text.

#include <cstdint>
#include <string>
#include <vector>

#include "satin/filters.h"

namespace satin::bench {

inline Shape mask_shape(std::int64_t width, std::int64_t height) {
  Shape shape;
  shape.width = width;
  shape.height = height;
  return shape;
}

inline Image noise(const Shape& shape) {
  Image image(shape);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < byte_size(shape); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    image.data()[i] = static_cast<std::byte>(state >> 56);
  }
  return image;
}

struct NamedMask {
  std::string name;
  Image image;
};

/// Letters stand for a text: strokes of some pixels on a lattice.
inline Image strokes(const Shape& shape) {
  Image image = noise(shape);
  auto* pixel = reinterpret_cast<std::uint8_t*>(image.data());
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::int64_t letter = (y / 40) * 7919 + x / 24;
      const bool row = y % 40 < 26;
      const bool stem = x % 24 > 4 && x % 24 < 9;
      const bool bar = x % 24 > 4 && x % 24 < 20 && (y % 40) / 4 == letter * 31 % 6;
      pixel[y * shape.width + x] = row && letter % 6 != 0 && (stem || bar) ? 255 : 0;
    }
  return image;
}

inline std::vector<NamedMask> masks(const Device& device, const Shape& shape) {
  const Image random = noise(shape);
  const auto level = [&](const Image& image, double at) {
    return threshold(device, image, {.method = Binarisation::fixed, .level = at});
  };
  std::vector<NamedMask> result;
  result.push_back({"random 0.5", level(random, 127.5 / 255)});
  result.push_back({"blobs", level(blur(device, random, {.sigma = 8, .space = Space::encoded}), 0.5)});
  result.push_back({"specks", level(blur(device, random, {.sigma = 2, .space = Space::encoded}), 0.53)});
  result.push_back({"text", strokes(shape)});
  return result;
}

}  // namespace satin::bench
