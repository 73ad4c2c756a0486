#pragma once

#include <cstdint>
#include <optional>

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// How a picture fits the size that resize() is given.
enum class Fit {
  inside,  ///< the whole picture with its aspect, no side longer than given
  cover,   ///< both sides as given; what exceeds their aspect is cut off
  stretch  ///< both sides as given; the aspect changes
};

/// How resize() weighs pixels.
enum class ResizeKernel {
  lanczos,  ///< Lanczos window with three lobes; sharp, with ringing at edges
  area,     ///< each pixel by the area that the new pixel covers of it; no ringing
  nearest   ///< the pixel under the new centre, unchanged; for labels
};

[[nodiscard]] const FilterRecord& resize_record();  ///< record of the filter `resize`

/// Parameters of resize().
struct Resize {
  TargetSize size{};                     ///< required: longer side, percent, or width and height in pixels
  Fit fit = Fit::inside;                 ///< cover and stretch need a width and a height
  bool enlarge = false;                  ///< whether results may be larger than the picture
  std::optional<ResizeKernel> kernel{};  ///< not set: lanczos, but area with space encoded
  Space space = Space::linear;           ///< values that are averaged
  /// Place of the box that `cover` keeps. Percent: shares of the room beside it; pixels: its centre, as far
  /// as the picture allows.
  Point gravity{{50, true}, {50, true}};

  static const FilterRecord& record() { return resize_record(); }  ///< record of the filter
};

/// The pixels that resize() reads, and the size that they become.
struct ResizedBox {
  PixelBox box;             ///< pixels of the picture: all of them, except with Fit::cover
  std::int64_t width = 0;   ///< of the result, in pixels
  std::int64_t height = 0;  ///< of the result, in pixels

  friend bool operator==(const ResizedBox&, const ResizedBox&) = default;
};

/// Returns what resize() makes of a picture of this size. Sides that follow from the aspect are rounded to
/// nearest, ties up, and are at least 1. Throws Error(usage) as resize() does.
[[nodiscard]] ResizedBox resized_box(std::int64_t width, std::int64_t height, const Resize& parameters);

/// Changes the size of a picture.
///
/// `lanczos` is sinc(x) sinc(x / 3) for |x| < 3 (Duchon, Lanczos filtering in one and two dimensions, 1979;
/// Turkowski, Filters for common resampling tasks, 1990), in pixels of the result where the picture shrinks
/// and of the picture where it grows. Weights beyond the edge are left out and the others add up to 1.
/// Weights are integers of 2^-27, sums are double in the order of the pixels, and integers keep 24 bits
/// between rows and columns. Results are clamped to the type; ringing is not limited further. `area` is the
/// exact mean over the area of the new pixel, rounded once. A constant picture keeps its values, and a
/// picture that has the size already its bytes.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels; means of linear light with straight alpha weighting the colours.
/// Fully transparent results have the colours of the nearest pixel. Without `enlarge`, `inside` returns a
/// smaller picture as it is, and `cover` returns a box of the wanted aspect that is not enlarged. `stretch`
/// always gives both sides.
///
/// Throws Error(usage) without a size, for a factor below 1/4096 or above 64 along an axis, for percentages
/// above 100 without `enlarge`, for cover and stretch without both sides, and where sums of `area` would not
/// fit 64 bits; Error(input) for NaN or infinity.
[[nodiscard]] inline Image resize(const Device& device, const ImageView& image, const Resize& parameters) {
  return run_filter(Resize::record(), device, image, &parameters);
}

}  // namespace satin
