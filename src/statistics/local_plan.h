#pragma once
// Parts that filters on local statistics share: checks of the window, the job for a picture, alpha that is
// kept, and a plan that computes every colour.

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/backend.h"
#include "core/maths/window.h"
#include "core/plan_operations.h"
#include "core/prepared_filter.h"
#include "core/side_inputs.h"
#include "pixels/fixed_threshold.h"
#include "satin/error.h"
#include "statistics/box_stats.h"

namespace satin {

inline constexpr int largest_window = 2 * largest_radius - 1;

/// Throws Error(usage) unless the shape holds pixels, the window is an odd number from 1 to largest_window,
/// and the border is not constant.
inline void check_local(const Shape& shape, int window, Border border) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::usage, why); };
  validate(shape);
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(std::string("Local statistics need u8, u16 or f32, but the picture is ") + name_of(shape.type) +
           ": convert it.");
  if (window < 1 || window > largest_window || window % 2 == 0)
    refuse("window " + std::to_string(window) + ": must be an odd number from 1 to " +
           std::to_string(largest_window) + ", such as " +
           std::to_string(std::clamp(window, 1, largest_window) | 1) + ".");
  if (border == Border::constant)
    refuse("Local statistics have no constant border: choose shrink, clamp, reflect, mirror or wrap.");
}

/// Returns the job of statistics over this window, of the first channel or of the luminance of colours. The
/// caller sets the result. Throws Error(usage) where sums of squares do not fit.
[[nodiscard]] inline BoxStatsJob local_job(const Shape& shape, int window, Border border) {
  BoxStatsJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.reach_x = job.reach_y = window / 2;
  job.border = border;
  job.plane = value_plane(shape, float_bits_for_squares(shape.type, largest_window_of(job)));
  return job;
}

[[nodiscard]] inline Reach reach_of(const BoxStatsJob& job) {
  return {job.reach_x, job.reach_y, job.border == Border::wrap};
}

/// Returns the number of channels without alpha.
[[nodiscard]] inline int colours_of(const Shape& shape) {
  return shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
}

/// Copies the alpha of one picture to another, if they have alpha.
using CopyAlpha = std::function<void(const ImageView& from, const MutableImageView& to, Stream stream)>;

[[nodiscard]] inline CopyAlpha kept_alpha(Backend& backend, const Shape& shape) {
  if (shape.alpha == Alpha::none) return [](const auto&...) {};
  const auto last_channel = [last = shape.channels -
                                    1](auto view) {  // a picture of one channel with a pixel stride
    view.data = view.at(0, 0, last);
    view.shape.channels = 1;
    view.shape.alpha = Alpha::none;
    return view;
  };
  const std::shared_ptr<CopyOperation> copy = backend.prepare(CopyJob{});
  return [copy, last_channel](const ImageView& from, const MutableImageView& to, Stream stream) {
    copy->run(last_channel(from), last_channel(to), stream);
  };
}

/// Plans the job's result for every colour. Inputs are the picture and a mask; alpha is kept.
[[nodiscard]] inline FilterPlan plan_colours(const Device& device, std::span<const Shape> shapes,
                                             BoxStatsJob job) {
  enum Input { picture, mask };
  const Shape shape = shapes[picture];
  job.mask_maximum = checked_mask_maximum(shapes[mask], shape);
  job.plane.channel = job.output_channel = 0;
  job.colours = colours_of(shape);
  const auto run = [alpha = kept_alpha(device.backend(), shape)](
                       BoxStatsOperation& colours, std::span<const ImageView> inputs,
                       const MutableImageView& output, Measured* measured, Stream stream) {
    colours.run({inputs[picture], inputs[mask], output, measured, nullptr}, stream);
    if (!colours.keeps_other_channels()) alpha(inputs[picture], output, stream);
  };
  return {shape, {range_of(shape)}, reach_of(job), prepare_one(device, job, run)};
}

}  // namespace satin
