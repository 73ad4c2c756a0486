#pragma once

#include <vector>

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

enum class Redaction {
  solid,   ///< one colour: nothing of what it covers is in the result
  mosaic,  ///< the mean of each cell of a grid
  blur     ///< a gaussian blur
};

/// Parameters of redact().
struct Redact {
  Redaction method = Redaction::solid;  ///< how it is covered
  std::vector<PixelBox> boxes{};        ///< what to cover; parts outside the picture are left away
  Colour colour{};                      ///< of solid; grey pictures get its luminance
  int cell = 32;       ///< side of a cell of mosaic in pixels; the grid begins at the upper left pixel
  Radius radius = 32;  ///< of blur: half the window, as Blur::radius
  double feather = 0;  ///< pixels around what is covered over which the picture comes back
  Space space = Space::linear;  ///< of mosaic, blur and feather
  ImageView mask{};             ///< in place of boxes: one channel, u8 or u16; every pixel but 0 is covered
  bool allow_nothing = false;   ///< a mask that is 0 everywhere and boxes outside the picture are no errors
};

/// Covers boxes, or the pixels of a mask, by a colour, a mosaic or a blur.
///
/// What is covered is covered wholly. Around it the weight falls from 1 to 0 evenly over `feather` pixels (an
/// even number of them); all other pixels keep their bytes. `solid` depends on nothing that it covers and
/// makes it opaque; a fourth channel, or a second, that is no alpha becomes white. Mosaic and blur can be
/// reversed in part where the content can be guessed, such as text: use solid for what must stay secret.
/// Cells of a mosaic and windows of a blur take in pixels around the boxes.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels; means in linear light with straight alpha weighting the colours,
/// as blur() does. The result has the input's shape and is the same on every device, byte for byte. Memory: 2
/// bytes a pixel and, for a mosaic, a table (4 or 8 bytes a channel), for a blur what that needs.
///
/// Throws Error(usage) for neither boxes nor mask or for both, an empty box, a mask of another size, and
/// parameters out of range; Error(input) for NaN or infinity. Unless `allow_nothing`, Error(usage) as well
/// for a box outside the picture and a mask, or a frame of one, that is 0 everywhere.
[[nodiscard]] Image redact(const Device& device, const ImageView& image, const Redact& parameters);

/// The prepared form; run() takes the picture and the mask. Of the view only its shape is read. That nothing
/// is covered is told by Plan::check().
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Redact& parameters);

/// What `redact` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& redact_record();

}  // namespace satin
