#pragma once
// How close a picture comes to the truth, as a person sees it: values clipped to 1 and encoded by the sRGB
// curve. A border as wide as the largest blur is left out, because the lens sees beyond the picture there;
// two scores tell how much is lost by that.

#include "layers.h"
#include "satin/image.h"

namespace lens {

inline constexpr int border = 28;
inline constexpr int border_band = 12;  ///< width of the band at the border that has a score of its own

struct Scores {
  double psnr = 0;       ///< dB
  double edge_psnr = 0;  ///< PSNR near edges of blur: within 0.8 of the largest radius
  double ssim = 0;       ///< luminance, windows of 11 x 11 (Wang et al. 2004)
  /// Dots, double rims and specks within 6 pixels of silhouettes of objects that are blurred by more than 8
  /// pixels: root mean square of the Laplacian's excess over its largest true value in 3 x 3 pixels, in 8-bit
  /// codes.
  double specks = 0;
  double border_psnr = 0;  ///< PSNR within border_band pixels of the picture's border
  double whole_psnr = 0;   ///< PSNR of the whole picture
};

[[nodiscard]] Scores scores_of(const satin::Image& picture, const satin::Image& truth, const Scene& scene,
                               const satin::Image& disparity);

}  // namespace lens
