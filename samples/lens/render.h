#pragma once
// Pictures of a scene as a camera sees it, without and with a lens.

#include <cstdint>
#include <vector>

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// f32 pictures; colours are linear light.
struct Views {
  satin::Image pinhole;    ///< RGB, mean over each pixel
  satin::Image disparity;  ///< at pixel centres
  satin::Image truth;      ///< RGB, mean over pixel and lens, of both samplings
  satin::Image samplings[2];
};

/// The picture without the layers before a given one.
struct HiddenView {
  satin::Image picture;    ///< RGB
  satin::Image disparity;  ///< -1 where there is no layer
};

/// Renders the ray-traced mean over each pixel and the unit aperture, with `samples` rays per pixel. Each
/// `sequence` gives other sample points.
[[nodiscard]] satin::Image render_lens(const Scene& scene, std::uint32_t samples, std::uint32_t sequence);

/// Renders two independent samplings of the lens with `samples` rays per pixel each.
[[nodiscard]] Views render_views(const Scene& scene, std::uint32_t samples);
[[nodiscard]] satin::Image mean_of(const satin::Image& a, const satin::Image& b);

/// Renders the second layer behind each pixel, the third, and so on.
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
