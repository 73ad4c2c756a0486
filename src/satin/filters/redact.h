#pragma once

#include <vector>

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// How redact() covers pixels.
enum class Redaction {
  solid,   ///< one colour; the result holds nothing of the covered pixels
  mosaic,  ///< the mean of each cell of a grid
  blur     ///< a gaussian blur
};

[[nodiscard]] const FilterRecord& redact_record();  ///< record of the filter `redact`

/// Parameters of redact().
struct Redact {
  Redaction method = Redaction::solid;  ///< how pixels are covered
  std::vector<PixelBox> boxes{};        ///< boxes to cover; parts outside the picture are ignored
  Colour colour{};                      ///< colour of solid; grey pictures get its luminance
  int cell = 32;       ///< side of a mosaic's cell in pixels; the grid begins at the upper left pixel
  Radius radius = 32;  ///< radius of blur: half the window, as Blur::radius
  double feather = 0;  ///< width of the transition around covered pixels, in pixels
  Space space = Space::linear;  ///< space of mosaic, blur and feather
  ImageView mask{};  ///< mask instead of boxes: one channel, u8 or u16; every pixel except 0 is covered
  bool allow_nothing = false;  ///< accepts a mask that is 0 everywhere and boxes outside the picture

  static const FilterRecord& record() { return redact_record(); }  ///< record of the filter
};

/// Covers boxes, or the pixels of a mask, by a colour, a mosaic or a blur.
///
/// Covered pixels are covered fully. Around them the weight falls from 1 to 0 evenly over `feather` pixels
/// (an even number of them); all other pixels keep their bytes. `solid` does not depend on the covered pixels
/// and makes them opaque; a second or fourth channel that is not alpha becomes white. Mosaic and blur can be
/// reversed in part if the content can be guessed, such as text, so use solid for secrets. Cells of a mosaic
/// and windows of a blur include pixels around the boxes.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels; means in linear light with straight alpha weighting the colours,
/// as blur() does. Memory: 2 bytes per pixel, and for a mosaic a table (4 or 8 bytes per pixel and channel),
/// for a blur the memory of blur().
///
/// Throws Error(usage) unless exactly one of boxes and mask is given, and for an empty box, a mask of another
/// size, and parameters out of range; Error(input) for NaN or infinity. Unless `allow_nothing`, Error(usage)
/// as well for a box outside the picture and a mask, or a frame of one, that is 0 everywhere; after a plan's
/// run, Plan::check() throws it.
[[nodiscard]] inline Image redact(const Device& device, const ImageView& image, const Redact& parameters) {
  return run_filter(Redact::record(), device, image, &parameters);
}

}  // namespace satin
