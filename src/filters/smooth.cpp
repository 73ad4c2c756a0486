// Filters on recursive smoothing: `smooth`, a two-sided exponential, and `edge-smooth`, the domain transform.
//
// Both run passes of the first-order recursion of recursive/recursive.h forward and backward along each axis.
// `smooth` has one coefficient for each axis, derived from the standard deviation. `edge-smooth` repeats both
// axes with decreasing deviations and takes each coefficient from the distance between two neighbours, which
// grows with their difference.

#include "satin/filters/smooth.h"
#include "satin/filters/edge_smooth.h"

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "core/prepared_filter.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "pixels/transfer.h"
#include "recursive/recursive.h"
#include "satin/param.h"

namespace satin {
namespace {

struct RecursiveSettings {
  Space space = Space::linear;
  std::vector<RecursivePass> passes;
  bool is_guided = false;
  double contrast = 0;  ///< distance that a difference of white in one channel of the guide adds
};

Guide guide_of(const Shape& shape, double contrast) {
  const double white = white_of(shape.type);
  Guide guide{shape.type, shape.channels, shape.alpha == Alpha::straight, contrast / white};
  if (guide.weighted) guide.contrast /= white;
  return guide;
}

RecursiveJob recursive_job(std::span<const Shape> inputs, const RecursiveSettings& settings) {
  const Shape& picture = inputs.front();
  const Transfer transfer = transfer_for(settings.space, picture.type);
  RecursiveJob job;
  job.width = picture.width;
  job.height = picture.height;
  job.read = read_pixels(picture, transfer, 1);
  job.write = {picture.type, transfer, 0};
  job.passes = settings.passes;
  if (settings.is_guided) {
    const bool given = inputs[1].width != 0;
    if (given) {
      validate(inputs[1]);
      check_side_size(inputs[1], picture, "guide");
      check_type(inputs[1], "guide");
    }
    job.guide = guide_of(given ? inputs[1] : picture, settings.contrast);
  }
  job.mask_maximum = checked_mask_maximum(inputs.back(), picture);
  return job;
}

/// `inputs` are the shapes of the picture, of the guide if `is_guided` (width 0: the picture itself) and of
/// the mask (width 0: none). Throws Error(usage) for shapes that do not fit.
FilterPlan plan_recursive(const Device& device, std::span<const Shape> inputs,
                          const RecursiveSettings& settings) {
  const RecursiveJob job = recursive_job(inputs, settings);
  const auto run = [guided = job.guide.has_value()](
                       RecursiveOperation& recursive, std::span<const ImageView> images,
                       const MutableImageView& output, Measured* measured, Stream stream) {
    RecursiveImages of_run;
    of_run.source = images.front();
    if (guided) of_run.guide = images[1].empty() ? images.front() : images[1];
    of_run.mask = images.back();
    of_run.output = output;
    of_run.measured = measured;
    recursive.run(of_run, stream);
  };
  const bool floats = job.read.type == Type::f32 || (job.guide && job.guide->type == Type::f32);
  return {inputs.front(), {.in_run = floats}, {}, prepare_one(device, job, run)};
}

constexpr double largest_sigma = 4096;

double checked_sigma(const Length& sigma, const Shape& shape) {
  const double pixels = sigma.pixels(longer_side(shape));
  check_range("sigma", pixels, 0, largest_sigma);
  return pixels;
}

/// Inverts sigma^2 = 2 (1 - alpha) / alpha^2, the variance of the kernel alpha / (2 - alpha) (1 - alpha)^|n|.
double alpha_of(double sigma) { return 2 / (1 + std::sqrt(1 + 2 * sigma * sigma)); }

void add_pass(Axis axis, double sigma, std::vector<RecursivePass>& passes) {
  if (const double alpha = alpha_of(sigma); alpha < 1) passes.push_back({axis, 0, 1 - alpha});
}

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Smooth& smooth) {
  const Shape& shape = shapes.front();
  RecursiveSettings settings;
  settings.space = smooth.space;
  add_pass(Axis::x, checked_sigma(smooth.sigma.x, shape), settings.passes);
  add_pass(Axis::y, checked_sigma(smooth.sigma.y, shape), settings.passes);
  return plan_recursive(device, shapes, settings);
}

constexpr double largest_sigma_s = 4096;
constexpr double smallest_sigma_r = 0.001;
constexpr double largest_sigma_r = 1000;
constexpr int most_iterations = 10;

/// Returns the standard deviation of iteration i = 1..N (Gastal and Oliveira, equation 14). The squares of
/// all add up to sigma_s^2.
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
  settings.is_guided = true;
  settings.contrast = smooth.sigma_s / smooth.sigma_r;
  if (smooth.sigma_s == 0) return settings;
  for (int i = 1; i <= smooth.iterations; ++i) {
    RecursivePass pass;
    // exp(-sqrt(2) d / sigma_i) = 2^-(rate d)
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

const FilterRecord& smooth_record() {
  static const FilterRecord filter = record::of<Smooth>(
      &describe,
      {.name = "smooth",
       .category = "smoothing",
       .help = "recursive two-sided exponential filter of any width",
       .paper = "Deriche, Recursively implementing the Gaussian and its derivatives, 1993",
       .parameters = {record::radius(
                          &Smooth::sigma, 0, largest_sigma,
                          {"sigma", "px",
                           "standard deviation of the kernel: S, SXxSY, or P% of the longer side"}),
                      record::space(&Smooth::space, "average in linear light, or average the stored values")},
       .inputs = {record::blend_mask<Smooth>()},
       .traits = {.keeps_constant = true, .keeps_range = true, .linear = true}});
  return filter;
}

const FilterRecord& edge_smooth_record() {
  static const FilterRecord filter = record::of<EdgeSmooth>(
      &describe,
      {.name = "edge-smooth",
       .category = "smoothing",
       .help = "smooth up to the edges of the picture or of a guide",
       .paper = "Gastal and Oliveira, Domain transform for edge-aware image and video processing, 2011",
       .parameters =
           {record::usual_decades(
                0, 200,
                record::real(&EdgeSmooth::sigma_s, 0, largest_sigma_s,
                             {"sigma-s", "px", "standard deviation where there are no edges"})),
            record::usual_decades(
                0.01, 2,
                record::real(
                    &EdgeSmooth::sigma_r, smallest_sigma_r, largest_sigma_r,
                    {"sigma-r", "", "difference of stored values that counts as an edge, where white is 1"})),
            record::integer(
                &EdgeSmooth::iterations, 1, most_iterations,
                {"iterations", "", "number of passes along both axes; more of them leave fewer streaks"}),
            record::space(&EdgeSmooth::space, "average in linear light, or average the stored values")},
       .inputs = {record::side(
                      &EdgeSmooth::guide,
                      {"guide", Role::guide, "picture of the same size whose edges stop the smoothing"}),
                  record::blend_mask<EdgeSmooth>()},
       .traits = {.keeps_constant = true, .keeps_range = true}});
  return filter;
}

}  // namespace satin
