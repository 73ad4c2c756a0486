#include "satin/filters/mask.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/measure.h"
#include "core/record.h"
#include "extremes/sliding_extreme.h"
#include "filters/mask_steps.h"
#include "masks/distance.h"
#include "masks/label.h"
#include "pixels/binary_plane.h"
#include "pixels/fixed_threshold.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double largest_length = largest_distance_reach;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check_length(const char* name, double pixels) {
  if (!(pixels >= 0 && pixels <= largest_length))
    refuse(std::string(name) + " " + print_real(pixels) + " pixels: must be from 0 to " +
           print_real(largest_length) + ".");
}

void check_radius(const char* name, double pixels, MaskShape shape) {
  check_length(name, pixels);
  if (shape == MaskShape::box && pixels != std::floor(pixels))
    refuse(std::string(name) + " " + print_real(pixels) +
           " pixels: a box has a whole radius; the shape disc takes fractions.");
}

void check_area(const char* name, int pixels) {
  if (pixels < 0) refuse(std::string(name) + " " + std::to_string(pixels) + ": must be 0 or more.");
}

/// Holes, then specks. What is outside has the other connectivity.
std::vector<ComponentRule> component_rules(const Mask& mask) {
  const bool corners = mask.connectivity == Connectivity::eight;
  std::vector<ComponentRule> rules;
  if (mask.fill_all_holes) {
    rules.push_back({true, corners ? 4 : 8, ~std::uint32_t{0}});
  } else if (mask.fill_holes > 0) {
    rules.push_back({true, corners ? 4 : 8, static_cast<std::uint32_t>(mask.fill_holes)});
  }
  if (mask.min_area > 1)
    rules.push_back({false, corners ? 8 : 4, static_cast<std::uint32_t>(mask.min_area) - 1});
  return rules;
}

void check(const Shape& shape, const Mask& mask) {
  validate(shape);
  if (shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(std::string("A picture of ") + name_of(shape.type) + " is no mask: u8, u16 and f32 are.");
  if (!std::isfinite(mask.level)) refuse("level must be a finite number.");
  check_area("fill-holes", mask.fill_holes);
  check_area("min-area", mask.min_area);
  if (!component_rules(mask).empty()) check_label_size(shape.width, shape.height);
  check_radius("open", mask.open, mask.shape);
  check_radius("close", mask.close, mask.shape);
  check_radius("grow", mask.grow, mask.shape);
  check_radius("shrink", mask.shrink, mask.shape);
  check_length("feather", mask.feather);
}

/// floor(radius^2) of the exact square: an integer between it and its rounded value could only be that value
/// itself.
std::uint32_t whole_square(double radius) {
  const double square = radius * radius;
  const double floor = std::floor(square);
  const bool rounded_up = std::fma(radius, radius, -square) < 0;
  return static_cast<std::uint32_t>(floor == square && rounded_up ? floor - 1 : floor);
}

/// Where a ramp begins, in 1/510 of its width before the outline; seen from outside, 510 less that.
constexpr std::int64_t ramp_start(FeatherSide side) {
  return side == FeatherSide::inward ? 0 : side == FeatherSide::outward ? 510 : 255;
}

/// Value k or more where 255 (start / 510 + (d - 1/2) / w) >= k - 1/2, that is, with w = width / 256, where
/// d >= (65280 + width (2k - 1 - start)) / 130560. Widths are at most 2^22: the square is below 2^63. Where
/// that is 1 or less, every pixel has value k, as no distance is below 1.
DistanceRamp ramp_of(std::int64_t width, std::int64_t start) {
  constexpr std::uint64_t scale = 2 * 255 * 256;
  DistanceRamp ramp;
  for (int k = 1; k <= DistanceRamp::steps; ++k) {
    const std::int64_t least = 65280 + width * (2 * k - 1 - start);
    if (least <= static_cast<std::int64_t>(scale)) continue;
    const auto square = static_cast<std::uint64_t>(least) * static_cast<std::uint64_t>(least);
    ramp.first[k - 1] = static_cast<std::uint32_t>((square + scale * scale - 1) / (scale * scale));
  }
  return ramp;
}

std::int64_t feather_width(const Mask& mask) {
  return static_cast<std::int64_t>(std::floor(mask.feather * 256 + 0.5));
}

using Steps = std::vector<std::unique_ptr<MaskStep>>;

DistanceJob distance_job(const Shape& shape, DistanceResult result) {
  DistanceJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.result = result;
  return job;
}

std::unique_ptr<MaskStep> distance_step(Backend& backend, const DistanceJob& job) {
  return operation_step(backend.prepare(job),
                        [](auto& operation, const ImageView& from, const MutableImageView& to,
                           Stream stream) { operation.run(from, to, stream); });
}

/// Adds the step that lets one side of the outline grow into the other; none if nothing can change.
void add_move(Steps& steps, Backend& backend, const Shape& shape, const Mask& mask, MaskSide shrinking,
              double radius) {
  if (radius < 1) return;
  if (mask.shape == MaskShape::box) {
    const Extreme extreme = shrinking == MaskSide::outside ? Extreme::maximum : Extreme::minimum;
    SlidingExtremeJob job;
    job.width = shape.width;
    job.height = shape.height;
    job.extreme = extreme;
    job.reach_x = job.reach_y = static_cast<std::int64_t>(radius);
    steps.push_back(operation_step(backend.prepare(job), [](auto& operation, const ImageView& from,
                                                            const MutableImageView& to, Stream stream) {
      operation.run({from, {}, to}, stream);
    }));
    return;
  }
  DistanceJob job = distance_job(shape, DistanceResult::moved);
  job.side = shrinking;
  job.most = whole_square(radius) + 1;
  steps.push_back(distance_step(backend, job));
}

DistanceJob feather_job(const Shape& shape, const Mask& mask) {
  const std::int64_t start = ramp_start(mask.feather_side);
  DistanceJob job = distance_job(shape, DistanceResult::ramp);
  job.inside = ramp_of(feather_width(mask), start);
  job.outside = ramp_of(feather_width(mask), 510 - start);
  const std::uint32_t inside_end = job.inside.first[DistanceRamp::steps - 1];
  const std::uint32_t outside_end = job.outside.first[DistanceRamp::steps - 1];
  if (outside_end == 0) job.side = MaskSide::inside;
  if (inside_end == 0) job.side = MaskSide::outside;
  job.most = std::max({inside_end, outside_end, 1U});
  job.inverted = mask.invert;
  return job;
}

Steps steps_of(Backend& backend, const Shape& shape, const Mask& mask) {
  Steps steps;
  const std::vector<ComponentRule> rules = component_rules(mask);
  if (!rules.empty()) steps.push_back(component_step(backend, shape, rules));
  const auto shrink = [&](double radius) { add_move(steps, backend, shape, mask, MaskSide::inside, radius); };
  const auto grow = [&](double radius) { add_move(steps, backend, shape, mask, MaskSide::outside, radius); };
  shrink(mask.open);
  grow(mask.open);
  grow(mask.close);
  shrink(mask.close);
  grow(mask.grow);
  shrink(mask.shrink);
  if (feather_width(mask) != 0) {
    steps.push_back(distance_step(backend, feather_job(shape, mask)));
  } else if (mask.invert && !steps.empty()) {
    steps.push_back(operation_step(backend.prepare(FixedThresholdJob{shape.width, shape.height, {}, true}),
                                   [](auto& operation, const ImageView& from, const MutableImageView& to,
                                      Stream stream) { operation.run(from, 0, to, stream); }));
  }
  return steps;
}

/// How far all steps look together: what a distance of d pixels decides lies within d pixels.
std::int64_t reach_of_steps(const Shape& shape, const Mask& mask) {
  double reach = 2 * std::floor(mask.open) + 2 * std::floor(mask.close) + std::floor(mask.grow) +
                 std::floor(mask.shrink);
  if (feather_width(mask) != 0) reach += std::ceil(std::sqrt(feather_job(shape, mask).most));
  return static_cast<std::int64_t>(reach);
}

double white_of(Type type) { return type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1; }

class PreparedMask final : public PreparedFilter {
 public:
  PreparedMask(Backend& backend, const Shape& shape, const Mask& mask)
      : backend_(backend),
        shape_(binary_shape(shape)),
        value_(mask.level * white_of(shape.type)),
        steps_(steps_of(backend, shape, mask)),
        level_(backend.prepare(FixedThresholdJob{shape.width, shape.height, value_plane(shape),
                                                 mask.invert && steps_.empty()})) {
    shape_.frames = 1;
    for (std::size_t i = 0; i < std::min<std::size_t>(steps_.size(), between_.size()); ++i)
      between_[i] = backend.allocate(byte_size(shape_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = between_[0].size + between_[1].size + level_->workspace_bytes();
    for (const auto& step : steps_) bytes += step->workspace_bytes();
    return bytes;
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* /*measured*/,
           Stream stream) override {
    MutableImageView mask = steps_.empty() ? output : between(0);
    level_->run(inputs[0], value_, mask, stream);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const MutableImageView next = i + 1 == steps_.size() ? output : between(i + 1);
      steps_[i]->run(mask, next, stream);
      mask = next;
    }
  }

 private:
  [[nodiscard]] MutableImageView between(std::size_t step) const {
    return mutable_view_of(between_[step % 2].get(), shape_,
                           backend_.host_memory ? Memory::host : Memory::device);
  }

  Backend& backend_;
  Shape shape_;
  double value_;
  Steps steps_;
  std::unique_ptr<FixedThresholdOperation> level_;
  std::array<Buffer, 2> between_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Mask& parameters) {
  const Shape shape = shapes.front();
  check(shape, parameters);
  FilterPlan plan{binary_shape(shape), {range_of(shape, {.magnitudes = false})}};
  if (component_rules(parameters).empty()) {  // a component may go from end to end of the picture
    const std::int64_t reach = reach_of_steps(shape, parameters);
    plan.reach = Reach{reach, reach};
  }
  plan.prepare = [&backend = device.backend(), shape, parameters](std::int64_t width, std::int64_t height) {
    return std::make_unique<PreparedMask>(backend, resized(shape, width, height), parameters);
  };
  return plan;
}

double reach(const Mask& mask, const Shape& shape) {
  if (!component_rules(mask).empty()) return static_cast<double>(std::max(shape.width, shape.height));
  return 2 * mask.open + 2 * mask.close + mask.grow + mask.shrink + (mask.feather > 0 ? mask.feather + 1 : 0);
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Mask& parameters) {
  return record::plan(mask_record(), device, shape, &parameters);
}

Image mask(const Device& device, const ImageView& image, const Mask& parameters) {
  return record::run(mask_record(), device, image, &parameters);
}

const FilterRecord& mask_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "mask",
       .category = "masks",
       .help =
           "a picture as a mask: holes, specks, open, close, grow, shrink, feather, invert, in this order",
       .paper = "Meijster, Roerdink and Hesselink, A general algorithm for computing distance transforms in "
                "linear time, 2000",
       .parameters =
           {
               record::real(&Mask::level, -1e30, 1e30,
                            {"level", "", "values above this become white, 0 black to 1 white"}),
               record::integer(&Mask::fill_holes, 0, 2147483647,
                               {"fill-holes", "px", "holes of up to this area become white"}),
               record::flag(&Mask::fill_all_holes, {"fill-all-holes", "", "holes of any area become white"}),
               record::integer(&Mask::min_area, 0, 2147483647,
                               {"min-area", "px", "white specks of a smaller area become black"}),
               record::real(&Mask::open, 0, largest_length,
                            {"open", "px", "radius of shrinking, then growing: removes what is thin"}),
               record::real(&Mask::close, 0, largest_length,
                            {"close", "px", "radius of growing, then shrinking: closes what is narrow"}),
               record::real(&Mask::grow, 0, largest_length, {"grow", "px", "white grows by this radius"}),
               record::real(&Mask::shrink, 0, largest_length,
                            {"shrink", "px", "white shrinks by this radius"}),
               record::real(&Mask::feather, 0, largest_length,
                            {"feather", "px", "width of a ramp at the outline"}),
               record::choice(&Mask::feather_side, {"inward", "outward", "centred"},
                              {"feather-side", "", "side of the outline where the ramp lies"}),
               record::flag(&Mask::invert, {"invert", "", "exchange black and white, at the end"}),
               record::choice(&Mask::shape, {"disc", "box"},
                              {"shape", "", "shape that a radius stands for; boxes take whole radii"}),
               record::choice(&Mask::connectivity, {"4", "8"},
                              {"connectivity",
                               "", "neighbours of a white pixel: those that share a side, or a corner too"}),
           },
       .space = Space::encoded,
       .traits = {.masks_alone = true},
       .reach = record::reach<Mask>(reach)});
  return filter;
}

}  // namespace satin
