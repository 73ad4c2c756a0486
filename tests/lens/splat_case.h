#pragma once
// Scenes for the splat, and how a device runs it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lens/splat.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/oracle_lens.h"
#include "tests/oracles/pictures.h"

namespace satin::test {

/// Runs the operation twice and checks that both results are equal. The list's count is `more` above its
/// capacity.
std::vector<std::uint32_t> run_scene(const LensScene& scene, const Device& device = device_under_test(),
                                     std::uint32_t more = 0);

std::uint32_t random_colour(const SplatJob& job, Random& random);

/// Patches of one radius and group, with single pixels among them, and an unordered list.
LensScene random_scene(SplatJob job, std::size_t listed, std::uint64_t seed);

/// Gives the samples from a radius of 8 pixels on the shape of a polygon that is turned.
void shape_as_polygon(SplatJob& job, int blades, double degrees);

SplatJob job_of(std::int64_t width, std::int64_t height, int channels, int groups, double radius);

}  // namespace satin::test
