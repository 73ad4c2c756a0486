#include "io/orientation.h"

#include <algorithm>
#include <cstring>

#include "io/support.h"

namespace satin::io {
namespace {

/// Address of target pixel (0, 0) in the source, and the way from a target pixel to the next one.
struct Walk {
  const std::byte* first;
  std::ptrdiff_t right;
  std::ptrdiff_t down;
};

// Squares keep both pictures in the cache when rows become columns.
constexpr std::int64_t square = 32;

template <std::size_t pixel_size>
void copy_pixels(const Walk& walk, Image& target) {
  const std::int64_t width = target.shape().width;
  const std::int64_t height = target.shape().height;
  for (std::int64_t y0 = 0; y0 < height; y0 += square)
    for (std::int64_t x0 = 0; x0 < width; x0 += square)
      for (std::int64_t y = y0; y < std::min(y0 + square, height); ++y) {
        std::byte* out = row_of(target, y);
        for (std::int64_t x = x0; x < std::min(x0 + square, width); ++x)
          std::memcpy(out + x * static_cast<std::ptrdiff_t>(pixel_size),
                      walk.first + x * walk.right + y * walk.down, pixel_size);
      }
}

}  // namespace

Image upright(Image image, int orientation, const Allocator& allocator) {
  if (orientation <= 1 || orientation > 8) return image;
  const Shape& shape = image.shape();
  const Strides strides = interleaved_strides(shape);
  Shape turned = shape;
  if (orientation >= 5) std::swap(turned.width, turned.height);
  Image result(turned, allocator);

  // 2, 3, 7, 8 count the columns of the source backwards, 3, 4, 6, 7 its rows; from 5 on, rows become
  // columns.
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Walk walk{image.data(), flip_x ? -strides.pixel : strides.pixel, flip_y ? -strides.row : strides.row};
  if (flip_x) walk.first += strides.pixel * (shape.width - 1);
  if (flip_y) walk.first += strides.row * (shape.height - 1);
  if (orientation >= 5) std::swap(walk.right, walk.down);

  switch (strides.pixel) {
    case 1:
      copy_pixels<1>(walk, result);
      break;
    case 2:
      copy_pixels<2>(walk, result);
      break;
    case 3:
      copy_pixels<3>(walk, result);
      break;
    case 4:
      copy_pixels<4>(walk, result);
      break;
    case 6:
      copy_pixels<6>(walk, result);
      break;
    case 8:
      copy_pixels<8>(walk, result);
      break;
    case 12:
      copy_pixels<12>(walk, result);
      break;
    case 16:
      copy_pixels<16>(walk, result);
      break;
    case 24:
      copy_pixels<24>(walk, result);
      break;
    case 32:
      copy_pixels<32>(walk, result);
      break;
    default:
      break;
  }
  return result;
}

}  // namespace satin::io
