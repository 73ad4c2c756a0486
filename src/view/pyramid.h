#pragma once
// A picture and halves of it, halves of those, and so on.

#include <map>
#include <memory>
#include <mutex>

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

}  // namespace satin::view
