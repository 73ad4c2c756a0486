#pragma once
// Mean and standard deviation in a window around every pixel.

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& local_mean_record();  ///< record of the filter `local-mean`

/// Parameters of local_mean().
struct LocalMean {
  int window = 31;  ///< side of the window in pixels; odd, 1 to 32767, also larger than the picture
  Border border = Border::shrink;  ///< any border except constant
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return local_mean_record(); }  ///< record of the filter
};

[[nodiscard]] const FilterRecord& local_deviation_record();  ///< record of the filter `local-deviation`

/// Parameters of local_deviation(), with the meaning of LocalMean.
struct LocalDeviation {
  int window = 31;                 ///< as LocalMean::window
  Border border = Border::shrink;  ///< any border except constant
  ImageView mask{};                ///< as LocalMean::mask

  static const FilterRecord& record() { return local_deviation_record(); }  ///< record of the filter
};

/// Computes the mean m of the window x window pixels around every pixel, at a cost that hardly grows with the
/// window.
///
/// The filter works on data: stored values, each channel separately, without weighting by alpha, which is
/// returned unchanged. (For pictures to look at use blur(), which averages light.) Pixels: u8, u16 or f32; 1
/// to 4 channels. 8- and 16-bit results are exact, rounded to nearest, ties up; floats are summed in fixed
/// point of 40 bits below the largest magnitude, and fewer bits for very large windows.
///
/// A mask blends the result into the picture. Window 1 keeps the bytes.
///
/// Crow, Summed-area tables for texture mapping, 1984.
[[nodiscard]] inline Image local_mean(const Device& device, const ImageView& image,
                                      const LocalMean& parameters = {}) {
  return run_filter(LocalMean::record(), device, image, &parameters);
}

/// Computes the standard deviation s = sqrt(mean of (v - m)^2) over the same window; it is 0 where all pixels
/// are equal. For n pixels with sum S and sum of squares Q it is sqrt(n Q - S^2) / n, where n Q - S^2 is an
/// exact integer: nothing cancels. Floats are cut to 30 bits below the largest magnitude, for windows of n
/// pixels to (62 - log2 n) / 2 if that is less. The result is at most half the range of the values and
/// rounded as the mean. Everything else is as for local_mean(), except that window 1 gives 0.
[[nodiscard]] inline Image local_deviation(const Device& device, const ImageView& image,
                                           const LocalDeviation& parameters = {}) {
  return run_filter(LocalDeviation::record(), device, image, &parameters);
}

}  // namespace satin
