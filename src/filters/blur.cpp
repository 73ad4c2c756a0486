// The filter blur: one to three box means in a row, with one radius or with a radius for each pixel from a
// map.
//
// A tent is two boxes and an approximate gaussian three (Heckbert 1986). Means of boxes come from summed-area
// tables or sliding windows (means/box_mean.h), so the time does not depend on the radius. Between two boxes
// the picture holds working values, not stored ones: only the last box rounds to the stored type.

#include "satin/filters/blur.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/backend.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "depth/enlarge_map.h"
#include "masks/validity_mask.h"
#include "means/box_mean.h"
#include "means/kernel_boxes.h"
#include "pixels/transfer.h"
#include "satin/error.h"

namespace satin {
namespace {

enum Input { picture, radius_map, mask };

Kernel kernel_of(const Blur& blur) {
  return blur.kernel.value_or(blur.sigma.has_value() ? Kernel::gaussian : Kernel::box);
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

RadiusField field_from_map(const Blur& blur, const Shape& map) {
  if (kernel_of(blur) != Kernel::box || blur.sigma)
    refuse("A radius map works only with the box kernel: leave out sigma, tent and gaussian.");
  if (!blur.radius_max) refuse("A radius map needs radius-max, the radius at the map's largest value.");
  RadiusField field;
  field.from_map = true;
  field.map_type = map.type;
  field.low = quantised_radius(checked_radius(blur.radius_min, "radius-min"));
  field.high = quantised_radius(checked_radius(*blur.radius_max, "radius-max"));
  return field;
}

OfBoxes<RadiusField> box_fields(const Blur& blur, const Shape& shape, const Shape& map) {
  if (map.width != 0) return {1, field_from_map(blur, map)};
  if (blur.radius_max) refuse("radius-max needs a radius map: give one, or use radius.");
  const int boxes = boxes_of(kernel_of(blur));
  return blur.sigma ? fields_for_sigma(*blur.sigma, boxes) : fields_for_radius(blur.radius, shape, boxes);
}

void check_mask_mode(const Blur& blur, std::uint32_t mask_maximum) {
  if (blur.mask_mode != MaskMode::exclude) return;
  if (mask_maximum == 0) refuse("mask-mode exclude needs a mask: give one, or leave mask-mode out.");
  if (kernel_of(blur) != Kernel::box)
    refuse("mask-mode exclude works only with the box kernel: leave out tent and gaussian, or choose box.");
}

/// Sets the value outside the picture, converted to working values.
void set_border_value(BoxMeanJob& job, const Shape& shape, Transfer transfer, double value) {
  job.border_number = value;
  if (shape.type == Type::f32) {
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      refuse("border-value must be a finite number.");
    return;
  }
  check_range("border-value", value, 0, 1);
  const auto stored = static_cast<std::uint32_t>(std::floor(value * white_of(shape.type) + 0.5));
  const TransferView table = host_transfer(shape.type, transfer == Transfer::srgb);
  for (int c = 0; c < shape.channels; ++c) {
    const bool alpha = shape.alpha == Alpha::straight && c == shape.channels - 1;
    std::uint64_t& working = job.border_value[static_cast<std::size_t>(c)];
    working = alpha ? stored : decode(stored, table);
    if ((job.read.weighted || job.read.premultiplied) && !alpha) working *= stored;
    if (job.read.premultiplied && alpha) working = stored * white_of(job.read);
    working <<= job.read.fraction;
  }
}

/// Returns the jobs of successive boxes, of which the last writes stored pixels.
OfBoxes<BoxMeanJob> box_jobs(const Blur& blur, const Shape& shape, const OfBoxes<RadiusField>& fields,
                             std::uint32_t mask_maximum) {
  OfBoxes<BoxMeanJob> jobs = successive_boxes(shape, blur.space, blur.border, fields).jobs;
  const Transfer transfer = transfer_for(blur.space, shape.type);
  jobs.back().write = {shape.type, transfer, 0};
  jobs.back().mask_maximum = mask_maximum;
  for (BoxMeanJob& job : jobs) {
    job.excludes = blur.mask_mode == MaskMode::exclude;
    if (blur.border == Border::constant) set_border_value(job, shape, transfer, blur.border_value);
  }
  return jobs;
}

/// Returns how to measure floats for their scale. The border's value is summed like the picture, so it
/// counts.
MeasureJob measure_job(const BoxMeanJob& job) {
  MeasureJob measure{.weighted = job.read.weighted};
  if (job.border != Border::constant) return measure;
  const double value = std::fabs(job.border_number);
  measure.at_least[0] = bits_of(job.read.weighted ? value * value : value);
  measure.at_least[1] = job.read.weighted ? bits_of(value) : 0;
  return measure;
}

class PreparedBlur final : public PreparedFilter {
 public:
  PreparedBlur(Backend& backend, const OfBoxes<BoxMeanJob>& jobs, const Shape& shape)
      : boxes_(prepare_boxes(backend, jobs)) {
    if (jobs[0].excludes && !boxes_[0]->selects_by_mask())
      valid_.emplace(backend, shape, jobs[0].mask_maximum);
    const std::size_t pictures = std::min<std::size_t>(boxes_.size() - 1, working_.size());
    for (std::size_t i = 0; i < pictures; ++i)
      working_[i] = backend.allocate({shape.width, shape.height, shape.channels, jobs[0].write.type});
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = valid_ ? valid_->workspace_bytes() : 0;
    for (const auto& box : boxes_) bytes += box->workspace_bytes();
    for (const Image& picture : working_) bytes += picture.empty() ? 0 : byte_size(picture.shape());
    return bytes;
  }

  [[nodiscard]] bool accepts(const ImageView& view) const noexcept override {
    return boxes_.size() == 1 ? boxes_[0]->accepts(view) : view.interleaved();
  }

  ImageView counted(std::span<const ImageView> inputs, Stream stream) override {
    return valid_ ? valid_->select(inputs[picture], inputs[mask], stream) : inputs[picture];
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    BoxMeanImages images;
    images.source = counted(inputs, stream);
    if (valid_) images.included = valid_->included();
    images.original = inputs[picture];
    images.radius_map = inputs[radius_map];
    images.measured = measured;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const bool last = i + 1 == boxes_.size();
      images.mask = last ? inputs[mask] : ImageView{};
      images.output = last ? output : working_[i % 2].view();
      boxes_[i]->run(images, stream);
      images.source = images.output;
    }
  }

 private:
  OfBoxes<std::unique_ptr<BoxMeanOperation>> boxes_;
  std::optional<ValidPixels> valid_;
  std::array<Image, 2> working_;  ///< pictures between two boxes
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Blur& blur) {
  const Shape shape = shapes[picture];
  check_radius_map(shapes[radius_map], shape);
  const Shape map = enlarged_map_shape(shapes[radius_map], shape);
  const std::uint32_t mask_maximum = checked_mask_maximum(shapes[mask], shape);
  check_mask_mode(blur, mask_maximum);
  const OfBoxes<BoxMeanJob> jobs = box_jobs(blur, shape, box_fields(blur, shape, map), mask_maximum);
  const bool slides = jobs.size() == 1 && map.width == 0 && shape.type != Type::f32;
  const FilterPlan filter{shape,
                          {range_of(shape, measure_job(jobs[0])), float_input(shapes, radius_map)},
                          reach_of(jobs),
                          prepare_sized<PreparedBlur>(device, jobs, shape),
                          !slides                 ? &Backend::mean_windows
                          : jobs[0].read.weighted ? &Backend::alpha_box_windows
                                                  : &Backend::box_windows};
  return with_enlarged_map(device, filter, shapes, radius_map, {jobs[0].radius.low, jobs[0].radius.high});
}

double reach(const Blur& blur, const Shape& shape) {
  if (blur.radius_max) return std::max(blur.radius_min, *blur.radius_max) + 1;
  if (blur.sigma) return 3 * *blur.sigma + 3;
  return larger_radius(blur.radius, shape) + boxes_of(kernel_of(blur));
}

}  // namespace

const FilterRecord& blur_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "blur",
       .category = "smoothing",
       .help = "mean over a window of any radius; a map can set the radius of every pixel",
       .paper =
      "Crow, Summed-area tables for texture mapping, 1984; Heckbert, Filtering by repeated integration, 1986",
       .parameters = {
      record::radius(&Blur::radius, 0, largest_radius,
                     {"radius", "px", "radius of the window: R, RXxRY, or P% of the longer side", "", ParameterRole::strength}),
      record::real(&Blur::sigma, 0, largest_sigma,
                   {"sigma", "px", "standard deviation, in place of the radius; the kernel is then gaussian by default",
                    "radius", ParameterRole::strength}),
      record::choice(&Blur::kernel, {"box", "tent", "gaussian"},
                     {"kernel", "", "one box, two in a row (tent) or three (gaussian); default: box, or gaussian with sigma"}),
      record::seldom(record::real(&Blur::radius_min, 0, largest_radius,
                   {"radius-min", "px", "radius where the radius map is 0"})),
      record::seldom(record::real(&Blur::radius_max, 0, largest_radius,
                   {"radius-max", "px", "radius where the radius map is at its maximum (floats: at 1)"})),
      record::border(&Blur::border),
      record::border_value(&Blur::border_value),
      record::space(&Blur::space, "average in linear light, or average the stored values"),
      record::seldom(record::choice(
          &Blur::mask_mode, {"blend", "exclude"},
          {"mask-mode", "", "exclude: windows leave out pixels where the mask is 0"})),
      },
       .inputs = {record::side(&Blur::radius_map, {"radius-map", Role::radius_map, "radius of each pixel, from radius-min at 0 to radius-max at white"}),
      record::blend_mask<Blur>()},
       .traits = {.keeps_constant = true, .keeps_range = true, .linear = true},
       .reach = record::reach<Blur>(reach)});
  return filter;
}

}  // namespace satin
