#pragma once
// Mean and standard deviation of the values around every pixel.

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of local_mean().
struct LocalMean {
  int window = 31;  ///< side of the window in pixels; odd, 1 to 32767, also larger than the picture
  Border border = Border::shrink;  ///< all but constant
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
};

/// Parameters of local_deviation(): as those of local_mean().
struct LocalDeviation {
  int window = 31;                 ///< as LocalMean::window
  Border border = Border::shrink;  ///< all but constant
  ImageView mask{};                ///< as LocalMean::mask
};

/// The mean m of the window x window pixels around every pixel, at a cost that hardly grows with the window.
///
/// A filter of data: values as stored, every channel by itself, not weighted by alpha, which comes back as it
/// was. (For pictures to look at: blur(), which averages light.) Pixels: u8, u16 or f32; 1 to 4 channels. 8-
/// and 16-bit results are exact, rounded to nearest, ties up; floats are summed in 40-bit fixed point below
/// the largest magnitude, for very large windows in less.
///
/// A mask blends the result into the picture. Window 1 keeps the bytes. The result has the input's shape, is
/// the same on every device, byte for byte, and does not alias the input. Throws Error(usage) for parameters
/// and shapes that do not fit, Error(input) for NaN or infinity.
///
/// Crow, Summed-area tables for texture mapping, 1984.
[[nodiscard]] Image local_mean(const Device& device, const ImageView& image,
                               const LocalMean& parameters = {});

/// The standard deviation s = sqrt(mean of (v - m)^2) over the same window: 0 where all pixels are equal. Of
/// n pixels with sum S and sum of squares Q it is sqrt(n Q - S^2) / n, where n Q - S^2 is an exact integer:
/// nothing cancels. Floats are cut to 30 bits below the largest magnitude, for windows of n pixels to (62 -
/// log2 n) / 2 if that is less. The result is at most half of the range of the values, and rounded as the
/// mean's. Everything else as local_mean(), but that window 1 gives 0.
[[nodiscard]] Image local_deviation(const Device& device, const ImageView& image,
                                    const LocalDeviation& parameters = {});

/// The prepared forms; run() takes the picture and the mask. Of views only shapes are read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const LocalMean& parameters);
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const LocalDeviation& parameters);

/// What `local-deviation` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& local_deviation_record();
/// What `local-mean` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& local_mean_record();

}  // namespace satin
