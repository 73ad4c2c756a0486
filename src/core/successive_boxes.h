#pragma once
// Kernels made of successive boxes (Heckbert, Filtering by repeated integration, 1986).

#include <vector>

#include "core/maths/window.h"

namespace satin {

/// Radii of `boxes` successive boxes whose variances add up as nearly to sigma^2 as the quantum allows: all
/// take the largest radius that does not exceed it, then as many as bring the sum nearest take one quantum
/// more.
[[nodiscard]] std::vector<Radius256> radii_for_sigma(double sigma, int boxes);

/// Radii of `boxes` successive boxes that reach as far together as one of `radius`.
[[nodiscard]] std::vector<Radius256> radii_for_reach(Radius256 radius, int boxes);

}  // namespace satin
