#pragma once
// The steps of the filter mask by their definitions, pixel by pixel.

#include <cstdint>
#include <string>
#include <vector>

#include "satin/filters/mask.h"

namespace satin::test {

/// Inside or outside for every pixel.
struct PixelSet {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<char> inside{};

  [[nodiscard]] bool has(std::int64_t x, std::int64_t y) const {
    return x >= 0 && x < width && y >= 0 && y < height;
  }
  [[nodiscard]] bool at(std::int64_t x, std::int64_t y) const {
    return inside[static_cast<std::size_t>(y * width + x)] != 0;
  }
};

/// "noise", "sparse", "dense", "blobs", "rings", "empty", "full", "point" or "hole".
PixelSet region_of_kind(const std::string& kind, std::int64_t width, std::int64_t height, std::uint64_t seed);
inline const std::vector<std::string> region_kinds = {"noise", "sparse", "dense", "blobs", "rings",
                                                      "empty", "full",   "point", "hole"};

/// u8, 0 and 255.
Image picture_of(const PixelSet& region);
/// The pixels of a u8 picture with one channel that are not 0.
PixelSet region_of(const ImageView& picture);

/// Returns the smallest squared distance of every pixel to one on the other side, or -1 where there is none.
std::vector<std::int64_t> squared_distances(const PixelSet& region);

/// Applies all steps except level, feather and inversion, in the order of Mask.
PixelSet worked(const PixelSet& region, const Mask& parameters);

/// Returns the unrounded value of a pixel with this squared distance (-1: none) for a feather of this width.
long double feathered(bool inside, std::int64_t squared, long double width, FeatherSide side);

}  // namespace satin::test
