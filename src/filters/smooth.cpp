#include "satin/filters/smooth.h"

#include <algorithm>
#include <cmath>

#include "core/record.h"
#include "recursive/recursive_plan.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double largest_sigma = 4096;

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

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Smooth& smooth) {
  const Shape& shape = shapes.front();
  validate(shape);
  RecursiveSettings settings;
  settings.space = smooth.space;
  add_pass(Axis::x, checked_sigma(smooth.sigma.x, shape), settings.passes);
  add_pass(Axis::y, checked_sigma(smooth.sigma.y, shape), settings.passes);
  return plan_recursive(device, shapes, settings);
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Smooth& parameters) {
  return record::plan(smooth_record(), device, shape, &parameters);
}

Image smooth(const Device& device, const ImageView& image, const Smooth& parameters) {
  return record::run(smooth_record(), device, image, &parameters);
}

const FilterRecord& smooth_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "smooth",
       .category = "smoothing",
       .help = "two-sided exponential of any width, by recursion",
       .paper = "Deriche, Recursively implementing the Gaussian and its derivatives, 1993",
       .parameters = {record::radius(
                          &Smooth::sigma, 0, largest_sigma,
                          {"sigma", "px",
                           "standard deviation of the kernel: S, SXxSY, or P% of the longer side"}),
                      record::space(&Smooth::space, "average in linear light, or the values as stored")},
       .inputs = {record::blend_mask<Smooth>()},
       .traits = {.keeps_constant = true, .keeps_range = true, .linear = true}});
  return filter;
}

}  // namespace satin
