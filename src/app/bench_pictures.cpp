#include "app/bench_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace satin::app {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  std::uint32_t bits() { return (state_ = state_ * 1664525U + 1013904223U) >> 8U; }
  /// A random number, evenly in 0..1.
  float part() { return static_cast<float>(bits()) / 0x1p24F; }
  /// A random number, evenly in -1/2..1/2.
  float error() { return part() - 0.5F; }

 private:
  std::uint32_t state_;
};

/// A disc of one colour and one disparity, both with a slope.
struct Leaf {
  std::array<float, 4> colour{};
  float disparity = 0;
  float across = 0;  ///< what colour and depth gain over the width of the picture
  float down = 0;
};

/// Discs that fall on each other, of a number that goes with 1 / radius^3: edges and even areas have every
/// size, as in photographs (Lee, Mumford and Huang, Occlusion models for natural images, 2001).
class DeadLeaves {
 public:
  DeadLeaves(std::int64_t width, std::int64_t height)
      : width_(width), height_(height), top_(static_cast<std::size_t>(width * height)) {
    for (std::uint16_t i = 0; i < count; ++i) fall(i);
  }

  /// use(x, y, channel, value) for these channels of all pixels: a shaded colour with grain, about 0 to 1.
  template <class Use>
  void colours(int channels, const Use& use) const {
    Random grain(2);
    each_pixel([&](std::int64_t x, std::int64_t y, std::uint16_t leaf, float slope) {
      for (int c = 0; c < channels; ++c)
        use(x, y, c, leaves_[leaf].colour[static_cast<std::size_t>(c)] + slope + 0.03F * grain.error());
    });
  }

  /// use(x, y, value) with the disparity of all pixels, about 0 to 1.
  template <class Use>
  void depths(const Use& use) const {
    Random random(3);
    each_pixel([&](std::int64_t x, std::int64_t y, std::uint16_t leaf, float slope) {
      use(x, y, leaves_[leaf].disparity + 0.3F * slope + 0.01F * random.error());
    });
  }

 private:
  static constexpr std::uint16_t count = 5000;  // covers a picture four times

  static std::int64_t within(float at, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0F, static_cast<float>(size)));
  }

  /// Squares of radii whose inverses are even have the density 1 / radius^3. Small leaves are marks on what
  /// they fall on; others are nearer than all before them.
  void fall(std::uint16_t index) {
    const auto side = static_cast<float>(std::min(width_, height_));
    const float rarity = random_.part() * (32.0F * 32 - 1) + 1;
    const float radius = side / 4 / std::sqrt(rarity);
    const float x = random_.part() * static_cast<float>(width_);
    const float y = random_.part() * static_cast<float>(height_);
    Leaf& leaf = leaves_[index];
    const float grey = 0.1F + 0.8F * random_.part();
    for (float& channel : leaf.colour) channel = grey + 0.3F * random_.error();
    leaf.across = 0.6F * random_.error();
    leaf.down = 0.6F * random_.error();
    const Leaf& below =
        leaves_[top_[static_cast<std::size_t>(within(y, height_ - 1) * width_ + within(x, width_ - 1))]];
    leaf.disparity = rarity > 64 ? below.disparity : static_cast<float>(index) / count;
    paint(index, x, y, index == 0 ? 2 * static_cast<float>(width_ + height_) : radius);
  }

  void paint(std::uint16_t index, float x, float y, float radius) {
    for (std::int64_t row = within(y - radius, height_); row < within(y + radius + 1, height_); ++row) {
      const float away = static_cast<float>(row) - y;
      const float half = std::sqrt(std::max(0.0F, radius * radius - away * away));
      std::uint16_t* line = top_.data() + row * width_;
      std::fill(line + within(x - half, width_), line + within(x + half, width_), index);
    }
  }

  template <class Use>
  void each_pixel(const Use& use) const {
    const std::uint16_t* index = top_.data();
    for (std::int64_t y = 0; y < height_; ++y)
      for (std::int64_t x = 0; x < width_; ++x, ++index) {
        const Leaf& leaf = leaves_[*index];
        const float slope = leaf.across * static_cast<float>(x) / static_cast<float>(width_) +
                            leaf.down * static_cast<float>(y) / static_cast<float>(height_);
        use(x, y, *index, slope);
      }
  }

  std::int64_t width_;
  std::int64_t height_;
  Random random_{1};
  std::vector<Leaf> leaves_ = std::vector<Leaf>(count);
  std::vector<std::uint16_t> top_;  ///< the leaf that is seen
};

/// Stores a value of 0..1, scaled to the view's type.
void store(const MutableImageView& view, std::int64_t x, std::int64_t y, int channel, float value) {
  const float held = std::clamp(value, 0.0F, 1.0F);
  if (view.shape.type == Type::f32)
    view.value<float>(x, y, channel) = held;
  else if (view.shape.type == Type::u16)
    view.value<std::uint16_t>(x, y, channel) = static_cast<std::uint16_t>(held * 65535 + 0.5F);
  else
    view.value<std::uint8_t>(x, y, channel) = static_cast<std::uint8_t>(held * 255 + 0.5F);
}

/// White within an ellipse in the middle, with an edge as of a wide soft brush.
void brush(const MutableImageView& view, int channel) {
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x) {
      const float across = static_cast<float>(2 * x + 1) / static_cast<float>(view.shape.width) - 1;
      const float down = static_cast<float>(2 * y + 1) / static_cast<float>(view.shape.height) - 1;
      store(view, x, y, channel, 4 * (0.8F - across * across - down * down));
    }
}

Image photograph(const Shape& shape) {
  Image image(shape);
  const MutableImageView view = image.view();
  const int alpha = shape.alpha == Alpha::none ? 0 : 1;
  DeadLeaves(shape.width, shape.height)
      .colours(shape.channels - alpha, [&](std::int64_t x, std::int64_t y, int channel, float value) {
        store(view, x, y, channel, value);
      });
  if (alpha != 0) brush(view, shape.channels - alpha);
  return image;
}

Image noise(const Shape& shape) {
  Image image(shape);
  Random random(1);
  const std::size_t bytes = byte_size(shape);
  if (shape.type == Type::f32)
    std::generate_n(image.view().row<float>(0), bytes / sizeof(float), [&] { return random.part(); });
  else
    std::generate_n(image.data(), bytes, [&] { return static_cast<std::byte>(random.bits() >> 16U); });
  return image;
}

}  // namespace

Image bench_picture(BenchInput input, const Shape& shape) {
  return input == BenchInput::noise ? noise(shape) : photograph(shape);
}

Image bench_side_input(BenchInput input, Role role, const Shape& picture) {
  const Shape shape{picture.width, picture.height, 1, Type::u8};
  if (input == BenchInput::noise || role == Role::guide) return bench_picture(input, shape);
  Image image(shape);
  const MutableImageView view = image.view();
  if (role == Role::mask)
    brush(view, 0);
  else
    DeadLeaves(shape.width, shape.height).depths([&](std::int64_t x, std::int64_t y, float value) {
      store(view, x, y, 0, value);
    });
  return image;
}

}  // namespace satin::app
