// Filters from the mean and deviation of a square window: local-mean, local-deviation and normalize.
//
// They work on the stored values of each colour and keep alpha. The sums come from the operations of
// means/box_mean.h and statistics/box_stats.h.

#include "satin/filters/local_statistics.h"
#include "satin/filters/normalize.h"

#include "core/record.h"
#include "core/side_inputs.h"
#include "means/box_mean.h"
#include "means/kernel_boxes.h"
#include "statistics/box_stats.h"
#include "statistics/local_plan.h"

namespace satin {
namespace {

enum Input { picture, mask };

/// Averages the stored values of all channels, alpha included.
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

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const LocalMean& parameters) {
  const Shape shape = shapes[picture];
  check_local(shape, parameters.window, parameters.border);
  const BoxMeanJob job = mean_job(shape, shapes[mask], parameters);
  const auto run = [alpha = kept_alpha(device.backend(), shape)](
                       BoxMeanOperation& mean, std::span<const ImageView> inputs,
                       const MutableImageView& output, Measured* measured, Stream stream) {
    BoxMeanImages images;
    images.source = images.original = inputs[picture];
    images.mask = inputs[mask];
    images.output = output;
    images.measured = measured;
    mean.run(images, stream);
    alpha(inputs[picture], output, stream);
  };
  return {shape, {range_of(shape)}, reach_of(std::span(&job, 1)), prepare_one(device, job, run)};
}

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const LocalDeviation& parameters) {
  check_local(shapes[picture], parameters.window, parameters.border);
  BoxStatsJob job = local_job(shapes[picture], parameters.window, parameters.border);
  job.result = LocalResult::deviation;
  return plan_colours(device, shapes, job);
}

constexpr double largest_number = 1e30;

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Normalize& parameters) {
  const Shape& shape = shapes.front();
  check_local(shape, parameters.window, parameters.border);
  check_range("mean", parameters.mean, -largest_number, largest_number);
  check_range("deviation", parameters.deviation, 0, largest_number);
  check_range("gain", parameters.gain, 0, largest_number);
  const double white = white_of(shape.type);
  BoxStatsJob job = local_job(shape, parameters.window, parameters.border);
  job.result = LocalResult::normalised;
  job.normalise = {parameters.mean * white, parameters.deviation * white, parameters.gain};
  return plan_colours(device, shapes, job);
}

template <class P>
FilterRecord statistic_record(const char* name, const char* help, const Traits& traits) {
  return record::of<P>(
      &describe,
      {.name = name,
       .category = "statistics",
       .help = help,
       .paper = "Crow, Summed-area tables for texture mapping, 1984",
       .parameters = {record::window(&P::window, largest_window), record::inner_border(&P::border)},
       .inputs = {record::blend_mask<P>()},
       .space = Space::encoded,
       .traits = traits,
       .reach = record::reach<P>([](const P& statistic, const Shape&) { return statistic.window / 2.0; })});
}

}  // namespace

const FilterRecord& local_mean_record() {
  static const FilterRecord filter =
      statistic_record<LocalMean>("local-mean", "mean of the stored values in a square window",
                                  {.keeps_constant = true, .keeps_range = true, .linear = true});
  return filter;
}

const FilterRecord& local_deviation_record() {
  static const FilterRecord filter = statistic_record<LocalDeviation>(
      "local-deviation", "standard deviation of the stored values in a square window", {});
  return filter;
}

const FilterRecord& normalize_record() {
  static const FilterRecord filter = record::of<Normalize>(
      &describe,
      {.name = "normalize",
       .category = "statistics",
       .help =
           "bring mean and deviation around every pixel to target values, which evens out light and contrast",
       .paper = "Wallis, An approach to the space variant restoration and enhancement of images, 1976",
       .parameters = {record::window(&Normalize::window, largest_window),
                      record::real(
                          &Normalize::mean, -largest_number, largest_number,
                          {"mean", "", "target mean, from 0 (black) to 1 (white); 0.5 suits photographs"}),
                      record::usual(
                          0, 0.5,
                          record::real(&Normalize::deviation, 0, largest_number,
                                       {"deviation", "", "target standard deviation, as a share of white"})),
                      record::usual(0, 10,
                                    record::real(&Normalize::gain, 0, largest_number,
                                                 {"gain", "",
                                                  "largest factor by which differences from the mean grow"})),
                      record::inner_border(&Normalize::border)},
       .inputs = {record::blend_mask<Normalize>()},
       .space = Space::encoded,
       .reach = record::reach<Normalize>(
           [](const Normalize& normalize, const Shape&) { return normalize.window / 2.0; })});
  return filter;
}

}  // namespace satin
