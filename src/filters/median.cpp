// The filter median: any percentile of the window around every pixel, for each channel.
//
// order/rank.h chooses the algorithm. This file checks parameters, reads radius maps and masks, and turns a
// fraction of white into a threshold in stored values.

#include "satin/filters/median.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "core/backend.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "depth/enlarge_map.h"
#include "extremes/sliding_extreme.h"
#include "masks/validity_mask.h"
#include "means/kernel_boxes.h"
#include "order/rank.h"
#include "satin/error.h"

namespace satin {
namespace {

enum Input { picture, radius_map, mask };

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

Radius256 checked_reach(double pixels, const char* name) {
  check_range(name, pixels, 0, largest_rank_reach);
  return quantised_radius(pixels);
}

ReachField reach_field(const Median& median, const Shape& shape, const Shape& map) {
  ReachField field;
  if (map.width == 0) {
    if (median.radius_max) refuse("radius-max needs a radius map: give one, or use radius.");
    field.x = static_cast<std::int32_t>(whole_pixels(median.radius.x, shape, largest_rank_reach));
    field.y = static_cast<std::int32_t>(whole_pixels(median.radius.y, shape, largest_rank_reach));
    return field;
  }
  if (!median.radius_max) refuse("A radius map needs radius-max, the radius at the map's largest value.");
  field.from_map = true;
  field.map_type = map.type;
  field.low = checked_reach(median.radius_min, "radius-min");
  field.high = checked_reach(*median.radius_max, "radius-max");
  return field;
}

/// Returns the largest difference that keeps a pixel, in stored values.
double stored_threshold(Type type, double threshold) {
  check_range("threshold", threshold, 0, type == Type::f32 ? 1e30 : 1);
  if (type == Type::f32) return threshold;
  return std::floor(threshold * (type == Type::u8 ? 0xFF : 0xFFFF));
}

RankJob rank_job(const Median& median, const Shape& shape, const Shape& map, std::uint32_t mask_maximum) {
  check_range("percent", median.percent, 0, 100);
  RankJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.channels = shape.channels;
  job.type = shape.type;
  job.weighted = shape.alpha == Alpha::straight;
  job.percent = percent_of(median.percent);
  job.reach = reach_field(median, shape, map);
  job.border = median.border;
  if (job.border == Border::constant) job.border_keys.fill(border_key(shape.type, median.border_value));
  job.mask_maximum = mask_maximum;
  job.excludes = median.mask_mode == MaskMode::exclude;
  if (job.excludes && mask_maximum == 0)
    refuse("mask-mode exclude needs a mask: give one, or leave mask-mode out.");
  job.threshold = stored_threshold(shape.type, median.threshold);
  return job;
}

class PreparedMedian final : public PreparedFilter {
 public:
  PreparedMedian(Backend& backend, const RankJob& job) : rank_(backend.prepare(job)) {
    if (job.type == Type::f32 && job.excludes)
      valid_.emplace(backend, Shape{job.width, job.height, job.channels, job.type}, job.mask_maximum);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rank_->workspace_bytes() + (valid_ ? valid_->workspace_bytes() : 0);
  }

  ImageView counted(std::span<const ImageView> inputs, Stream stream) override {
    return valid_ ? valid_->select(inputs[picture], inputs[mask], stream) : inputs[picture];
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured*,
           Stream stream) override {
    rank_->run({inputs[picture], inputs[radius_map], inputs[mask], output}, stream);
  }

 private:
  std::unique_ptr<RankOperation> rank_;
  std::optional<ValidPixels> valid_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Median& median) {
  const Shape shape = shapes[picture];
  check_pixels(shape);
  check_radius_map(shapes[radius_map], shape);
  const Shape map = enlarged_map_shape(shapes[radius_map], shape);
  const RankJob job = rank_job(median, shape, map, checked_mask_maximum(shapes[mask], shape));
  const LargestReach largest = largest_reach(job.reach);
  const FilterPlan filter{shape,
                          {range_of(shape, {.magnitudes = false}), float_input(shapes, radius_map)},
                          Reach{largest.x, largest.y, job.border == Border::wrap},
                          prepare_sized<PreparedMedian>(device, job)};
  return with_enlarged_map(device, filter, shapes, radius_map, {job.reach.low, job.reach.high});
}

double reach(const Median& median, const Shape& shape) {
  if (median.radius_max) return std::max(median.radius_min, *median.radius_max) + 0.5;
  return larger_radius(median.radius, shape) + 0.5;
}

}  // namespace

const FilterRecord& median_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "median",
       .category = "order",
       .help = "median or any percentile in a window of any radius",
       .paper = "Perreault and Hebert, Median filtering in constant time, 2007",
       .parameters =
           {record::whole_radius(
                &Median::radius, 0, largest_rank_reach,
                {"radius", "px", "radius of the window in whole pixels: R, RXxRY, or P% of the longer side"}),
            record::real(
                &Median::percent, 0, 100,
                {"percent", "%",
                 "percentile: 0 is the smallest value, 50 the median, 100 the largest; among n sorted values"
                 " the one at rank ceil(n percent / 100), at least 1"}),
            record::usual(
                0, 0.5,
                record::real(
                    &Median::threshold, 0, 1e30,
                    {"threshold", "",
                     "replace only values that differ by more than this share of white (floats: than "
                     "this value)"})),
            record::seldom(record::real(&Median::radius_min, 0, largest_rank_reach,
                                        {"radius-min", "px", "radius where the radius map is 0"})),
            record::seldom(record::real(&Median::radius_max, 0, largest_rank_reach,
                                        {"radius-max", "px",
                                         "radius where the radius map is at its maximum (floats: at 1)"})),
            record::border(&Median::border), record::border_value(&Median::border_value),
            record::seldom(
                record::choice(&Median::mask_mode, {"blend", "exclude"},
                               {"mask-mode", "", "exclude: windows leave out pixels where the mask is 0"}))},
       .inputs = {record::side(&Median::radius_map,
                               {"radius-map", Role::radius_map,
                                "radius of each pixel, from radius-min at 0 to radius-max at white,"
                                " rounded to whole pixels"}),
                  record::blend_mask<Median>()},
       .space = Space::encoded,
       .traits = {.keeps_constant = true, .keeps_range = true},
       .reach = record::reach<Median>(reach)});
  return filter;
}

}  // namespace satin
