#pragma once
// What a camera would see of a scene: without a lens, and with one.

#include <cstdint>

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// All pictures are f32; colours are linear light.
struct Views {
  satin::Image pinhole;           ///< RGB, each pixel the mean over its area
  satin::Image disparity;         ///< at the centres of pixels
  satin::Image hidden;            ///< RGB: what would be seen if the visible layer were not there
  satin::Image hidden_disparity;  ///< -1 where nothing is hidden
  satin::Image truth;             ///< RGB: the mean over pixel and lens
};

/// The ray-traced mean over each pixel and the unit aperture, by `samples` rays a pixel; other sequences of
/// samples for other `sequence` numbers.
[[nodiscard]] satin::Image render_lens(const Scene& scene, std::uint32_t samples, std::uint32_t sequence);

[[nodiscard]] Views render_views(const Scene& scene, std::uint32_t samples);

[[nodiscard]] inline Vec3 pixel_of(const satin::Image& image, int x, int y) {
  const float* p = image.view().row<float>(y) + 3 * x;
  return {p[0], p[1], p[2]};
}
inline void set_pixel(satin::Image& image, int x, int y, Vec3 colour) {
  float* p = image.view().row<float>(y) + 3 * x;
  p[0] = static_cast<float>(colour.x);
  p[1] = static_cast<float>(colour.y);
  p[2] = static_cast<float>(colour.z);
}

}  // namespace lens
