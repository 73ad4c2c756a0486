#pragma once
// Launchers of premultiplied.cu, in the manner of launch.h.

#include "kernels/device/launch.h"
#include "pixels/premultiplied.h"

namespace satin::kernels {

struct PremultipliedArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 4;       ///< or 2
  Type type = Type::u16;  ///< of the values: u16 or u32
  PremultiplyRule rule;
  Source values;  ///< rows begin at multiples of a pixel, like those of premultiplied output
  Source original;
  Source mask;
  Target output;
};

/// `original` to premultiplied `output`.
void premultiply_pixels(const PremultipliedArguments& arguments, StreamHandle stream);
/// `values` to the pixels that are stored.
void unpremultiply_pixels(const PremultipliedArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
