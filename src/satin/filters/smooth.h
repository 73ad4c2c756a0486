#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& smooth_record();  ///< record of the filter `smooth`

/// Parameters of smooth().
struct Smooth {
  Radius sigma = 8;  ///< standard deviation of the kernel, 0 to 4096 pixels: one, or one along each axis
  Space space = Space::linear;  ///< space of the values that are averaged
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return smooth_record(); }  ///< record of the filter
};

/// Smooths exponentially in both directions, at a cost that does not depend on sigma: y[i] += (1 - alpha)
/// (y[i-1] - y[i]) forward, then backward, along rows, then along columns.
///
/// The kernel along an axis is alpha / (2 - alpha) (1 - alpha)^|n|; its variance is sigma^2 with alpha = 2 /
/// (1 + sqrt(1 + 2 sigma^2)). It has longer tails than a gaussian, and a point becomes a star with four arms.
/// The edge pixels continue beyond the picture without end, for both directions of the scan, so that a
/// flipped picture gives the flipped result up to rounding. With sigma 0, and for a constant picture, the
/// bytes do not change.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels. 8- and 16-bit values are averaged in linear light (16 and 24
/// bits) unless `space` says encoded; straight alpha weights the colours; fully transparent results keep the
/// input's colour bytes. Working values are IEEE single for 8 bits and IEEE double otherwise, rounded to
/// nearest once, at the end.
///
/// Deriche, Recursively implementing the Gaussian and its derivatives, 1993 (the first-order case); Blelloch,
/// Prefix sums and their applications, 1990 (recurrences as scans).
[[nodiscard]] inline Image smooth(const Device& device, const ImageView& image,
                                  const Smooth& parameters = {}) {
  return run_filter(Smooth::record(), device, image, &parameters);
}

}  // namespace satin
