#pragma once

#include <optional>

#include "satin/mask_mode.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Shape of the weights of a blur.
enum class Kernel {
  box,      ///< the mean over a square window
  tent,     ///< two successive boxes of half the radius
  gaussian  ///< three successive boxes that reach as far as the radius, or have the variance sigma^2
};

[[nodiscard]] const FilterRecord& blur_record();  ///< record of the filter `blur`

/// Parameters of blur().
struct Blur {
  Radius radius = 8;  ///< half the window, without the centre pixel; quantised to 1/256 pixel
  std::optional<double>
      sigma{};  ///< standard deviation in pixels, instead of the radius; implies a gaussian kernel
  std::optional<Kernel> kernel{};  ///< unset: box, or gaussian if sigma is set
  Border border = Border::shrink;  ///< values that a window reads outside the picture
  double border_value =
      0;  ///< value of Border::constant in every channel, as a fraction of white (floats: the value)
  Space space = Space::linear;  ///< space of the values that are averaged
  double radius_min = 0;        ///< radius where the radius map is 0
  std::optional<double>
      radius_max{};        ///< radius where the radius map is at its type's maximum (floats: at 1)
  ImageView radius_map{};  ///< radius per pixel: one channel, u8, u16 or f32, with the picture's aspect
  ImageView mask{};        ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
  MaskMode mask_mode = MaskMode::blend;  ///< effect of the mask; exclude needs the box kernel

  static const FilterRecord& record() { return blur_record(); }  ///< record of the filter
};

/// Replaces every pixel by the mean over a window around it, at a cost that does not depend on the radius.
///
/// The window is the square of half-width radius + 1/2 around the pixel's centre; pixels are weighted by the
/// area that it covers. Radius 0 is the identity, byte for byte. Radii go up to 16384 pixels, also beyond the
/// picture.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels. 8- and 16-bit values are averaged in linear light (16 and 24
/// bits) unless `space` says encoded; straight alpha weights the colours; fully transparent results keep the
/// input's colour bytes. Encoded integers give the exact mean, rounded to nearest, ties up. Floats are 40-bit
/// fixed point, scaled by the largest value. Between successive boxes integers are rounded the same way, to
/// 16 bits or more (24 bits for linear light of 16 bits, and for values times alpha).
///
/// MaskMode::exclude computes exact means over the pixels of the window whose mask is not 0, weighted by
/// covered area. The values of the other pixels are ignored, even NaN. A border that repeats a pixel repeats
/// its mask too; the pixels of a constant border all count. A pixel with a mask between 0 and the maximum
/// counts fully, and its result is blended.
///
/// A mask also saves time: only tiles near a mask that is not 0 are filtered.
///
/// Crow, Summed-area tables for texture mapping, 1984; Heckbert, Filtering by repeated integration, 1986.
[[nodiscard]] inline Image blur(const Device& device, const ImageView& image, const Blur& parameters = {}) {
  return run_filter(Blur::record(), device, image, &parameters);
}

}  // namespace satin
