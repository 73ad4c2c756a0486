#pragma once

#include <optional>

#include "satin/mask_mode.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

enum class Kernel {
  box,      ///< the mean over a square window
  tent,     ///< two successive boxes of half the radius
  gaussian  ///< three successive boxes that reach as far as the radius, or have the variance sigma^2
};

/// Parameters of blur().
struct Blur {
  Radius radius = 8;  ///< half the window, without the pixel itself; quantised to 1/256 pixel
  std::optional<double>
      sigma{};  ///< standard deviation in pixels, instead of the radius; means a gaussian kernel
  std::optional<Kernel> kernel{};  ///< box unless sigma is given
  Border border = Border::shrink;  ///< what a window sees outside the picture
  double border_value = 0;         ///< of Border::constant: every channel, 0 to 1 of white (floats: as it is)
  Space space = Space::linear;     ///< of the values that are averaged
  double radius_min = 0;           ///< radius where the radius map is 0
  std::optional<double>
      radius_max{};        ///< radius where the radius map is at its type's maximum (floats: at 1)
  ImageView radius_map{};  ///< radius per pixel: one channel, u8, u16 or f32, of the picture's size
  ImageView mask{};        ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
  MaskMode mask_mode = MaskMode::blend;  ///< exclude: with the box kernel alone
};

/// Mean over a window around every pixel, at a cost that does not depend on the radius.
///
/// The window is the square of half-width radius + 1/2 around the pixel's centre; a pixel that it covers
/// partly counts by its covered area. Radius 0 is the identity, byte for byte. Radii go up to 16384 pixels,
/// also beyond the picture.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels. 8- and 16-bit values are averaged in linear light (16 and 24
/// bits) unless `space` says encoded; straight alpha weights the colours; fully transparent results keep the
/// input's colour bytes. Encoded integers give the exact mean, rounded to nearest, ties up. Floats are 40-bit
/// fixed point, scaled by the largest value. Between successive boxes integers are rounded likewise, to 16
/// bits or more (24 of linear light of 16 bits, or times alpha). The result has the input's shape and is the
/// same on every device, byte for byte.
///
/// MaskMode::exclude takes exact means over those pixels of the window whose mask is not 0, by their covered
/// area. What the other pixels hold, NaN too, is not looked at. Where a border repeats a pixel of the
/// picture, it repeats its mask; the pixels of a constant border all count. A mask value between 0 and the
/// maximum counts its pixel wholly, and blends its result.
///
/// A mask also spares time: only what lies around tiles in which it is not 0 is filtered.
///
/// The output lies where the input lies and does not alias it. Throws Error(usage) for parameters and shapes
/// that do not fit, Error(input) for NaN or infinity in the picture or the map.
///
/// Crow, Summed-area tables for texture mapping, 1984; Heckbert, Filtering by repeated integration, 1986.
[[nodiscard]] Image blur(const Device& device, const ImageView& image, const Blur& parameters = {});

/// The prepared form; run() takes the picture, the radius map and the mask. Of views only shapes are read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Blur& parameters);

/// What `blur` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& blur_record();

}  // namespace satin
