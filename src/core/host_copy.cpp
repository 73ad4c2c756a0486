#include "core/host_copy.h"

#include <cstring>

namespace satin {

void copy_pixels(const ImageView& from, const MutableImageView& to) {
  const std::size_t size = size_of(from.shape.type);
  const bool rows = from.interleaved() && to.interleaved();
  const auto row_bytes = static_cast<std::size_t>(from.shape.width * from.strides.pixel);
  for (std::int64_t frame = 0; frame < from.shape.frames; ++frame) {
    for (std::int64_t y = 0; y < from.shape.height; ++y) {
      if (rows) {
        std::memcpy(to.at(0, y, 0, frame), from.at(0, y, 0, frame), row_bytes);
        continue;
      }
      for (std::int64_t x = 0; x < from.shape.width; ++x)
        for (int c = 0; c < from.shape.channels; ++c)
          std::memcpy(to.at(x, y, c, frame), from.at(x, y, c, frame), size);
    }
  }
}

}  // namespace satin
