#pragma once
// What the filters from local statistics share: their windows, and plans that go through the colours one by
// one.

#include <memory>

#include "core/backend.h"
#include "core/copy.h"
#include "core/maths/window.h"
#include "core/prepared_filter.h"
#include "pixels/binary_plane.h"
#include "pixels/measure.h"
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
/// This job for pictures of another size.
[[nodiscard]] BoxStatsJob resized(BoxStatsJob job, std::int64_t width, std::int64_t height);

/// The range of all values as stored; null unless they are floats.
[[nodiscard]] std::unique_ptr<MeasureOperation> range_of_floats(Backend& backend, const Shape& shape);

/// The channels that are not alpha.
[[nodiscard]] int colours_of(const Shape& shape);

/// Writes the alpha of a picture to another one.
class KeptAlpha {
 public:
  KeptAlpha(Backend& backend, const Shape& shape);
  void run(const ImageView& picture, const MutableImageView& output, Stream stream);

 private:
  std::unique_ptr<CopyOperation> copy_;  ///< null without alpha
};

/// The job's result for every colour by itself; inputs are the picture and the mask, and alpha is kept.
[[nodiscard]] FilterPlan plan_colours(const Device& device, std::span<const Shape> shapes, BoxStatsJob job);

}  // namespace satin
