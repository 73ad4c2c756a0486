#include "view/pyramid.h"

#include <algorithm>
#include <array>
#include <cmath>
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

constexpr int opaque = 255;

constexpr int over_white(int colour, int alpha) {
  return (colour * alpha + opaque * (opaque - alpha) + opaque / 2) / opaque;
}

/// Rows of an 8-bit picture as opaque RGB. The last two rows are remembered.
class OpaqueRows {
 public:
  explicit OpaqueRows(const ImageView& picture) : picture_(picture) {}

  const std::uint8_t* row(std::int64_t y) {
    const Shape& shape = picture_.shape;
    if (shape.channels == 3) return reinterpret_cast<const std::uint8_t*>(picture_.at(0, y));
    Row& known = rows_[static_cast<std::size_t>(y % 2)];
    if (known.y == y) return known.pixels.data();
    known.y = y;
    known.pixels.resize(static_cast<std::size_t>(3 * shape.width));
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto* pixel = reinterpret_cast<const std::uint8_t*>(picture_.at(x, y));
      const int alpha = shape.alpha == Alpha::none ? opaque : pixel[shape.channels - 1];
      for (int c = 0; c < 3; ++c)
        known.pixels[static_cast<std::size_t>(3 * x + c)] =
            static_cast<std::uint8_t>(over_white(pixel[shape.channels >= 3 ? c : 0], alpha));
    }
    return known.pixels.data();
  }

 private:
  struct Row {
    std::int64_t y = -1;
    std::vector<std::uint8_t> pixels;
  };

  ImageView picture_;
  std::array<Row, 2> rows_;
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
  constexpr std::size_t pixel_bytes = 4;
  std::string bytes(pixel_bytes * columns.size() * rows.size(), '\0');
  const auto is_inside = [](const Position& each) { return each.first >= 0; };
  const auto begin = std::ranges::find_if(columns, is_inside);
  const auto end = std::find_if(columns.rbegin(), columns.rend(), is_inside).base();
  if (begin >= end) return bytes;
  OpaqueRows opaque_rows(level.view());
  std::vector<std::uint16_t> mixed(static_cast<std::size_t>(3 * size.width));  // two rows, weighted
  for (std::size_t y = 0; y < rows.size(); ++y) {
    const Position& row = rows[y];
    if (!is_inside(row)) continue;
    const std::uint8_t* above = opaque_rows.row(row.first);
    const std::uint8_t* below = opaque_rows.row(row.second);
    for (auto i = static_cast<std::size_t>(3 * begin->first);
         i <= static_cast<std::size_t>(3 * (end - 1)->second + 2); ++i)
      mixed[i] = static_cast<std::uint16_t>(above[i] * (one - row.weight) + below[i] * row.weight);
    char* to = &bytes[pixel_bytes * (y * columns.size() + static_cast<std::size_t>(begin - columns.begin()))];
    for (auto column = begin; column < end; ++column, to += pixel_bytes) {
      const std::uint16_t* left = &mixed[static_cast<std::size_t>(3 * column->first)];
      const std::uint16_t* right = &mixed[static_cast<std::size_t>(3 * column->second)];
      for (int c = 0; c < 3; ++c)
        to[c] = static_cast<char>(
            (left[c] * (one - column->weight) + right[c] * column->weight + one * one / 2) / (one * one));
      to[3] = static_cast<char>(opaque);
    }
  }
  return bytes;
}

std::optional<std::vector<int>> colour_at(const Image& level, int number, const Shape& picture, double x,
                                          double y) {
  const std::string pixel = cut(level, number, picture, {x - 0.5, y - 0.5, 1, 1, 1});
  if (pixel.back() == 0) return std::nullopt;
  std::vector<int> colour;
  for (const char value : pixel.substr(0, 3)) colour.push_back(static_cast<std::uint8_t>(value));
  return colour;
}

}  // namespace satin::view
