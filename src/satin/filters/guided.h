#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& guided_record();  ///< record of the filter `guided`

/// Parameters of guided().
struct Guided {
  Radius radius = 8;  ///< half the window, without the centre pixel, in whole pixels up to 16384
  /// Variance of the guide below which an area counts as flat, where white is 1: 1e-9 to 1e6.
  double eps = 0.01;
  Border border = Border::shrink;  ///< any border except constant
  /// Picture whose edges the result follows, of the picture's size, u8, u16 or f32, 1 to 4 channels. If
  /// empty, the picture guides itself.
  ImageView guide{};
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return guided_record(); }  ///< record of the filter
};

/// The guided filter: smooths where the guide is flat and keeps the guide's edges, at a cost that does not
/// depend on the radius.
///
/// In the window of (2 radius.x + 1) x (2 radius.y + 1) pixels around every pixel k the picture p is fitted
/// by a linear function of the guide I: a_k = (cov(I, I) + eps)^-1 cov(I, p), b_k = mean(p) - a_k mean(I)
/// (equations 5 and 6 of the paper; 14 and 15, with the 3 x 3 covariance, where the guide has colours). The
/// result is q_i = mean(a_k) I_i + mean(b_k) over the windows that cover i (equation 8). Every channel of the
/// picture is fitted by itself to all colours of the guide: its first channel if it has one or two, otherwise
/// its first three; further channels are ignored.
///
/// Picture and guide are used as stored: u8, u16 or f32, 1 to 4 channels. With straight alpha colours count
/// times alpha, in the guide too, and the picture's alpha is filtered as a channel. A constant picture keeps
/// its bytes with any guide; so does any picture with radius 0 (but -0 becomes 0). Values may overshoot next
/// to edges that picture and guide do not share; integers stay in their type.
///
/// Sums over windows of n pixels are exact. Integers keep all their bits, except that 16-bit colours times
/// alpha are cut to 31 bits (46 - log2 n from 2^15 pixels on), and to 16 bits in a guide. Floats are cut to
/// 24 bits below the largest magnitude ((62 - log2 n) / 2 from 2^14 pixels on), with a guide of another type
/// to at most 27. The bits that are cut off are kept unfiltered. Slopes and offsets are solved in double and
/// rounded to fixed point, which moves a result by less than 2^-35 of the picture's range, or 2^-(47 - log2
/// n) if that is more. Floats: slopes are limited to 8192 times the ratio of the largest picture value to the
/// largest guide value; larger slopes would need an eps below (largest guide / 16384)^2.
///
/// Borders apply to both means; shrink uses the pixels that exist. The result is the same on every device,
/// byte for byte. Memory beside the pictures: each CPU thread needs up to 1700 bytes per column, 550 per
/// column of the window, and 16 MB; a GPU needs 192 bytes per pixel for 8-bit colours that guide themselves,
/// and 32 to 400 in other cases.
///
/// He, Sun and Tang, Guided image filtering, ECCV 2010.
[[nodiscard]] inline Image guided(const Device& device, const ImageView& image,
                                  const Guided& parameters = {}) {
  return run_filter(Guided::record(), device, image, &parameters);
}

}  // namespace satin
