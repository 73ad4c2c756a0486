#pragma once
// Results of the steps before the splat, on any device.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lens/layers.h"
#include "satin/image.h"

namespace satin {
class Device;
}

namespace satin::test {

/// Results of the steps before the splat, in host memory.
struct Layers {
  int width = 0;
  int height = 0;
  int channels = 0;
  LensUnit unit;
  DepthGroups groups;
  std::uint32_t capacity = 0;
  std::vector<std::int32_t> radii;
  std::vector<std::uint32_t> colours;
  std::vector<std::uint32_t> magnitudes;
  std::vector<std::uint8_t> edges;
  std::vector<std::uint8_t> group_of;
  std::vector<std::uint8_t> exposed;
  std::vector<LensSample> hidden;    ///< sorted by place and group
  std::vector<LensSample> separate;  ///< samples of silhouettes, sorted by place and group

  [[nodiscard]] std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
  [[nodiscard]] bool holds(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

/// Order of the lists.
[[nodiscard]] bool before(const LensSample& a, const LensSample& b);

/// `pairs`: offset pairs of the non-local fill; 0 leaves it out. `soft`: treats the depth as soft.
/// `merged_radius`: LensLayersJob::merged_radius.
[[nodiscard]] Layers layers_of(const Device& device, const Image& picture,
                               const std::vector<std::int32_t>& radii, int most_groups,
                               int pairs = most_offset_pairs, bool soft = false, float merged_radius = 2);

/// Discs at random depths over a slope.
[[nodiscard]] std::vector<std::int32_t> random_radii(int width, int height, std::uint64_t seed);

}  // namespace satin::test
