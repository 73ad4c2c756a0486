#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& stretch_record();  ///< record of the filter `stretch`

/// Parameters of stretch().
struct PercentileStretch {
  int window = 101;  ///< side of the window in pixels; odd, 1 to 1025, also larger than the picture
  double low = 2;    ///< percentile that becomes black: 0 to 50, below `high`
  double high = 98;  ///< percentile that becomes white: 50 to 100
  Border border = Border::shrink;  ///< any border except constant
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return stretch_record(); }  ///< record of the filter
};

/// Stretches local contrast to (v - l) / (h - l), where l and h are the `low` and `high` percentiles, as in
/// median(), in a window around the pixel. Values up to l become black and values from h on white; where l
/// equals h the pixel does not change.
///
/// The filter works on stored values, each colour separately. Alpha is ignored and returned unchanged, and
/// the colours of fully transparent pixels do not count. Pixels: u8, u16 or f32, which are spread from 0 to
/// 1; 1 to 4 channels. The quotient of integers is rounded to nearest, ties up; that of floats is double. A
/// mask blends the rounded result.
[[nodiscard]] inline Image stretch(const Device& device, const ImageView& image,
                                   const PercentileStretch& parameters = {}) {
  return run_filter(PercentileStretch::record(), device, image, &parameters);
}

}  // namespace satin
