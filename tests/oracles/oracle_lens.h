#pragma once
// Depth of field's engine the plain way: every sample gives its weight to every pixel of its boxes, one by
// one, and the groups are composited in long double.

#include <cstdint>
#include <vector>

#include "lens/aperture_table.h"
#include "lens/lens_kernels.h"
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
  std::vector<LensSample> listed;
  std::vector<Lamp> lamps;       ///< without their shares
  ApertureTable aperture_table;  ///< draws the lamps

  [[nodiscard]] std::size_t pixels() const { return static_cast<std::size_t>(job.width * job.height); }
};

/// The table of a scene as operations take it, in the memory of these rows and edges.
Aperture aperture_of(const LensScene& scene, const ApertureRow* rows, const ApertureEdge* edges);

/// The lamps of a scene with their shares.
std::vector<Lamp> lamps_of(const LensScene& scene);

/// A scene without samples and without list: colours 0, weights 0.
LensScene empty_scene(std::int64_t width, std::int64_t height, int channels);

/// Part of a sample's weight that a pixel at this offset of the sample gets, times 2^weight_bits.
std::uint64_t weight_at(const LensKernels& kernels, std::uint32_t radius, bool highlight, bool block,
                        std::uint32_t weight, std::int64_t dx, std::int64_t dy);

/// Colours, unrounded, `channels` a pixel.
std::vector<long double> expected_composite(const LensScene& scene);

}  // namespace satin::test
