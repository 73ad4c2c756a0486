#pragma once
// Which successive boxes make a kernel: one box, a tent of two, an approximate gaussian of three.

#include <memory>
#include <span>

#include "core/backend.h"
#include "core/few.h"
#include "core/windows.h"
#include "means/box_mean.h"
#include "satin/filters/blur.h"

namespace satin {

inline constexpr double largest_sigma = 4096;

/// Something for each of successive boxes.
template <class T>
using OfBoxes = Few<T, 3>;

[[nodiscard]] inline int boxes_of(Kernel kernel) { return static_cast<int>(kernel) + 1; }

/// The radius to the nearest 1/256 pixel, ties up.
[[nodiscard]] Radius256 quantised_radius(double pixels);

/// Throws Error(usage) that names the parameter unless the radius is from 0 to largest_radius.
[[nodiscard]] double checked_radius(double pixels, const char* name);

/// One field for each box, of this standard deviation. Throws Error(usage) unless it is from 0 to
/// largest_sigma.
[[nodiscard]] OfBoxes<RadiusField> fields_for_sigma(double sigma, int boxes);

/// One field for each box; together they reach as far as one of this radius. Throws as checked_radius().
[[nodiscard]] OfBoxes<RadiusField> fields_for_radius(const Radius& radius, const Shape& shape, int boxes);

/// Operations to be run one after the other, each on what the one before wrote; one for them all where the
/// backend has it.
[[nodiscard]] OfBoxes<std::unique_ptr<BoxMeanOperation>> prepare_boxes(Backend& backend,
                                                                       std::span<const BoxMeanJob> jobs);

/// How far successive boxes look together.
[[nodiscard]] Reach reach_of(std::span<const BoxMeanJob> jobs);

/// These jobs for pictures of another size.
[[nodiscard]] OfBoxes<BoxMeanJob> resized(const OfBoxes<BoxMeanJob>& jobs, std::int64_t width,
                                          std::int64_t height);

}  // namespace satin
