// The filter mask: turns a picture into a mask by a level and applies a chain of steps to it.
//
// The steps are, in this order: filling holes and removing specks by connected components, moving the outline
// (opening, closing, growing, shrinking) by exact distances for discs or by sliding extremes for boxes, and a
// feathered outline. Two pictures are enough for any chain.

#include "satin/filters/mask.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "extremes/sliding_extreme.h"
#include "masks/distance.h"
#include "masks/regions.h"
#include "pixels/fixed_threshold.h"
#include "pixels/pixels.h"
#include "satin/error.h"

namespace satin {
namespace {

/// Steps make one mask from another. Masks are u8 with one channel, 0 and 255, in the backend's memory.
using Steps = std::vector<std::unique_ptr<PreparedFilter>>;

/// A step of one operation, run by run(operation, mask, output, stream).
template <class Operation, class Run>
std::unique_ptr<PreparedFilter> operation_step(std::unique_ptr<Operation> operation, Run run) {
  const auto step = [run](Operation& prepared, std::span<const ImageView> inputs,
                          const MutableImageView& output, Measured*,
                          Stream stream) { run(prepared, inputs[0], output, stream); };
  return std::make_unique<OneOperation<Operation, decltype(step)>>(std::move(operation), step);
}

/// Components of up to `most_area` pixels change their value. Components of zeros that touch the border keep
/// it.
struct ComponentRule {
  bool zeros = false;  ///< the rule is for components of zeros
  int connectivity = 8;
  std::uint32_t most_area = 0;
};

/// Applies rules for components one after another: labels the components of a rule, decides the value of
/// each, and gives it to their pixels.
class ComponentStep final : public PreparedFilter {
 public:
  ComponentStep(Backend& backend, const Shape& shape, std::span<const ComponentRule> rules)
      : backend_(backend),
        labels_(backend.allocate({shape.width, shape.height, 1, Type::u32})),
        relabel_(backend.prepare(RelabelJob{shape.width, shape.height, Type::u8})) {
    for (const ComponentRule& rule : rules)
      passes_.push_back(
          {rule, backend.prepare(LabelJob{shape.width, shape.height, rule.connectivity, rule.zeros})});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = byte_size(labels_.shape()) + own_table_.size + relabel_->workspace_bytes();
    for (const Pass& pass : passes_) bytes += pass.label->workspace_bytes();
    return bytes;
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured*,
           Stream stream) override {
    ImageView source = inputs[0];
    for (const Pass& pass : passes_) {
      const std::uint32_t count = pass.label->run(source, labels_.view(), stream);
      table_.assign(1, pass.rule.zeros ? 255 : 0);
      for (const RegionShape& shape : shapes_of(pass, count, stream))
        table_.push_back(value_of(shape, pass.rule));
      relabel_->run({labels_.view(), own_table(stream), output}, stream);
      source = output;
    }
  }

 private:
  struct Pass {
    ComponentRule rule;
    std::unique_ptr<LabelOperation> label;
  };

  [[nodiscard]] std::uint32_t value_of(const RegionShape& shape, const ComponentRule& rule) const {
    const Shape& picture = labels_.shape();
    const bool stays =
        shape.area > rule.most_area || (rule.zeros && touches_border(shape, picture.width, picture.height));
    return stays == rule.zeros ? 0 : 255;
  }

  /// Returns the shapes of the components in host memory.
  std::span<const RegionShape> shapes_of(const Pass& pass, std::uint32_t count, Stream stream) {
    if (count == 0) return {};
    const RegionShape* shapes = pass.label->describe(stream);
    if (backend_.host_memory) return {shapes, count};
    shapes_.resize(count);
    backend_.download(shapes_.data(), shapes, count * sizeof(RegionShape), stream);
    return shapes_;
  }

  /// Returns the table in the backend's memory.
  const std::uint32_t* own_table(Stream stream) {
    if (backend_.host_memory) return table_.data();
    const std::size_t bytes = table_.size() * sizeof table_[0];
    if (own_table_.size < bytes) own_table_ = backend_.allocate(bytes);
    backend_.upload(own_table_.get(), table_.data(), bytes, stream);
    return reinterpret_cast<const std::uint32_t*>(own_table_.get());
  }

  Backend& backend_;
  Image labels_;
  std::unique_ptr<RelabelJob::Operation> relabel_;
  std::vector<Pass> passes_;
  // These have an entry for each component and grow when more are found.
  std::vector<RegionShape> shapes_;   ///< copies for the host of a device
  std::vector<std::uint32_t> table_;  ///< value of the pixels of every label
  Buffer own_table_;                  ///< the table in a device's memory
};

constexpr double largest_length = largest_distance_reach;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check_radius(const char* name, double pixels, MaskShape shape) {
  check_range(name, pixels, 0, largest_length);
  if (shape == MaskShape::box && pixels != std::floor(pixels))
    refuse(std::string(name) + " " + print_real(pixels) +
           " pixels: a box needs a whole radius; the shape disc accepts fractions.");
}

/// Rules that fill holes, then remove specks. Zeros have the other connectivity than the white of the mask.
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
  check_pixels(shape);
  if (!std::isfinite(mask.level)) refuse("level must be a finite number.");
  check_range("fill-holes", mask.fill_holes, 0, INT32_MAX);
  check_range("min-area", mask.min_area, 0, INT32_MAX);
  if (!component_rules(mask).empty()) check_label_size(shape.width, shape.height);
  check_radius("open", mask.open, mask.shape);
  check_radius("close", mask.close, mask.shape);
  check_radius("grow", mask.grow, mask.shape);
  check_radius("shrink", mask.shrink, mask.shape);
  check_range("feather", mask.feather, 0, largest_length);
}

/// Returns floor(radius^2) of the exact square. Rounding to double can only reach the next integer, which the
/// residual of a fused multiply-add detects.
std::uint32_t whole_square(double radius) {
  const double square = radius * radius;
  const double floor = std::floor(square);
  const bool rounded_up = std::fma(radius, radius, -square) < 0;
  return static_cast<std::uint32_t>(floor == square && rounded_up ? floor - 1 : floor);
}

/// Returns the distance from the start of the ramp to the outline, in 1/510 of the ramp's width.
constexpr std::int64_t ramp_start(FeatherSide side) {
  return side == FeatherSide::inward ? 0 : side == FeatherSide::outward ? 510 : 255;
}

/// Finds the least squared distance at which the ramp reaches each value k.
///
/// The value is k or more where 255 (start / 510 + (d - 1/2) / w) >= k - 1/2, which for w = width / 256 is
/// d >= (65280 + width (2k - 1 - start)) / 130560. Widths are at most 2^22, so the square is below 2^63.
/// Distances are at least 1, so a bound of 1 or less holds for every pixel.
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

DistanceJob distance_job(const Shape& shape, DistanceResult result) {
  DistanceJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.result = result;
  return job;
}

std::unique_ptr<PreparedFilter> distance_step(Backend& backend, const DistanceJob& job) {
  return operation_step(backend.prepare(job),
                        [](auto& operation, const ImageView& from, const MutableImageView& to,
                           Stream stream) { operation.run(from, to, stream); });
}

/// Adds the step that moves the outline into the side `shrinking`; none for a radius below 1.
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
  if (!rules.empty()) steps.push_back(std::make_unique<ComponentStep>(backend, shape, rules));
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

/// Returns the reach of all steps together. A decision by a distance of d pixels depends on pixels within d.
std::int64_t reach_of_steps(const Shape& shape, const Mask& mask) {
  double reach = 2 * std::floor(mask.open) + 2 * std::floor(mask.close) + std::floor(mask.grow) +
                 std::floor(mask.shrink);
  if (feather_width(mask) != 0) reach += std::ceil(std::sqrt(feather_job(shape, mask).most));
  return static_cast<std::int64_t>(reach);
}

class PreparedMask final : public PreparedFilter {
 public:
  PreparedMask(Backend& backend, const Shape& shape, const Mask& mask)
      : value_(mask.level * white_of(shape.type)),
        steps_(steps_of(backend, shape, mask)),
        level_(backend.prepare(FixedThresholdJob{shape.width, shape.height, value_plane(shape),
                                                 mask.invert && steps_.empty()})) {
    for (std::size_t i = 0; i < std::min<std::size_t>(steps_.size(), between_.size()); ++i)
      between_[i] = backend.allocate(binary_shape(shape));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = level_->workspace_bytes();
    for (const Image& mask : between_) bytes += mask.empty() ? 0 : byte_size(mask.shape());
    for (const auto& step : steps_) bytes += step->workspace_bytes();
    return bytes;
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* /*measured*/,
           Stream stream) override {
    MutableImageView mask = steps_.empty() ? output : between_[0].view();
    level_->run(inputs[0], value_, mask, stream);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const MutableImageView next = i + 1 == steps_.size() ? output : between_[(i + 1) % 2].view();
      const ImageView source = mask;
      steps_[i]->run(std::span(&source, 1), next, nullptr, stream);
      mask = next;
    }
  }

 private:
  double value_;
  Steps steps_;
  std::unique_ptr<FixedThresholdOperation> level_;
  std::array<Image, 2> between_;  ///< masks between two steps
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Mask& parameters) {
  const Shape shape = shapes.front();
  check(shape, parameters);
  FilterPlan plan{binary_shape(shape), {range_of(shape, {.magnitudes = false})}};
  if (component_rules(parameters).empty()) {  // components may span the picture and have no finite reach
    const std::int64_t reach = reach_of_steps(shape, parameters);
    plan.reach = Reach{reach, reach};
  }
  plan.prepare = [&backend = device.backend(), shape, parameters](std::int64_t width, std::int64_t height) {
    return std::make_unique<PreparedMask>(backend, resized(shape, width, height), parameters);
  };
  return plan;
}

double reach(const Mask& mask, const Shape& shape) {
  if (!component_rules(mask).empty()) return longer_side(shape);
  return 2 * mask.open + 2 * mask.close + mask.grow + mask.shrink + (mask.feather > 0 ? mask.feather + 1 : 0);
}

std::vector<ParameterRecord> parameters() {
  return {
      record::real(&Mask::level, -1e30, 1e30,
                   {"level", "", "values above this level become white, from 0 (black) to 1 (white)"}),
      record::usual_decades(0, 10000,
                            record::integer(&Mask::fill_holes, 0, 2147483647,
                                            {"fill-holes", "px", "holes of up to this area become white"})),
      record::flag(&Mask::fill_all_holes, {"fill-all-holes", "", "holes of any area become white"}),
      record::usual_decades(
          0, 10000,
          record::integer(&Mask::min_area, 0, 2147483647,
                          {"min-area", "px", "white specks of a smaller area become black"})),
      record::real(&Mask::open, 0, largest_length,
                   {"open", "px", "radius of an opening (shrink, then grow), which removes thin areas"}),
      record::real(&Mask::close, 0, largest_length,
                   {"close", "px", "radius of a closing (grow, then shrink), which fills narrow gaps"}),
      record::real(&Mask::grow, 0, largest_length,
                   {"grow", "px", "white grows by this radius", "", ParameterRole::strength}),
      record::real(&Mask::shrink, 0, largest_length, {"shrink", "px", "white shrinks by this radius"}),
      record::real(&Mask::feather, 0, largest_length, {"feather", "px", "width of a ramp at the outline"}),
      record::choice(&Mask::feather_side, {"inward", "outward", "centred"},
                     {"feather-side", "", "side of the outline that the ramp covers"}),
      record::flag(&Mask::invert, {"invert", "", "exchange black and white, at the end"}),
      record::seldom(record::choice(&Mask::shape, {"disc", "box"},
                                    {"shape", "", "shape of a radius; boxes need whole radii"})),
      record::seldom(record::choice(
          &Mask::connectivity, {"4", "8"},
          {"connectivity", "", "neighbours of a white pixel: 4 share a side with it, 8 a side or a corner"})),
  };
}

}  // namespace

const FilterRecord& mask_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "mask",
       .category = "masks",
       .help = "make a mask: fill holes, drop specks, open, close, grow, shrink, feather, invert, in this "
               "order",
       .paper = "Meijster, Roerdink and Hesselink, A general algorithm for computing distance transforms in "
                "linear time, 2000",
       .parameters = parameters(),
       .shape = OutputShape::grey,
       .space = Space::encoded,
       .traits = {.masks_alone = true},
       .reach = record::reach<Mask>(reach)});
  return filter;
}

}  // namespace satin
