#pragma once
// Smaller copies of a picture, and the part of them that the page shows.

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

/// Level k has a pixel for every 2^k along both axes: pixel j of a level is centred on pixel 2 j of the one
/// before it, whose neighbours count half. Several threads may look, one at a time may make levels.
class Pyramid {
 public:
  /// Makes levels in `space`: linear light, or the values as stored.
  Pyramid(Device device, std::shared_ptr<const Image> picture, Space space);

  /// The level, or null if it was not made.
  [[nodiscard]] std::shared_ptr<const Image> find(int level) const;
  /// Makes the level. Small levels before it are kept, too.
  std::shared_ptr<const Image> make(int level);
  /// The level, or what may stand for it in a preview of a very large picture: every 2^level-th pixel.
  std::shared_ptr<const Image> make_quickly(int level);

 private:
  Device device_;
  Space space_;
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<const Image>> levels_;
};

/// True where making a level takes longer than somebody likes to wait for a preview.
[[nodiscard]] bool is_very_large(const Shape& picture);

/// A level below which no picture is smaller than a screen.
[[nodiscard]] int last_level(const Shape& picture);

/// The size of a picture at this level.
[[nodiscard]] Shape shape_at(Shape picture, int level);

struct Viewport {
  double x = 0;  ///< of the canvas's corner, in pixels of the picture
  double y = 0;
  double zoom = 1;         ///< canvas pixels a picture pixel
  std::int64_t width = 0;  ///< of the canvas
  std::int64_t height = 0;
};

constexpr std::int64_t largest_viewport = 8192;

/// The level of the picture that has a pixel for every canvas pixel at least.
[[nodiscard]] int level_for(const Viewport& viewport, const Shape& picture);

/// RGBA. `level` is the picture's level of this number, 8 bits with straight alpha, which is composited on
/// white; outside the picture alpha is 0. Level 0 at a zoom of 1 or more is shown pixel by pixel, others are
/// interpolated.
[[nodiscard]] std::string cut(const Image& level, int number, const Shape& picture, const Viewport& viewport);

/// Red, green and blue of the pixel of this level at a place in the picture; nothing outside.
[[nodiscard]] std::optional<std::vector<int>> colour_at(const Image& level, int number, const Shape& picture,
                                                        double x, double y);

}  // namespace satin::view
