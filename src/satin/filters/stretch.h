#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of stretch().
struct PercentileStretch {
  int window = 101;  ///< side of the window in pixels; odd, 1 to 1025, also larger than the picture
  double low = 2;    ///< the percentile that becomes black: 0 to 50, below `high`
  double high = 98;  ///< the percentile that becomes white: 50 to 100
  Border border = Border::shrink;  ///< all but constant
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
};

/// Local contrast by percentiles: (v - l) / (h - l), where l and h are the `low` and `high` percentiles in a
/// window around the pixel, as median() takes them. What is l or less becomes black, what is h or more white;
/// where l is h the pixel stays.
///
/// Values as stored, every colour by itself; alpha takes no part and comes back as it was, and the colours of
/// fully transparent pixels do not count. Pixels: u8, u16 or f32, which are spread from 0 to 1; 1 to 4
/// channels. The quotient of integers is rounded to nearest, ties up; that of floats is double. A mask blends
/// the rounded result.
///
/// The result has the input's shape, is the same on every device, byte for byte, and does not alias the
/// input. Throws Error(usage) for parameters and shapes that do not fit, Error(input) for NaN or infinity.
[[nodiscard]] Image stretch(const Device& device, const ImageView& image,
                            const PercentileStretch& parameters = {});

/// The prepared form; run() takes the picture and the mask. Of the view only its shape is read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const PercentileStretch& parameters);

/// What `stretch` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& stretch_record();

}  // namespace satin
