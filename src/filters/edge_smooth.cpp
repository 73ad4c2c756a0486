#include "satin/filters/edge_smooth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/prepared_filter.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "filters/registry.h"
#include "recursive/recursive_plan.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double largest_sigma_s = 4096;
constexpr double smallest_sigma_r = 0.001;
constexpr double largest_sigma_r = 1000;
constexpr int most_iterations = 10;

enum Input { picture, guide, mask };

void check_range(const char* name, double value, double low, double high) {
  if (!(value >= low) || value > high)
    throw Error(ErrorKind::usage, std::string(name) + " " + print_real(value) + ": must be from " +
                                      print_real(low) + " to " + print_real(high) + ".");
}

/// Standard deviation of iteration i = 1..N (equation 14): their squares add up to sigma_s^2.
double sigma_of(double sigma_s, int i, int iterations) {
  return sigma_s * std::sqrt(3.0) * std::ldexp(1.0, iterations - i) /
         std::sqrt(std::ldexp(1.0, 2 * iterations) - 1);
}

RecursiveSettings settings_of(const EdgeSmooth& smooth) {
  check_range("sigma-s", smooth.sigma_s, 0, largest_sigma_s);
  check_range("sigma-r", smooth.sigma_r, smallest_sigma_r, largest_sigma_r);
  check_range("iterations", smooth.iterations, 1, most_iterations);
  RecursiveSettings settings;
  settings.space = smooth.space;
  settings.guided = true;
  settings.contrast = smooth.sigma_s / smooth.sigma_r;
  if (smooth.sigma_s == 0) return settings;
  for (int i = 1; i <= smooth.iterations; ++i) {
    RecursivePass pass;  // a^d = exp(-sqrt(2) d / sigma_i) = 2^-(rate d)
    pass.rate = std::numbers::sqrt2 * std::numbers::log2e / sigma_of(smooth.sigma_s, i, smooth.iterations);
    for (const Axis axis : {Axis::x, Axis::y}) {
      pass.axis = axis;
      settings.passes.push_back(pass);
    }
  }
  return settings;
}

Plan plan_shapes(const Device& device, const Shape& shape, const Shape& guide_shape, const Shape& mask_shape,
                 const EdgeSmooth& smooth) {
  return plan_recursive(device, {shape, guide_shape, mask_shape}, settings_of(smooth));
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const EdgeSmooth& parameters) {
  return plan_shapes(device, shape, shape_of(parameters.guide), shape_of(parameters.mask), parameters);
}

Image edge_smooth(const Device& device, const ImageView& image, const EdgeSmooth& parameters) {
  const std::array inputs = {image, parameters.guide, parameters.mask};
  return run_once(device, plan(device, image.shape, parameters), inputs);
}

FilterRecord edge_smooth_record() {
  FilterRecord filter;
  filter.name = "edge-smooth";
  filter.category = "smoothing";
  filter.help = "smoothing that stops at edges, of the picture or of a guide";
  filter.paper = "Gastal and Oliveira, Domain transform for edge-aware image and video processing, 2011";
  filter.parameters = {
      record::real(&EdgeSmooth::sigma_s, 0, largest_sigma_s,
                   {"sigma-s", "px", "standard deviation where there are no edges"}),
      record::real(&EdgeSmooth::sigma_r, smallest_sigma_r, largest_sigma_r,
                   {"sigma-r", "", "difference of stored values that counts as an edge, 1 is white"}),
      record::integer(&EdgeSmooth::iterations, 1, most_iterations,
                      {"iterations", "", "passes along both axes; more leave fewer streaks"}),
      record::choice(&EdgeSmooth::space, record::space_names(),
                     {"space", "", "average in linear light, or the values as stored"}),
  };
  filter.inputs = {
      {"guide", Role::guide, "takes the edges from this picture, of the same size", false},
      {"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone", false},
  };
  filter.traits.keeps_constant = true;
  filter.traits.keeps_range = true;
  filter.defaults = [] { return std::make_shared<EdgeSmooth>(); };
  filter.reach = [](const void*, const Shape& shape) {
    return static_cast<double>(std::max(shape.width, shape.height));
  };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    const auto shape = [&](std::size_t i) { return shapes.size() > i ? shapes[i] : Shape{}; };
    return plan_shapes(device, shapes[picture], shape(guide), shape(mask),
                       record::as<EdgeSmooth>(parameters));
  };
  return filter;
}

}  // namespace satin
