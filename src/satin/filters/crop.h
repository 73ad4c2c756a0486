#pragma once

#include <cstdint>
#include <optional>

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& crop_record();  ///< record of the filter `crop`

/// Parameters of crop(): a box or an aspect.
struct Crop {
  std::optional<PictureBox> box{};  ///< pixels that are kept
  std::optional<Ratio> aspect{};    ///< aspect of the largest box that the picture holds
  /// Place of the box of an aspect. Percent: share of the room beside it that is to its left, or above it;
  /// pixels: its centre, as far as the picture allows.
  Point gravity{{50, true}, {50, true}};

  static const FilterRecord& record() { return crop_record(); }  ///< record of the filter
};

/// Returns the pixels that crop() keeps of a picture of this size. Throws Error(usage) as crop() does.
[[nodiscard]] PixelBox cropped_box(std::int64_t width, std::int64_t height, const Crop& parameters);

/// Cuts a box out of a picture. The result has the pixels of the box, byte for byte.
///
/// Edges of a box in percent of the width and the height are rounded to nearest, ties up: both its left edge
/// X and its right edge X + W, so that boxes that meet in percent meet in pixels. The box of an aspect is as
/// wide or as high as the picture; its other side is rounded to nearest, ties up, and is at least 1.
///
/// Pixels: any type; 1 to 4 channels. Throws Error(usage) unless exactly one of box and aspect is given, and
/// for a gravity beyond 100 % or with a box; SizeError for a box that is not inside the picture or has no
/// pixel.
[[nodiscard]] inline Image crop(const Device& device, const ImageView& image, const Crop& parameters) {
  return run_filter(Crop::record(), device, image, &parameters);
}

}  // namespace satin
