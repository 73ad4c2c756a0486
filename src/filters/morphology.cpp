// The filters erode and dilate: minimum and maximum over a window of any radius, at a cost that does not
// depend on it (van Herk 1992, Gil and Werman 1993; extremes/sliding_extreme.h).

#include "satin/filters/morphology.h"

#include <algorithm>
#include <array>

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

template <class P, Extreme extreme>
FilterPlan describe(const Device& device, std::span<const Shape> shapes, const P& parameters) {
  const Shape shape = shapes[picture];
  check_pixels(shape);
  const std::uint32_t mask_maximum = checked_mask_maximum(shapes[mask], shape);
  const SlidingExtremeJob job = extreme_job(shape, mask_maximum, extreme, parameters);
  const auto run = [](SlidingExtremeOperation& operation, std::span<const ImageView> inputs,
                      const MutableImageView& output, Measured*, Stream stream) {
    operation.run({inputs[picture], inputs[mask], output}, stream);
  };
  const Reach reach{job.reach_x, job.reach_y, job.border == Border::wrap};
  return {shape,
          {range_of(shape, {.magnitudes = false})},
          reach,
          prepare_one(device, job, run),
          &Backend::sliding_windows};
}

template <class P, Extreme extreme>
FilterRecord extreme_record(const char* name, const char* help) {
  return record::of<P>(
      &describe<P, extreme>,
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
       .reach = record::reach<P>([](const P& extremum, const Shape& shape) {
         return larger_radius(extremum.radius, shape) + 0.5;
       })});
}

}  // namespace

const FilterRecord& erode_record() {
  static const FilterRecord filter = extreme_record<Erode, Extreme::minimum>(
      "erode", "smallest value in a window of any radius: dark areas grow");
  return filter;
}

const FilterRecord& dilate_record() {
  static const FilterRecord filter = extreme_record<Dilate, Extreme::maximum>(
      "dilate", "largest value in a window of any radius: bright areas grow");
  return filter;
}

}  // namespace satin
