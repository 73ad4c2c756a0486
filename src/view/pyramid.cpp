#include "view/pyramid.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "satin/error.h"
#include "satin/filters/blur.h"

namespace satin::view {
namespace {

constexpr std::int64_t band = 1024;  ///< rows, even: what is blurred at a time takes little memory
constexpr std::int64_t small_side = 256;
constexpr std::int64_t very_large = std::int64_t{1} << 26;  ///< pixels

ImageView rows_of(const ImageView& picture, std::int64_t top, std::int64_t bottom) {
  ImageView rows = picture;
  rows.data = picture.at(0, top);
  rows.shape.height = bottom - top;
  return rows;
}

/// Every second pixel of every second row, from row `first` on, to rows of `to` from `row` on.
void copy_even(const ImageView& from, std::int64_t first, const MutableImageView& to, std::int64_t row) {
  const auto pixel = static_cast<std::size_t>(to.strides.pixel);
  for (std::int64_t y = first; y < from.shape.height && row < to.shape.height; y += 2, ++row) {
    const std::byte* source = from.at(0, y);
    std::byte* target = to.at(0, row);
    for (std::int64_t x = 0; x < to.shape.width; ++x, source += 2 * pixel, target += pixel)
      for (std::size_t i = 0; i < pixel; ++i) target[i] = source[i];
  }
}

/// A box of radius 1/2 weighs 1/4, 1/2, 1/4.
class Halving {
 public:
  Halving(const Device& device, Space space) : device_(device) {
    parameters_.radius = Radius(0.5);
    parameters_.space = space;
  }

  Image run(const ImageView& picture) {
    Image half(shape_at(picture.shape, 1));
    for (std::int64_t top = 0; top < picture.shape.height; top += band) {
      const std::int64_t first = std::max<std::int64_t>(top - 1, 0);
      const std::int64_t last = std::min(top + band, picture.shape.height);
      const ImageView rows = rows_of(picture, first, std::min(last + 1, picture.shape.height));
      const std::int64_t count = last - top;
      MutableImageView part = half.view();
      part.shape.height = std::min(top / 2 + (count + 1) / 2, half.shape().height);
      copy_even(softened(rows), top - first, part, top / 2);
    }
    return half;
  }

 private:
  /// Pictures with values that no filter takes stay as they are.
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
    if (at + 1 < level && is_very_large(image->shape())) continue;  // nobody has asked for it
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

}  // namespace satin::view
