// The filters erode and dilate: minimum and maximum over a window of any radius, at a cost that does not
// depend on it (van Herk 1992, Gil and Werman 1993; extremes/sliding_extreme.h). opening and closing run
// both, one after the other.

#include "satin/filters/morphology.h"

#include <algorithm>
#include <array>
#include <memory>

#include "core/backend.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "extremes/sliding_extreme.h"

namespace satin {
namespace {

constexpr double largest_reach = 1 << 20;

enum Input { picture, mask };

template <class Key>
void set_outside(SlidingExtremeJob& job, std::int32_t key) {
  std::array<Key, 4> pixel{};
  pixel.fill(static_cast<Key>(key));
  if (job.weighted) hide_colours(pixel.data(), job.channels, job.extreme);
  std::copy(pixel.begin(), pixel.end(), job.border_keys.begin());
}

template <class P>
SlidingExtremeJob extreme_job(const Shape& shape, std::uint32_t mask_maximum, Extreme extreme,
                              const P& parameters) {
  SlidingExtremeJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.channels = shape.channels;
  job.type = shape.type;
  job.weighted = shape.alpha == Alpha::straight;
  job.extreme = extreme;
  job.reach_x = whole_pixels(parameters.radius.x, shape, largest_reach);
  job.reach_y = whole_pixels(parameters.radius.y, shape, largest_reach);
  job.border = parameters.border;
  job.mask_maximum = mask_maximum;
  if (job.border != Border::constant) return job;
  const std::int32_t key = border_key(shape.type, parameters.border_value);
  if (shape.type == Type::u8) set_outside<std::uint8_t>(job, key);
  if (shape.type == Type::u16) set_outside<std::uint16_t>(job, key);
  if (shape.type == Type::f32) set_outside<FloatKey>(job, key);
  return job;
}

/// An extreme, then the other one of its result. Only the second one blends, with the picture.
class TwoExtremes final : public PreparedFilter {
 public:
  TwoExtremes(Backend& backend, const SlidingExtremeJob& first, const SlidingExtremeJob& second)
      : first_(backend.prepare(first)),
        second_(backend.prepare(second)),
        between_(backend.allocate(Shape{first.width, first.height, first.channels, first.type,
                                        first.weighted ? Alpha::straight : Alpha::none})) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return first_->workspace_bytes() + second_->workspace_bytes() + byte_size(between_.shape());
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured*,
           Stream stream) override {
    first_->run({inputs[picture], {}, between_.view(), {}}, stream);
    second_->run({between_.view(), inputs[mask], output, inputs[picture]}, stream);
  }

 private:
  std::unique_ptr<SlidingExtremeOperation> first_;
  std::unique_ptr<SlidingExtremeOperation> second_;
  Image between_;
};

template <class P, Extreme extreme>
FilterPlan describe(const Device& device, std::span<const Shape> shapes, const P& parameters) {
  const Shape shape = shapes[picture];
  check_pixels(shape);
  const std::uint32_t mask_maximum = checked_mask_maximum(shapes[mask], shape);
  const SlidingExtremeJob job = extreme_job(shape, mask_maximum, extreme, parameters);
  const auto run = [](SlidingExtremeOperation& operation, std::span<const ImageView> inputs,
                      const MutableImageView& output, Measured*, Stream stream) {
    operation.run({inputs[picture], inputs[mask], output, {}}, stream);
  };
  const Reach reach{job.reach_x, job.reach_y, job.border == Border::wrap};
  return {shape,
          {range_of(shape, {.magnitudes = false})},
          reach,
          prepare_one(device, job, run),
          &Backend::sliding_windows};
}

template <class P, Extreme extreme>
FilterPlan describe_two(const Device& device, std::span<const Shape> shapes, const P& parameters) {
  constexpr Extreme other = extreme == Extreme::minimum ? Extreme::maximum : Extreme::minimum;
  FilterPlan filter = describe<P, extreme>(device, shapes, parameters);
  const std::uint32_t mask_maximum = checked_mask_maximum(shapes[mask], shapes[picture]);
  const SlidingExtremeJob first = extreme_job(shapes[picture], 0, extreme, parameters);
  const SlidingExtremeJob second = extreme_job(shapes[picture], mask_maximum, other, parameters);
  filter.reach = Reach{2 * first.reach_x, 2 * first.reach_y, first.border == Border::wrap};
  filter.prepare = prepare_sized<TwoExtremes>(device, first, second);
  return filter;
}

/// Returns how far `passes` extremes read, one after the other.
template <class P, int passes>
double reach_of(const P& extreme, const Shape& shape) {
  return passes * (larger_radius(extreme.radius, shape) + 0.5);
}

template <class P>
FilterRecord extreme_record(record::Planner<P> describe, double (*reach)(const P&, const Shape&),
                            const char* name, const char* help) {
  return record::of<P>(
      describe,
      {.name = name,
       .category = "morphology",
       .help = help,
       .paper = "van Herk, Local minimum and maximum filters, 1992; Gil and Werman, Min, median and max "
                "filters, 1993",
       .parameters = {record::whole_radius(
                          &P::radius, 0, largest_reach,
                          {"radius", "px",
                           "radius of the window in whole pixels: R, RXxRY, or P% of the longer side"}),
                      record::border(&P::border), record::border_value(&P::border_value)},
       .inputs = {record::blend_mask<P>()},
       .space = Space::encoded,
       .traits = {.keeps_constant = true, .keeps_range = true},
       .reach = record::reach<P>(reach)});
}

}  // namespace

const FilterRecord& erode_record() {
  static const FilterRecord filter =
      extreme_record<Erode>(&describe<Erode, Extreme::minimum>, &reach_of<Erode, 1>, "erode",
                            "smallest value in a window of any radius: dark areas grow");
  return filter;
}

const FilterRecord& dilate_record() {
  static const FilterRecord filter =
      extreme_record<Dilate>(&describe<Dilate, Extreme::maximum>, &reach_of<Dilate, 1>, "dilate",
                             "largest value in a window of any radius: bright areas grow");
  return filter;
}

const FilterRecord& opening_record() {
  static const FilterRecord filter = extreme_record<Opening>(
      &describe_two<Opening, Extreme::minimum>, &reach_of<Opening, 2>, "opening",
      "smallest, then largest value in a window: bright things narrower than it vanish");
  return filter;
}

const FilterRecord& closing_record() {
  static const FilterRecord filter = extreme_record<Closing>(
      &describe_two<Closing, Extreme::maximum>, &reach_of<Closing, 2>, "closing",
      "largest, then smallest value in a window: dark things narrower than it vanish");
  return filter;
}

}  // namespace satin
