#pragma once
// Which bands of a latitude-longitude map stand for a reflection lobe around each of its directions.

#include <cstdint>
#include <span>
#include <vector>

#include "core/operations/lobe_mean.h"

namespace satin {

/// Weights in proportion to the solid angle of a pixel of each row, largest at the equator.
[[nodiscard]] std::vector<std::uint32_t> row_weights(std::int64_t height);

/// The angular radii, in radians, of caps that share the lobe's light equally: the mean of their means is
/// nearly the mean over the lobe. The lobe is that of a GGX surface of roughness alpha = roughness^2 seen
/// along its normal (Walter et al. 2007; Karis 2013): D(h) cos(t) at angle t from the mirror direction, where
/// h is t / 2 away from the normal.
[[nodiscard]] std::vector<double> ggx_caps(double roughness);

/// Appends one level to a job that has its sizes and row weights: for every row the bands of these caps; none
/// for no cap. The lower half of the map mirrors the upper one.
void add_level(LobeMeanJob& job, std::span<const double> caps);

}  // namespace satin
