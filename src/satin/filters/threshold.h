#pragma once

#include <optional>

#include "satin/border.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// How the threshold is computed from mean m and deviation s; see threshold().
enum class Binarisation {
  otsu,     ///< one threshold for the picture: the best split of its histogram
  bradley,  ///< m (1 - k)
  niblack,  ///< m + k s
  sauvola,  ///< m (1 + k (s / R - 1))
  wolf,     ///< m + k (s / s_max - 1) (m - I_min)
  nick,     ///< m + k sqrt(s^2 + m^2)
  fixed     ///< one threshold for the picture: `level`
};

[[nodiscard]] const FilterRecord& threshold_record();  ///< record of the filter `threshold`

/// Parameters of threshold().
struct Threshold {
  Binarisation method = Binarisation::sauvola;  ///< how the threshold is computed
  int window = 31;  ///< side of the window in pixels; odd, also larger than the picture
  std::optional<double>
      k{};  ///< factor k; unset: niblack -0.2, sauvola 0.2, bradley 0.15, wolf 0.5, nick -0.1
  std::optional<double> range{};   ///< R of sauvola; unset: 2^(bits - 1), for floats 0.5
  double level = 0.5;              ///< threshold of fixed, as a fraction of white (floats: the value)
  Border border = Border::shrink;  ///< any border except constant
  bool invert = false;             ///< makes pixels white where the value is not above the threshold

  static const FilterRecord& record() { return threshold_record(); }  ///< record of the filter
};

/// Makes pixels white (255) where the value is above the threshold T, and black (0) elsewhere.
///
/// Stored values are used, for colours the luminance 0.2126 R + 0.7152 G + 0.0722 B, rounded for integers;
/// alpha is ignored. With mean m and standard deviation s over the window around the pixel: niblack T = m + k
/// s; sauvola T = m (1 + k (s / R - 1)); bradley T = m (1 - k); wolf T = m + k (s / s_max - 1) (m - I_min),
/// s_max and I_min over the picture; nick T = m + k sqrt(s^2 + m^2). otsu uses one T for all pixels: the last
/// code of the first class in the split with the largest variance between the classes (the lowest such code).
/// fixed uses T = level.
///
/// u8 and u16: sums are exact, T is computed in double. f32: values are rounded to 30 bits below the largest
/// magnitude, for windows of n pixels to (62 - log2 n) / 2 if that is less; for otsu to 15.
///
/// A flat area equals its mean: niblack keeps it black, and wolf where it is the darkest; sauvola, bradley
/// and nick make it white unless it is 0.
///
/// The result is u8 with one channel, the same bytes on every device. Memory beside the pictures: a plane of
/// 1, 2 or 4 bytes per pixel unless the picture is grey integers; each CPU thread 50 to 70 bytes per column
/// and 16 per column of the window; on a GPU 12 to 16 bytes per pixel more for windows of about 1000 pixels
/// or more. otsu waits for its histogram. Throws Error(usage) for parameters out of range, Error(input) for
/// NaN or infinity.
///
/// Otsu 1979; Bradley and Roth 2007; Niblack 1986; Sauvola and Pietikainen 2000; Wolf and Jolion 2004;
/// Khurshid, Siddiqi, Faure, Vincent 2009.
[[nodiscard]] inline Image threshold(const Device& device, const ImageView& image,
                                     const Threshold& parameters = {}) {
  return run_filter(Threshold::record(), device, image, &parameters);
}

}  // namespace satin
