#pragma once
// Filter kernels as successive boxes (Wells 1986): one box, a tent of two, an approximate gaussian of three.

#include <memory>
#include <span>

#include "core/backend.h"
#include "core/prepared_filter.h"
#include "core/windows.h"
#include "means/box_mean.h"
#include "satin/filters/blur.h"

namespace satin {

inline constexpr double largest_sigma = 4096;

/// An element for each of at most three successive boxes.
template <class T>
using OfBoxes = Few<T, 3>;

[[nodiscard]] inline int boxes_of(Kernel kernel) { return static_cast<int>(kernel) + 1; }

/// Returns the radius in 1/256 pixel, rounded to nearest, ties up.
[[nodiscard]] Radius256 quantised_radius(double pixels);

/// Returns the radius. Throws Error(usage) that names the parameter unless it is from 0 to largest_radius.
[[nodiscard]] double checked_radius(double pixels, const char* name);

/// Returns the radii of boxes that together have this standard deviation. Throws Error(usage) unless it is
/// from 0 to largest_sigma.
[[nodiscard]] OfBoxes<RadiusField> fields_for_sigma(double sigma, int boxes);

/// Returns the radii of boxes that together reach as far as one box of this radius. Throws as
/// checked_radius().
[[nodiscard]] OfBoxes<RadiusField> fields_for_radius(const Radius& radius, const Shape& shape, int boxes);

/// Jobs of successive boxes on one picture.
struct SuccessiveBoxes {
  PixelRead stored;            ///< how the first box reads the picture
  OfBoxes<BoxMeanJob> jobs{};  ///< all boxes read and write working values, but for the first one's picture
};

/// Returns the jobs of boxes with these radii. Throws Error(usage) where sums do not fit.
[[nodiscard]] SuccessiveBoxes successive_boxes(const Shape& shape, Space space, Border border,
                                               const OfBoxes<RadiusField>& radii);

/// Prepares operations to be run one after the other, each on the result of the one before; a single one if
/// the backend can run all boxes at once.
[[nodiscard]] OfBoxes<std::unique_ptr<BoxMeanOperation>> prepare_boxes(Backend& backend,
                                                                       std::span<const BoxMeanJob> jobs);

[[nodiscard]] Reach reach_of(std::span<const BoxMeanJob> jobs);

[[nodiscard]] OfBoxes<BoxMeanJob> resized(const OfBoxes<BoxMeanJob>& jobs, std::int64_t width,
                                          std::int64_t height);

}  // namespace satin
