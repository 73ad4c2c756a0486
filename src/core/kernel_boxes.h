#pragma once
// Which successive boxes make a kernel: one box, a tent of two, an approximate gaussian of three.

#include <vector>

#include "core/operations/box_mean.h"
#include "satin/filters/blur.h"

namespace satin {

inline constexpr double largest_sigma = 4096;

[[nodiscard]] inline int boxes_of(Kernel kernel) { return static_cast<int>(kernel) + 1; }

/// To the nearest 1/256 pixel, ties up.
[[nodiscard]] Radius256 quantised_radius(double pixels);

/// Throws Error(usage) that names the parameter unless the radius is from 0 to largest_radius.
[[nodiscard]] double checked_radius(double pixels, const char* name);

/// One field for each box, of this standard deviation. Throws Error(usage) unless it is from 0 to
/// largest_sigma.
[[nodiscard]] std::vector<RadiusField> fields_for_sigma(double sigma, int boxes);

/// One field for each box; together they reach as far as one of this radius. Throws as checked_radius().
[[nodiscard]] std::vector<RadiusField> fields_for_radius(const Radius& radius, const Shape& shape, int boxes);

}  // namespace satin
