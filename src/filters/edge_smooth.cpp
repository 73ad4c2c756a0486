#include "satin/filters/edge_smooth.h"

#include <cmath>
#include <numbers>

#include "core/record.h"
#include "core/side_inputs.h"
#include "recursive/recursive_plan.h"

namespace satin {
namespace {

constexpr double largest_sigma_s = 4096;
constexpr double smallest_sigma_r = 0.001;
constexpr double largest_sigma_r = 1000;
constexpr int most_iterations = 10;

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

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const EdgeSmooth& smooth) {
  return plan_recursive(device, shapes, settings_of(smooth));
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const EdgeSmooth& parameters) {
  return record::plan(edge_smooth_record(), device, shape, &parameters);
}

Image edge_smooth(const Device& device, const ImageView& image, const EdgeSmooth& parameters) {
  return record::run(edge_smooth_record(), device, image, &parameters);
}

const FilterRecord& edge_smooth_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "edge-smooth",
       .category = "smoothing",
       .help = "smoothing that stops at edges, of the picture or of a guide",
       .paper = "Gastal and Oliveira, Domain transform for edge-aware image and video processing, 2011",
       .parameters = {record::real(&EdgeSmooth::sigma_s, 0, largest_sigma_s,
                                   {"sigma-s", "px", "standard deviation where there are no edges"}),
                      record::real(&EdgeSmooth::sigma_r, smallest_sigma_r, largest_sigma_r,
                                   {"sigma-r", "",
                                    "difference of stored values that counts as an edge, where white is 1"}),
                      record::integer(&EdgeSmooth::iterations, 1, most_iterations,
                                      {"iterations", "", "passes along both axes; more leave fewer streaks"}),
                      record::space(&EdgeSmooth::space, "average in linear light, or the values as stored")},
       .inputs = {record::side(
                      &EdgeSmooth::guide,
                      {"guide", Role::guide, "picture of the same size whose edges stop the smoothing"}),
                  record::blend_mask<EdgeSmooth>()},
       .traits = {.keeps_constant = true, .keeps_range = true}});
  return filter;
}

}  // namespace satin
