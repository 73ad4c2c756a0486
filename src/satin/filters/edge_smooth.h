#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& edge_smooth_record();  ///< record of the filter `edge-smooth`

/// Parameters of edge_smooth().
struct EdgeSmooth {
  double sigma_s = 30;  ///< standard deviation in pixels where the guide is flat, 0 to 4096
  /// Difference between neighbours that counts as an edge, in stored (encoded) values where 1 is white: 0.001
  /// to 1000, because floats may be brighter than white.
  double sigma_r = 0.2;
  int iterations = 3;  ///< passes along both axes, 1 to 10; more passes leave fewer streaks
  Space space =
      Space::linear;  ///< space of the values that are averaged; edges always come from the stored values
  /// Picture whose edges are used instead, of the picture's size, u8, u16 or f32, 1 to 4 channels.
  ImageView guide{};
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return edge_smooth_record(); }  ///< record of the filter
};

/// Smooths without crossing edges, by the recursive domain transform. The cost depends only on the
/// iterations.
///
/// Neighbours have the distance d = 1 + sigma_s / sigma_r * (sum over the channels of the differences of the
/// guide), equation 11 of the paper; with straight alpha, colours count times alpha, and alpha is a channel.
/// Iteration i of N runs y[n] += a^d (y[n-1] - y[n]) forward and backward along rows, then columns, equation
/// 21, with a = exp(-sqrt(2) / sigma_i) and sigma_i = sigma_s sqrt(3) 2^(N-i) / sqrt(4^N - 1), equation 14.
/// The paper starts the backward scan with the forward result; here the edge pixels continue beyond the
/// picture as in smooth(). With sigma_s 0, and for a constant picture with any guide, the bytes stay.
///
/// Pixels, working values, alpha, mask, aliasing and equality of devices: as smooth(); powers of a have a
/// relative error below 2^-21 (8 bits) or 2^-32.
///
/// Gastal and Oliveira, Domain transform for edge-aware image and video processing, 2011.
[[nodiscard]] inline Image edge_smooth(const Device& device, const ImageView& image,
                                       const EdgeSmooth& parameters = {}) {
  return run_filter(EdgeSmooth::record(), device, image, &parameters);
}

}  // namespace satin
