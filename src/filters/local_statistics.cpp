#include "satin/filters/local_statistics.h"

#include <array>
#include <vector>

#include "core/record.h"
#include "core/side_inputs.h"
#include "filters/registry.h"
#include "means/box_mean.h"
#include "means/kernel_boxes.h"
#include "pixels/measured_filter.h"
#include "satin/error.h"
#include "statistics/box_stats.h"
#include "statistics/local_plan.h"

namespace satin {
namespace {

enum Input { picture, mask };

/// A mean of all channels as stored.
BoxMeanJob mean_job(const Shape& shape, const Shape& mask_shape, const LocalMean& parameters) {
  BoxMeanJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.radius.x = job.radius.y = parameters.window / 2 * radius_one;
  job.border = parameters.border;
  job.mask_maximum = checked_mask_maximum(mask_shape, shape);
  Shape values = shape;
  values.alpha = Alpha::none;
  const std::uint64_t box = largest_box(shape.width, shape.height, job.radius, job.border);
  job.read = read_pixels(values, Transfer::identity, box);
  job.write.type = shape.type;
  job.accumulator = choose_accumulator(job.read, box, job.read.maximum);
  return job;
}

class PreparedMean final : public MeasuredFilter {
 public:
  PreparedMean(Backend& backend, const Shape& shape, const BoxMeanJob& job)
      : MeasuredFilter(range_of_floats(backend, shape)),
        mean_(backend.prepare(job)),
        alpha_(backend, shape) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return mean_->workspace_bytes(); }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    BoxMeanImages images;
    images.source = images.original = inputs[picture];
    images.mask = inputs[mask];
    images.output = output;
    images.measured = measured;
    mean_->run(images, stream);
    alpha_.run(inputs[picture], output, stream);
  }

 private:
  std::unique_ptr<BoxMeanOperation> mean_;
  KeptAlpha alpha_;
};

Plan plan_shapes(const Device& device, const Shape& shape, const Shape& mask_shape,
                 const LocalMean& parameters) {
  check_local(shape, parameters.window, parameters.border);
  const std::vector<BoxMeanJob> jobs{mean_job(shape, mask_shape, parameters)};
  SizedFilter filter{reach_of(jobs), {}};
  filter.prepare = [&backend = device.backend(), shape, jobs](std::int64_t width, std::int64_t height) {
    return std::make_unique<PreparedMean>(backend, resized(shape, width, height),
                                          resized(jobs, width, height).front());
  };
  return make_plan(device, {{shape, mask_shape}, shape, shape.type == Type::f32}, std::move(filter));
}

Plan plan_shapes(const Device& device, const Shape& shape, const Shape& mask_shape,
                 const LocalDeviation& parameters) {
  check_local(shape, parameters.window, parameters.border);
  BoxStatsJob job = local_job(shape, parameters.window, parameters.border);
  job.result = LocalResult::deviation;
  return plan_colours(device, shape, mask_shape, job);
}

template <class P>
Image run_filter(const Device& device, const ImageView& image, const P& parameters) {
  const std::array inputs = {image, parameters.mask};
  return run_once(device, plan(device, image.shape, parameters), inputs);
}

template <class P>
FilterRecord statistic_record() {
  FilterRecord filter;
  filter.category = "statistics";
  filter.paper = "Crow, Summed-area tables for texture mapping, 1984";
  filter.parameters = {
      record::integer(&P::window, 1, largest_window, {"window", "px", "side of the window, an odd number"}),
      record::choice(&P::border, {"shrink", "clamp", "reflect", "mirror", "wrap"},
                     {"border", "", "what the window sees outside the picture"}),
  };
  filter.inputs = {{"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone", false}};
  filter.space = Space::encoded;
  filter.defaults = [] { return std::make_shared<P>(); };
  filter.reach = [](const void* parameters, const Shape&) { return record::as<P>(parameters).window / 2.0; };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    return plan_shapes(device, shapes[picture], shapes.size() > mask ? shapes[mask] : Shape{},
                       record::as<P>(parameters));
  };
  return filter;
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const LocalMean& parameters) {
  return plan_shapes(device, shape, shape_of(parameters.mask), parameters);
}

Plan plan(const Device& device, const Shape& shape, const LocalDeviation& parameters) {
  return plan_shapes(device, shape, shape_of(parameters.mask), parameters);
}

Image local_mean(const Device& device, const ImageView& image, const LocalMean& parameters) {
  return run_filter(device, image, parameters);
}

Image local_deviation(const Device& device, const ImageView& image, const LocalDeviation& parameters) {
  return run_filter(device, image, parameters);
}

FilterRecord local_mean_record() {
  FilterRecord filter = statistic_record<LocalMean>();
  filter.name = "local-mean";
  filter.help = "mean of the values as stored in a square window";
  filter.traits.keeps_constant = true;
  filter.traits.keeps_range = true;
  filter.traits.linear = true;
  return filter;
}

FilterRecord local_deviation_record() {
  FilterRecord filter = statistic_record<LocalDeviation>();
  filter.name = "local-deviation";
  filter.help = "standard deviation of the values as stored in a square window";
  return filter;
}

}  // namespace satin
