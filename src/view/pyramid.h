#pragma once
// Smaller copies of a picture, and the portion of a picture that the page shows.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/image.h"
#include "satin/param.h"

namespace satin::view {

/// A picture and its levels. Level k has one pixel for every 2^k pixels along both axes: pixel j of a level
/// is centred on pixel 2 j of the level before, whose neighbours have half its weight. Several threads may
/// call find(); one thread may make levels.
class Pyramid {
 public:
  /// Makes levels in `space`: in linear light, or of the values as stored.
  Pyramid(Device device, std::shared_ptr<const Image> picture, Space space);

  /// Returns the level, or null if it has not been made.
  [[nodiscard]] std::shared_ptr<const Image> find(int level) const;
  /// Makes the level, and keeps the small levels on the way.
  std::shared_ptr<const Image> make(int level);
  /// Returns the level, or, for a preview of a very large picture, every 2^level-th pixel.
  std::shared_ptr<const Image> make_quickly(int level);

 private:
  Device device_;
  Space space_;
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<const Image>> levels_;
};

/// Whether making a level takes too long for a preview.
[[nodiscard]] bool is_very_large(const Shape& picture);

/// Returns the last level, which is no larger than a screen.
[[nodiscard]] int last_level(const Shape& picture);

/// Returns the shape of a picture at a level.
[[nodiscard]] Shape shape_at(Shape picture, int level);

/// The canvas of the page and its position on the picture.
struct Viewport {
  double x = 0;  ///< upper left corner of the canvas, in pixels of the picture
  double y = 0;
  double zoom = 1;         ///< canvas pixels per picture pixel
  std::int64_t width = 0;  ///< canvas size in pixels
  std::int64_t height = 0;
};

constexpr std::int64_t largest_viewport = 8192;

/// Returns the smallest level that has at least one pixel for every canvas pixel.
[[nodiscard]] int level_for(const Viewport& viewport, const Shape& picture);

/// Returns the pixels of a viewport as RGBA. `level` is level `number` of the picture, in 8 bits with
/// straight alpha, and is composited on white. Outside the picture alpha is 0. Level 0 at a zoom of 1 or more
/// is shown pixel by pixel, others are interpolated.
[[nodiscard]] std::string cut(const Image& level, int number, const Shape& picture, const Viewport& viewport);

/// Returns red, green and blue of a level at a position in the picture, or nothing outside.
[[nodiscard]] std::optional<std::vector<int>> colour_at(const Image& level, int number, const Shape& picture,
                                                        double x, double y);

}  // namespace satin::view
