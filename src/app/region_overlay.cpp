#include "app/region_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

namespace satin::app {
namespace {

using Colour = std::array<std::uint8_t, 3>;

constexpr std::int64_t readable_side = 600;
constexpr double pixels_per_unit = 1000;  ///< of the longer side

constexpr Colour dark = {16, 16, 16};
constexpr std::array<Colour, 6> bright = {
    {{255, 225, 0}, {0, 220, 255}, {120, 255, 60}, {255, 150, 30}, {255, 130, 205}, {190, 165, 255}}};

constexpr std::int64_t digit_width = 5;
constexpr std::int64_t digit_height = 7;
constexpr std::array<std::string_view, 10> digits = {
    " ### "
    "#   #"
    "#  ##"
    "# # #"
    "##  #"
    "#   #"
    " ### ",
    "  #  "
    " ##  "
    "  #  "
    "  #  "
    "  #  "
    "  #  "
    " ### ",
    " ### "
    "#   #"
    "    #"
    "   # "
    "  #  "
    " #   "
    "#####",
    " ### "
    "#   #"
    "    #"
    "  ## "
    "    #"
    "#   #"
    " ### ",
    "   # "
    "  ## "
    " # # "
    "#  # "
    "#####"
    "   # "
    "   # ",
    "#####"
    "#    "
    "#### "
    "    #"
    "    #"
    "#   #"
    " ### ",
    " ### "
    "#    "
    "#    "
    "#### "
    "#   #"
    "#   #"
    " ### ",
    "#####"
    "    #"
    "   # "
    "   # "
    "  #  "
    "  #  "
    "  #  ",
    " ### "
    "#   #"
    "#   #"
    " ### "
    "#   #"
    "#   #"
    " ### ",
    " ### "
    "#   #"
    "#   #"
    " ####"
    "    #"
    "    #"
    " ### "};

/// Columns [left, right) and rows [top, bottom).
struct Rectangle {
  std::int64_t left;
  std::int64_t top;
  std::int64_t right;
  std::int64_t bottom;

  [[nodiscard]] Rectangle grown(std::int64_t by) const {
    return {left - by, top - by, right + by, bottom + by};
  }
  [[nodiscard]] Rectangle within(const Shape& shape) const {
    return {std::clamp<std::int64_t>(left, 0, shape.width), std::clamp<std::int64_t>(top, 0, shape.height),
            std::clamp<std::int64_t>(right, 0, shape.width),
            std::clamp<std::int64_t>(bottom, 0, shape.height)};
  }
};

/// The curve of sRGB: linear light from 0 to 1 as 8 bits.
std::uint8_t encoded(float light) {
  const double value = std::isnan(light) ? 0 : std::clamp<double>(light, 0, 1);
  const double code = value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * code));
}

std::uint8_t eight_bits(const ImageView& view, std::int64_t x, std::int64_t y, int channel) {
  switch (view.shape.type) {
    case Type::u8:
      return view.value<std::uint8_t>(x, y, channel);
    case Type::u16:
      return static_cast<std::uint8_t>((view.value<std::uint16_t>(x, y, channel) + 128) / 257);
    default:
      return encoded(view.value<float>(x, y, channel));
  }
}

Image magnified(const ImageView& picture, std::int64_t factor) {
  const Shape& from = picture.shape;
  Image result({from.width * factor, from.height * factor, 3});
  const MutableImageView to = result.view();
  const auto row_bytes = static_cast<std::size_t>(to.strides.row);
  for (std::int64_t y = 0; y < from.height; ++y) {
    auto* pixel = to.row<std::uint8_t>(y * factor);
    for (std::int64_t x = 0; x < from.width; ++x) {
      Colour colour{};
      for (int c = 0; c < 3; ++c)
        colour[static_cast<std::size_t>(c)] = eight_bits(picture, x, y, from.channels >= 3 ? c : 0);
      for (std::int64_t i = 0; i < factor; ++i) pixel = std::copy(colour.begin(), colour.end(), pixel);
    }
    for (std::int64_t i = 1; i < factor; ++i)
      std::memcpy(to.at(0, y * factor + i), to.at(0, y * factor), row_bytes);
  }
  return result;
}

class Canvas {
 public:
  explicit Canvas(Image& image)
      : view_(image.view()),
        unit_(std::max<std::int64_t>(
            1, std::llround(static_cast<double>(std::max(image.shape().width, image.shape().height)) /
                            pixels_per_unit))) {}

  /// A bright line around the box, and a dark one around that; both inside the picture.
  void outline(const Rectangle& box, const Colour& colour) {
    ring(box.grown(2 * unit_).within(view_.shape), 2 * unit_, dark);
    ring(box.grown(unit_).within(view_.shape), unit_, colour);
  }

  /// The number above the box, or in its upper corner, or wherever it fits.
  void number(const Rectangle& box, std::uint32_t label, const Colour& colour) {
    const std::string text = std::to_string(label);
    const auto dots = static_cast<std::int64_t>(text.size()) * (digit_width + 1) + 1;
    const bool roomy = 3 * dots * unit_ <= box.right - box.left;  // many small boxes lie close together
    const std::int64_t dot = roomy ? 2 * unit_ : unit_;
    const std::int64_t width = dots * dot;
    const std::int64_t height = (digit_height + 2) * dot;
    std::int64_t left = box.left - unit_;
    std::int64_t top = box.top - unit_ - height;
    if (top < unit_) top = 2 * height < box.bottom - box.top ? box.top : box.bottom + unit_;
    left = std::clamp<std::int64_t>(left, 0, std::max<std::int64_t>(0, view_.shape.width - width));
    top = std::clamp<std::int64_t>(top, 0, std::max<std::int64_t>(0, view_.shape.height - height));
    const Rectangle plate{left, top, left + width, top + height};
    fill(plate.grown(unit_), dark);
    fill(plate, colour);
    for (std::size_t i = 0; i < text.size(); ++i)
      digit(left + (static_cast<std::int64_t>(i) * (digit_width + 1) + 1) * dot, top + dot, text[i], dot);
  }

 private:
  void fill(const Rectangle& wanted, const Colour& colour) {
    const Rectangle area = wanted.within(view_.shape);
    for (std::int64_t y = area.top; y < area.bottom; ++y) {
      auto* pixel = &view_.value<std::uint8_t>(area.left, y);
      for (std::int64_t x = area.left; x < area.right; ++x)
        pixel = std::copy(colour.begin(), colour.end(), pixel);
    }
  }

  void ring(const Rectangle& outer, std::int64_t thickness, const Colour& colour) {
    const std::int64_t across = std::min(thickness, outer.right - outer.left);
    const std::int64_t down = std::min(thickness, outer.bottom - outer.top);
    fill({outer.left, outer.top, outer.right, outer.top + down}, colour);
    fill({outer.left, outer.bottom - down, outer.right, outer.bottom}, colour);
    fill({outer.left, outer.top, outer.left + across, outer.bottom}, colour);
    fill({outer.right - across, outer.top, outer.right, outer.bottom}, colour);
  }

  void digit(std::int64_t left, std::int64_t top, char character, std::int64_t dot) {
    const std::string_view dots = digits[static_cast<std::size_t>(character - '0')];
    for (std::int64_t y = 0; y < digit_height; ++y)
      for (std::int64_t x = 0; x < digit_width; ++x)
        if (dots[static_cast<std::size_t>(y * digit_width + x)] == '#')
          fill({left + x * dot, top + y * dot, left + (x + 1) * dot, top + (y + 1) * dot}, dark);
  }

  MutableImageView view_;
  std::int64_t unit_;
};

}  // namespace

Image region_overlay(const ImageView& picture, std::span<const Region> regions) {
  const std::int64_t longer = std::max(picture.shape.width, picture.shape.height);
  const std::int64_t factor = (readable_side + longer - 1) / longer;
  Image result = magnified(picture, factor);
  Canvas canvas(result);
  const auto box_of = [&](const Region& region) {
    return Rectangle{region.x * factor, region.y * factor, (region.x + region.width) * factor,
                     (region.y + region.height) * factor};
  };
  const auto colour_of = [](const Region& region) { return bright[region.label % bright.size()]; };
  for (const Region& region : regions) canvas.outline(box_of(region), colour_of(region));
  for (const Region& region : regions) canvas.number(box_of(region), region.label, colour_of(region));
  return result;
}

}  // namespace satin::app
