#pragma once
// What the filters from local statistics share: their windows, and plans that go through the colours one by
// one.

#include <functional>

#include "core/backend.h"
#include "core/copy.h"
#include "core/maths/window.h"
#include "core/prepared_filter.h"
#include "pixels/binary_plane.h"
#include "statistics/box_stats.h"

namespace satin {

inline constexpr int largest_window = 2 * largest_radius - 1;

/// Throws Error(usage) unless the shape holds pixels, the window is an odd number from 1 to largest_window,
/// and the border is not constant.
void check_local(const Shape& shape, int window, Border border);

/// Statistics of plane 0, or of the luminance of colours, over this window. What is made of them is still to
/// be said. Throws Error(usage) where sums of squares do not fit.
[[nodiscard]] BoxStatsJob local_job(const Shape& shape, int window, Border border);

[[nodiscard]] Reach reach_of(const BoxStatsJob& job);

/// The channels that are not alpha.
[[nodiscard]] int colours_of(const Shape& shape);

/// Writes the alpha of a picture to another one, where it has alpha.
using CopyAlpha = std::function<void(const ImageView& from, const MutableImageView& to, Stream stream)>;
[[nodiscard]] CopyAlpha kept_alpha(Backend& backend, const Shape& shape);

/// The job's result for every colour by itself; inputs are the picture and the mask, and alpha is kept.
[[nodiscard]] FilterPlan plan_colours(const Device& device, std::span<const Shape> shapes, BoxStatsJob job);

}  // namespace satin
