#include "view/pyramid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "satin/error.h"
#include "satin/filters/blur.h"

namespace satin::view {
namespace {

constexpr std::int64_t chunk_height = 1024;  ///< rows blurred at a time, an even number
constexpr std::int64_t small_side = 256;
constexpr std::int64_t very_large = std::int64_t{1} << 26;  ///< pixels

ImageView rows_of(const ImageView& picture, std::int64_t top, std::int64_t bottom) {
  ImageView rows = picture;
  rows.data = picture.at(0, top);
  rows.shape.height = bottom - top;
  return rows;
}

/// Copies every second pixel of every second row, from row `first` on, to rows of `to` from `row` on.
void copy_even(const ImageView& from, std::int64_t first, const MutableImageView& to, std::int64_t row) {
  const auto pixel = static_cast<std::size_t>(to.strides.pixel);
  for (std::int64_t y = first; y < from.shape.height && row < to.shape.height; y += 2, ++row) {
    const std::byte* source = from.at(0, y);
    std::byte* target = to.at(0, row);
    for (std::int64_t x = 0; x < to.shape.width; ++x, source += 2 * pixel, target += pixel)
      for (std::size_t i = 0; i < pixel; ++i) target[i] = source[i];
  }
}

/// Halves a picture by a box blur of radius 1/2, whose weights are 1/4, 1/2, 1/4.
class Halving {
 public:
  Halving(const Device& device, Space space) : device_(device) {
    parameters_.radius = Radius(0.5);
    parameters_.space = space;
  }

  Image run(const ImageView& picture) {
    Image half(shape_at(picture.shape, 1));
    for (std::int64_t top = 0; top < picture.shape.height; top += chunk_height) {
      const std::int64_t first = std::max<std::int64_t>(top - 1, 0);
      const std::int64_t last = std::min(top + chunk_height, picture.shape.height);
      const ImageView rows = rows_of(picture, first, std::min(last + 1, picture.shape.height));
      const std::int64_t count = last - top;
      MutableImageView target = half.view();
      target.shape.height = std::min(top / 2 + (count + 1) / 2, half.shape().height);
      copy_even(softened(rows), top - first, target, top / 2);
    }
    return half;
  }

 private:
  /// Blurs rows. Pictures with values that no filter accepts stay unchanged.
  ImageView softened(const ImageView& rows) try {
    if (soft_.empty() || soft_.shape() != rows.shape) {
      plan_.emplace(plan(device_, rows.shape, parameters_));
      soft_ = Image(rows.shape);
    }
    plan_->run(std::span(&rows, 1), soft_.view());
    return soft_;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::environment) throw;
    return rows;
  }

  Device device_;
  Blur parameters_;
  std::optional<Plan> plan_;
  Image soft_;
};

constexpr int fraction_bits = 8;
constexpr int one = 1 << fraction_bits;

/// Position of a row or column of the canvas between two pixels.
struct Position {
  std::int64_t first = -1;  ///< -1 outside of the picture
  std::int64_t second = 0;
  int weight = 0;  ///< weight of the second pixel, of 256
};

using Pixel = std::array<std::uint8_t, 4>;

std::vector<Position> positions(std::int64_t count, double corner, double zoom, std::int64_t size,
                                std::int64_t at_level, int level) {
  std::vector<Position> all(static_cast<std::size_t>(count));
  const bool pixel_by_pixel = level == 0 && zoom >= 1;
  const double scale = std::ldexp(1.0, -level);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double at = corner + (static_cast<double>(i) + 0.5) / zoom;
    if (!(at >= 0 && at < static_cast<double>(size))) continue;
    // The centre of pixel j of a level is that of pixel 2^level * j of the picture.
    const double place = (at - 0.5) * scale;
    const auto largest = static_cast<double>(at_level - 1);
    if (pixel_by_pixel) {
      all[i].first = all[i].second = static_cast<std::int64_t>(at);
    } else {
      const double held = std::clamp(place, 0.0, largest);
      const double below = std::floor(held);
      all[i] = {static_cast<std::int64_t>(below),
                std::min(static_cast<std::int64_t>(below) + 1, at_level - 1),
                static_cast<int>((held - below) * one)};
    }
  }
  return all;
}

constexpr int over_white(int colour, int alpha) {
  constexpr int white = 255;
  return (colour * alpha + white * (white - alpha) + white / 2) / white;
}

/// Pixels of an 8-bit picture as opaque RGB.
class Colours {
 public:
  explicit Colours(const ImageView& picture)
      : picture_(picture),
        has_colour_(picture.shape.channels >= 3),
        has_alpha_(picture.shape.alpha != Alpha::none),
        alpha_(picture.shape.channels - 1) {}

  [[nodiscard]] Pixel at(std::int64_t x, std::int64_t y) const {
    const auto* pixel = reinterpret_cast<const std::uint8_t*>(picture_.at(x, y));
    Pixel result{pixel[0], pixel[has_colour_ ? 1 : 0], pixel[has_colour_ ? 2 : 0], 255};
    if (!has_alpha_) return result;
    for (std::size_t c = 0; c < 3; ++c)
      result[c] = static_cast<std::uint8_t>(over_white(result[c], pixel[alpha_]));
    return result;
  }

  [[nodiscard]] Pixel between(const Position& column, const Position& row) const {
    if (column.weight == 0 && row.weight == 0) return at(column.first, row.first);
    const Pixel corners[] = {at(column.first, row.first), at(column.second, row.first),
                             at(column.first, row.second), at(column.second, row.second)};
    Pixel result{0, 0, 0, 255};
    for (std::size_t c = 0; c < 3; ++c) {
      const int above = corners[0][c] * (one - column.weight) + corners[1][c] * column.weight;
      const int below = corners[2][c] * (one - column.weight) + corners[3][c] * column.weight;
      result[c] = static_cast<std::uint8_t>(
          (above * (one - row.weight) + below * row.weight + one * one / 2) / (one * one));
    }
    return result;
  }

 private:
  ImageView picture_;
  bool has_colour_;
  bool has_alpha_;
  int alpha_;
};

}  // namespace

Pyramid::Pyramid(Device device, std::shared_ptr<const Image> picture, Space space)
    : device_(std::move(device)), space_(space), levels_{{0, std::move(picture)}} {}

std::shared_ptr<const Image> Pyramid::find(int level) const {
  const std::lock_guard lock(mutex_);
  const auto known = levels_.find(level);
  return known != levels_.end() ? known->second : nullptr;
}

std::shared_ptr<const Image> Pyramid::make(int level) {
  std::shared_ptr<const Image> image = find(level);
  int at = level;
  while (image == nullptr) image = find(--at);
  for (Halving halving(device_, space_); at < level; ++at) {
    image = std::make_shared<const Image>(halving.run(*image));
    if (at + 1 < level && is_very_large(image->shape())) continue;  // large and not requested
    const std::lock_guard lock(mutex_);
    levels_.emplace(at + 1, image);
  }
  return image;
}

std::shared_ptr<const Image> Pyramid::make_quickly(int level) {
  const std::shared_ptr<const Image> picture = find(0);
  if (find(level) != nullptr || !is_very_large(picture->shape())) return make(level);
  ImageView some = picture->view();
  some.shape = shape_at(some.shape, level);
  some.strides.pixel <<= level;
  some.strides.row <<= level;
  return std::make_shared<const Image>(copy_of(some));
}

bool is_very_large(const Shape& picture) { return picture.width * picture.height > very_large; }

int last_level(const Shape& picture) {
  int level = 0;
  while (std::max(picture.width, picture.height) >> level > small_side) ++level;
  return level;
}

Shape shape_at(Shape picture, int level) {
  for (; level > 0; --level) {
    picture.width = (picture.width + 1) / 2;
    picture.height = (picture.height + 1) / 2;
  }
  return picture;
}

int level_for(const Viewport& viewport, const Shape& picture) {
  const int last = last_level(picture);
  int level = 0;
  while (level < last && std::ldexp(viewport.zoom, level + 1) <= 1) ++level;
  return level;
}

std::string cut(const Image& level, int number, const Shape& picture, const Viewport& viewport) {
  const Shape& size = level.shape();
  const std::vector<Position> columns =
      positions(viewport.width, viewport.x, viewport.zoom, picture.width, size.width, number);
  const std::vector<Position> rows =
      positions(viewport.height, viewport.y, viewport.zoom, picture.height, size.height, number);
  const Colours colours(level.view());
  std::string bytes(columns.size() * rows.size() * sizeof(Pixel), '\0');
  char* to = bytes.data();
  for (const Position& row : rows)
    for (const Position& column : columns) {
      if (row.first >= 0 && column.first >= 0) {
        const Pixel pixel = colours.between(column, row);
        std::memcpy(to, pixel.data(), sizeof pixel);
      }
      to += sizeof(Pixel);
    }
  return bytes;
}

std::optional<std::vector<int>> colour_at(const Image& level, int number, const Shape& picture, double x,
                                          double y) {
  const Shape& size = level.shape();
  const Position column = positions(1, x - 0.5, 1, picture.width, size.width, number).front();
  const Position row = positions(1, y - 0.5, 1, picture.height, size.height, number).front();
  if (column.first < 0 || row.first < 0) return std::nullopt;
  const Pixel pixel = Colours(level.view()).between(column, row);
  return std::vector<int>{pixel[0], pixel[1], pixel[2]};
}

}  // namespace satin::view
