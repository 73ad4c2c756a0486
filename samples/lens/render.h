#pragma once
// What a camera would see of a scene: without a lens, and with one.

#include <cstdint>
#include <vector>

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// All pictures are f32; colours are linear light.
struct Views {
  satin::Image pinhole;    ///< RGB, each pixel the mean over its area
  satin::Image disparity;  ///< at the centres of pixels
  satin::Image truth;      ///< RGB: the mean over pixel and lens, of both samplings
  satin::Image samplings[2];
};

/// What would be seen if the layers before it were not there.
struct HiddenView {
  satin::Image picture;    ///< RGB
  satin::Image disparity;  ///< -1 where there is nothing
};

/// The ray-traced mean over each pixel and the unit aperture, by `samples` rays a pixel; other sequences of
/// samples for other `sequence` numbers.
[[nodiscard]] satin::Image render_lens(const Scene& scene, std::uint32_t samples, std::uint32_t sequence);

/// Two independent samplings of the lens by `samples` rays a pixel each.
[[nodiscard]] Views render_views(const Scene& scene, std::uint32_t samples);
[[nodiscard]] satin::Image mean_of(const satin::Image& a, const satin::Image& b);

/// The second layer behind every pixel, the third, and so on.
[[nodiscard]] std::vector<HiddenView> render_hidden(const Scene& scene, int layers);

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
