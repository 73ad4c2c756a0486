#include "satin/filters/normalize.h"

#include "core/record.h"
#include "core/side_inputs.h"
#include "statistics/box_stats.h"
#include "statistics/local_plan.h"

namespace satin {
namespace {

constexpr double largest_number = 1e30;

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Normalize& parameters) {
  const Shape& shape = shapes.front();
  check_local(shape, parameters.window, parameters.border);
  check_range("mean", parameters.mean, -largest_number, largest_number);
  check_range("deviation", parameters.deviation, 0, largest_number);
  check_range("gain", parameters.gain, 0, largest_number);
  const double white = shape.type == Type::u8 ? 0xFF : shape.type == Type::u16 ? 0xFFFF : 1;
  BoxStatsJob job = local_job(shape, parameters.window, parameters.border);
  job.result = LocalResult::normalised;
  job.normalise = {parameters.mean * white, parameters.deviation * white, parameters.gain};
  return plan_colours(device, shapes, job);
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Normalize& parameters) {
  return record::plan(normalize_record(), device, shape, &parameters);
}

Image normalize(const Device& device, const ImageView& image, const Normalize& parameters) {
  return record::run(normalize_record(), device, image, &parameters);
}

const FilterRecord& normalize_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "normalize",
       .category = "statistics",
       .help =
           "mean and standard deviation around every pixel brought to targets: evens out light and contrast",
       .paper = "Wallis, An approach to the space variant restoration and enhancement of images, 1976",
       .parameters = {record::integer(&Normalize::window, 1, largest_window,
                                      {"window", "px", "side of the window, an odd number"}),
                      record::real(&Normalize::mean, -largest_number, largest_number,
                                   {"mean", "", "what the mean becomes: 0 black to 1 white"}),
                      record::real(
                          &Normalize::deviation, 0, largest_number,
                          {"deviation", "", "what the standard deviation becomes, as a share of white"}),
                      record::real(&Normalize::gain, 0, largest_number,
                                   {"gain", "", "largest factor by which differences from the mean grow"}),
                      record::inner_border(&Normalize::border)},
       .inputs = {record::blend_mask<Normalize>()},
       .space = Space::encoded,
       .reach = record::reach<Normalize>(
           [](const Normalize& normalize, const Shape&) { return normalize.window / 2.0; })});
  return filter;
}

}  // namespace satin
