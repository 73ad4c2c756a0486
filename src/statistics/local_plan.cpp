#include "statistics/local_plan.h"

#include <algorithm>
#include <string>

#include "core/copy.h"
#include "core/side_inputs.h"
#include "pixels/measure.h"
#include "pixels/measured_filter.h"
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

class PreparedColours final : public MeasuredFilter {
 public:
  PreparedColours(Backend& backend, const Shape& shape, BoxStatsJob job)
      : MeasuredFilter(range_of_floats(backend, shape)), alpha_(backend, shape) {
    job.plane.channel = job.output_channel = 0;
    job.colours = colours_of(shape);
    colours_ = backend.prepare(job);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return colours_->workspace_bytes(); }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    colours_->run({inputs[picture], inputs[mask], output, measured, nullptr}, stream);
    if (!colours_->keeps_other_channels()) alpha_.run(inputs[picture], output, stream);
  }

 private:
  std::unique_ptr<BoxStatsOperation> colours_;
  KeptAlpha alpha_;
};

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

BoxStatsJob resized(BoxStatsJob job, std::int64_t width, std::int64_t height) {
  job.width = width;
  job.height = height;
  return job;
}

std::unique_ptr<MeasureOperation> range_of_floats(Backend& backend, const Shape& shape) {
  if (shape.type != Type::f32) return nullptr;
  return backend.prepare(MeasureJob{shape.width, shape.height, shape.channels, false});
}

int colours_of(const Shape& shape) {
  return shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
}

KeptAlpha::KeptAlpha(Backend& backend, const Shape& shape) {
  if (shape.alpha != Alpha::none) copy_ = backend.prepare(CopyJob{});
}

void KeptAlpha::run(const ImageView& from, const MutableImageView& to, Stream stream) {
  const int last = from.shape.channels - 1;
  if (copy_ != nullptr) copy_->run(channel_of(from, last), channel_of(to, last), stream);
}

FilterPlan plan_colours(const Device& device, std::span<const Shape> shapes, BoxStatsJob job) {
  const Shape shape = shapes[picture];
  job.mask_maximum = checked_mask_maximum(shapes[mask], shape);
  const auto prepare = [&backend = device.backend(), shape, job](std::int64_t width, std::int64_t height) {
    return std::make_unique<PreparedColours>(backend, resized(shape, width, height),
                                             resized(job, width, height));
  };
  return {shape, shape.type == Type::f32, reach_of(job), prepare};
}

}  // namespace satin
