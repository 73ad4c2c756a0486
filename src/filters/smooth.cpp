#include "satin/filters/smooth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/prepared_filter.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "filters/registry.h"
#include "recursive/recursive_plan.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double largest_sigma = 4096;

enum Input { picture, mask };

double checked_sigma(const Length& sigma, const Shape& shape) {
  const double pixels = sigma.pixels(static_cast<double>(std::max(shape.width, shape.height)));
  if (!(pixels >= 0) || pixels > largest_sigma)
    throw Error(ErrorKind::usage, "sigma " + print_real(pixels) + " pixels: must be from 0 to " +
                                      print_real(largest_sigma) + ".");
  return pixels;
}

/// The variance of alpha / (2 - alpha) (1 - alpha)^|n| is 2 (1 - alpha) / alpha^2.
double alpha_of(double sigma) { return 2 / (1 + std::sqrt(1 + 2 * sigma * sigma)); }

void add_pass(Axis axis, double sigma, std::vector<RecursivePass>& passes) {
  if (const double alpha = alpha_of(sigma); alpha < 1) passes.push_back({axis, 0, 1 - alpha});
}

Plan plan_shapes(const Device& device, const Shape& shape, const Shape& mask_shape, const Smooth& smooth) {
  validate(shape);
  RecursiveSettings settings;
  settings.space = smooth.space;
  add_pass(Axis::x, checked_sigma(smooth.sigma.x, shape), settings.passes);
  add_pass(Axis::y, checked_sigma(smooth.sigma.y, shape), settings.passes);
  return plan_recursive(device, {shape, mask_shape}, settings);
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Smooth& parameters) {
  return plan_shapes(device, shape, shape_of(parameters.mask), parameters);
}

Image smooth(const Device& device, const ImageView& image, const Smooth& parameters) {
  const std::array inputs = {image, parameters.mask};
  return run_once(device, plan(device, image.shape, parameters), inputs);
}

FilterRecord smooth_record() {
  FilterRecord filter;
  filter.name = "smooth";
  filter.category = "smoothing";
  filter.help = "two-sided exponential of any width, by recursion";
  filter.paper = "Deriche, Recursively implementing the Gaussian and its derivatives, 1993";
  filter.parameters = {
      record::radius(&Smooth::sigma, 0, largest_sigma,
                     {"sigma", "px", "standard deviation of the kernel: S, SX,SY, or P% of the longer side"}),
      record::choice(&Smooth::space, record::space_names(),
                     {"space", "", "average in linear light, or the values as stored"}),
  };
  filter.inputs = {{"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone", false}};
  filter.traits.keeps_constant = true;
  filter.traits.keeps_range = true;
  filter.traits.linear = true;
  filter.defaults = [] { return std::make_shared<Smooth>(); };
  filter.reach = [](const void*, const Shape& shape) {
    return static_cast<double>(std::max(shape.width, shape.height));
  };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    return plan_shapes(device, shapes[picture], shapes.size() > mask ? shapes[mask] : Shape{},
                       record::as<Smooth>(parameters));
  };
  return filter;
}

}  // namespace satin
