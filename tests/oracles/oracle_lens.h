#pragma once
// Oracle of depth of field: adds every sample to every pixel of its boxes, one by one, and composites the
// groups in long double.

#include <cstdint>
#include <vector>

#include "lens/lamps.h"
#include "lens/splat.h"

namespace satin::test {

/// The samples of a scene, on the host.
struct LensScene {
  SplatJob job;
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> colours;
  std::vector<std::uint32_t> radii;
  std::vector<std::uint8_t> groups;
  std::vector<std::uint16_t> weights;
  std::vector<std::uint8_t> exposed;  ///< may be empty
  std::vector<LensSample> listed;
  std::vector<Lamp> lamps;       ///< shares are not set
  ApertureTable aperture_table;  ///< shape of the lamps

  [[nodiscard]] std::size_t pixels() const { return static_cast<std::size_t>(job.width * job.height); }
};

/// Returns the aperture of a scene as operations read it, with these rows and edges.
Aperture aperture_of(const LensScene& scene, const ApertureRow* rows, const ApertureEdge* edges);

/// Returns the lamps of a scene with their shares.
std::vector<Lamp> lamps_of(const LensScene& scene);

/// Returns a scene without listed samples, whose colours and weights are 0.
LensScene empty_scene(std::int64_t width, std::int64_t height, int channels);

/// Returns the share of a sample's weight that the pixel at this offset gets, times 2^weight_bits.
std::uint64_t weight_at(const LensKernels& kernels, std::uint32_t radius, bool block, std::uint32_t weight,
                        std::int64_t dx, std::int64_t dy);

/// Returns the colours of the picture, interleaved and not rounded.
std::vector<long double> expected_composite(const LensScene& scene);

}  // namespace satin::test
