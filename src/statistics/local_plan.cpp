#include "statistics/local_plan.h"

#include <algorithm>
#include <string>

#include "core/copy.h"
#include "core/side_inputs.h"
#include "satin/error.h"
#include "statistics/box_stats.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

enum Input { picture, mask };

/// One channel of a picture, as a picture with a pixel stride.
template <class View>
View channel_of(View view, int channel) {
  view.data = view.at(0, 0, channel);
  view.shape.channels = 1;
  view.shape.alpha = Alpha::none;
  return view;
}

}  // namespace

void check_local(const Shape& shape, int window, Border border) {
  validate(shape);
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(std::string("Local statistics of a picture of ") + name_of(shape.type) +
           " cannot be taken: convert it to u8, u16 or f32.");
  if (window < 1 || window > largest_window || window % 2 == 0)
    refuse("window " + std::to_string(window) + ": must be an odd number from 1 to " +
           std::to_string(largest_window) + ", such as " +
           std::to_string(std::clamp(window, 1, largest_window) | 1) + ".");
  if (border == Border::constant)
    refuse("Local statistics have no constant border: choose shrink, clamp, reflect, mirror or wrap.");
}

BoxStatsJob local_job(const Shape& shape, int window, Border border) {
  BoxStatsJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.reach_x = job.reach_y = window / 2;
  job.border = border;
  job.plane = value_plane(shape, float_bits_for_squares(shape.type, largest_window_of(job)));
  return job;
}

Reach reach_of(const BoxStatsJob& job) { return {job.reach_x, job.reach_y, job.border == Border::wrap}; }

int colours_of(const Shape& shape) {
  return shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
}

CopyAlpha kept_alpha(Backend& backend, const Shape& shape) {
  if (shape.alpha == Alpha::none) return [](const auto&...) {};
  const std::shared_ptr<CopyOperation> copy = backend.prepare(CopyJob{});
  return [copy, last = shape.channels - 1](const ImageView& from, const MutableImageView& to, Stream stream) {
    copy->run(channel_of(from, last), channel_of(to, last), stream);
  };
}

FilterPlan plan_colours(const Device& device, std::span<const Shape> shapes, BoxStatsJob job) {
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
