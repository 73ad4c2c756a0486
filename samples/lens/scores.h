#pragma once
// How near a picture comes to the truth, as a person sees it: values clipped to 1 and encoded by the sRGB
// curve. A border as wide as the largest blur, where the lens sees what the picture does not hold, is left
// out.

#include "layers.h"
#include "satin/image.h"

namespace lens {

inline constexpr int border = 28;

struct Scores {
  double psnr = 0;       ///< dB
  double edge_psnr = 0;  ///< the same where blur differs nearby: within 0.8 of the largest radius of an edge
  double ssim = 0;       ///< of the luminance, windows of 11 x 11 (Wang et al. 2004)
  /// Dots, double rims and specks along silhouettes of things that are blurred by more than 8 pixels: root of
  /// the mean square of what the Laplacian is above the largest that the truth has in 3 x 3 pixels, in codes
  /// of 8 bits, within 6 pixels of such a silhouette.
  double specks = 0;
};

[[nodiscard]] Scores scores_of(const satin::Image& picture, const satin::Image& truth, const Scene& scene,
                               const satin::Image& disparity);

}  // namespace lens
