#include "tests/oracles/pictures.h"

#include <cmath>

namespace satin::test {
namespace {

double random_fraction(Random& random) {
  if (random.one_in(8)) return 0;
  if (random.one_in(7)) return 1;
  return static_cast<double>(random.below(1U << 20)) / (1U << 20);
}

double random_float(Random& random, bool alpha, bool coverage) {
  const double fraction = random_fraction(random);
  if (alpha) return fraction;
  if (coverage || random.one_in(2)) return fraction;
  return random.one_in(16) ? fraction * 16 : fraction * 8 - 4;
}

}  // namespace

void set_fraction(const MutableImageView& view, std::int64_t x, std::int64_t y, int channel,
                  double fraction) {
  switch (view.shape.type) {
    case Type::u8:
      view.value<std::uint8_t>(x, y, channel) = static_cast<std::uint8_t>(std::lround(fraction * 0xFF));
      return;
    case Type::u16:
      view.value<std::uint16_t>(x, y, channel) = static_cast<std::uint16_t>(std::lround(fraction * 0xFFFF));
      return;
    default:
      view.value<float>(x, y, channel) = static_cast<float>(fraction);
      return;
  }
}

Image random_picture(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Image image(shape);
  const bool has_alpha = shape.alpha != Alpha::none;
  for (std::int64_t frame = 0; frame < shape.frames; ++frame) {
    const MutableImageView view = image.view().frame(frame);
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        for (int c = 0; c < shape.channels; ++c) {
          const bool alpha = has_alpha && c == shape.channels - 1;
          double value =
              shape.type == Type::f32 ? random_float(random, alpha, has_alpha) : random_fraction(random);
          if (alpha && value < 1.0 / 64) value = 0;
          if (alpha && 3 * x < shape.width) value = 0;
          set_fraction(view, x, y, c, value);
        }
      }
    }
  }
  return image;
}

Image sparse_picture(const Shape& shape, double background, std::uint64_t rarity, std::uint64_t seed) {
  Random random(seed);
  Image image = constant_picture(shape, background);
  for (std::int64_t frame = 0; frame < shape.frames; ++frame)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        if (!random.one_in(rarity)) continue;
        for (int c = 0; c < shape.channels; ++c)
          set_fraction(image.view().frame(frame), x, y, c,
                       static_cast<double>(random.below(1U << 20)) / (1U << 20));
      }
  return image;
}

Image random_map(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed) {
  Random random(seed);
  Image image(Shape{width, height, 1, type});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double value = static_cast<double>(random.below(1U << 20)) / (1U << 20);
      const std::uint64_t kind = random.below(4);
      set_fraction(image.view(), x, y, 0, kind == 0 ? 0 : kind == 1 ? 1 : value);
    }
  return image;
}

Image constant_picture(const Shape& shape, double fraction) {
  Image image(shape);
  for (std::int64_t frame = 0; frame < shape.frames; ++frame)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (int c = 0; c < shape.channels; ++c) set_fraction(image.view().frame(frame), x, y, c, fraction);
  return image;
}

}  // namespace satin::test
