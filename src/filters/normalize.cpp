#include "satin/filters/normalize.h"

#include <array>
#include <cmath>

#include "core/record.h"
#include "core/side_inputs.h"
#include "filters/registry.h"
#include "satin/error.h"
#include "statistics/box_stats.h"
#include "statistics/local_plan.h"

namespace satin {
namespace {

constexpr double largest_number = 1e30;

enum Input { picture, mask };

void check_number(const char* name, double value, double minimum) {
  if (!(value >= minimum && value <= largest_number))
    throw Error(ErrorKind::usage, std::string(name) + " " + print_real(value) + ": must be from " +
                                      print_real(minimum) + " to " + print_real(largest_number) + ".");
}

Plan plan_shapes(const Device& device, const Shape& shape, const Shape& mask_shape,
                 const Normalize& parameters) {
  check_local(shape, parameters.window, parameters.border);
  check_number("mean", parameters.mean, -largest_number);
  check_number("deviation", parameters.deviation, 0);
  check_number("gain", parameters.gain, 0);
  const double white = shape.type == Type::u8 ? 0xFF : shape.type == Type::u16 ? 0xFFFF : 1;
  BoxStatsJob job = local_job(shape, parameters.window, parameters.border);
  job.result = LocalResult::normalised;
  job.normalise = {parameters.mean * white, parameters.deviation * white, parameters.gain};
  return plan_colours(device, shape, mask_shape, job);
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Normalize& parameters) {
  return plan_shapes(device, shape, shape_of(parameters.mask), parameters);
}

Image normalize(const Device& device, const ImageView& image, const Normalize& parameters) {
  const std::array inputs = {image, parameters.mask};
  return run_once(device, plan(device, image.shape, parameters), inputs);
}

FilterRecord normalize_record() {
  FilterRecord filter;
  filter.name = "normalize";
  filter.category = "statistics";
  filter.help =
      "mean and standard deviation around every pixel brought to targets: evens out light and contrast";
  filter.paper = "Wallis, An approach to the space variant restoration and enhancement of images, 1976";
  filter.parameters = {
      record::integer(&Normalize::window, 1, largest_window,
                      {"window", "px", "side of the window, an odd number"}),
      record::real(&Normalize::mean, -largest_number, largest_number,
                   {"mean", "", "what the mean becomes: 0 black to 1 white"}),
      record::real(&Normalize::deviation, 0, largest_number,
                   {"deviation", "", "what the standard deviation becomes, in parts of white"}),
      record::real(&Normalize::gain, 0, largest_number,
                   {"gain", "", "differences from the mean grow at most so many times"}),
      record::choice(&Normalize::border, {"shrink", "clamp", "reflect", "mirror", "wrap"},
                     {"border", "", "what the window sees outside the picture"}),
  };
  filter.inputs = {{"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone", false}};
  filter.space = Space::encoded;
  filter.defaults = [] { return std::make_shared<Normalize>(); };
  filter.reach = [](const void* parameters, const Shape&) {
    return record::as<Normalize>(parameters).window / 2.0;
  };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    return plan_shapes(device, shapes[picture], shapes.size() > mask ? shapes[mask] : Shape{},
                       record::as<Normalize>(parameters));
  };
  return filter;
}

}  // namespace satin
