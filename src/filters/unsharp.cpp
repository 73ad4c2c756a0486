// The filter unsharp: adds a multiple of the difference between the picture and its mean.
//
// Means keep extra fraction bits, so that small differences survive. Several boxes in a row are one operation
// with the residual (UnsharpResidualChainJob) where the backend has it; otherwise each box writes a
// picture of working values.

#include "satin/filters/unsharp.h"

#include <algorithm>
#include <array>

#include "core/backend.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "means/box_mean.h"
#include "means/kernel_boxes.h"
#include "means/unsharp_residual.h"
#include "pixels/fixed_threshold.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double largest_amount = 1000;
constexpr double largest_threshold = 1e30;

enum Input { picture, mask };

void check(const Unsharp& unsharp) {
  check_range("amount", unsharp.amount, 0, largest_amount);
  check_range("threshold", unsharp.threshold, 0, largest_threshold);
  if (unsharp.border == Border::constant)
    throw Error(
        ErrorKind::usage,
        "A constant border would sharpen the picture against it: choose shrink, clamp, reflect, mirror "
        "or wrap.");
}

OfBoxes<RadiusField> fields_of(const Unsharp& unsharp, const Shape& shape) {
  const int boxes = boxes_of(unsharp.kernel);
  return unsharp.sigma ? fields_for_sigma(*unsharp.sigma, boxes)
                       : fields_for_radius(unsharp.radius, shape, boxes);
}

UnsharpResidualJob residual_job(const Unsharp& unsharp, const Shape& shape, const PixelRead& stored) {
  UnsharpResidualJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.means = fine_working_pixels(stored);
  job.write = {shape.type, stored.transfer, 0};
  job.keeps_alpha = shape.alpha != Alpha::none;
  job.amount = unsharp.amount;
  job.threshold = unsharp.threshold * (shape.type == Type::f32 ? 1.0 : static_cast<double>(white_of(stored)));
  return job;
}

class PreparedUnsharp final : public PreparedFilter {
 public:
  PreparedUnsharp(Backend& backend, const OfBoxes<BoxMeanJob>& jobs, const UnsharpResidualJob& residual)
      : residual_(jobs.size() == 1 ? nullptr : backend.prepare(UnsharpResidualChainJob{jobs, residual})) {
    if (residual_ != nullptr) return;
    boxes_ = prepare_boxes(backend, jobs);
    residual_ = backend.prepare(residual);
    means_shape_ = {residual.width, residual.height, residual.means.channels, residual.means.type};
    working_shape_ = means_shape_;
    working_shape_.type = jobs.front().write.type;
    const std::size_t buffers = std::min<std::size_t>(boxes_.size(), means_.size());
    for (std::size_t i = 0; i < buffers; ++i) means_[i] = backend.allocate(byte_size(means_shape_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = residual_->workspace_bytes();
    for (const auto& box : boxes_) bytes += box->workspace_bytes();
    for (const Buffer& buffer : means_) bytes += buffer.size;
    return bytes;
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    BoxMeanImages images;
    images.source = images.original = inputs[picture];
    images.measured = measured;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const Shape& shape = i + 1 == boxes_.size() ? means_shape_ : working_shape_;
      images.output = mutable_view_of(means_[i % means_.size()].get(), shape, output.memory);
      boxes_[i]->run(images, stream);
      images.source = images.output;
    }
    const ImageView means = boxes_.empty() ? ImageView() : images.source;
    residual_->run({inputs[picture], means, inputs[mask], output, measured}, stream);
  }

 private:
  OfBoxes<std::unique_ptr<BoxMeanOperation>> boxes_;  ///< empty where they are part of the residual
  std::unique_ptr<UnsharpResidualOperation> residual_;
  std::array<Buffer, 2> means_;
  Shape means_shape_;
  Shape working_shape_;  ///< shape of the picture between two boxes
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Unsharp& unsharp) {
  const Shape shape = shapes[picture];
  check(unsharp);
  SuccessiveBoxes boxes = successive_boxes(shape, unsharp.space, unsharp.border, fields_of(unsharp, shape));
  boxes.jobs.back().write = written_as(fine_working_pixels(boxes.stored));
  UnsharpResidualJob residual = residual_job(unsharp, shape, boxes.stored);
  residual.mask_maximum = checked_mask_maximum(shapes[mask], shape);
  FilterPlan plan{shape,
                  {range_of(shape, {.weighted = residual.means.weighted})},
                  reach_of(boxes.jobs),
                  prepare_sized<PreparedUnsharp>(device, boxes.jobs, residual)};
  plan.growth = 1 + 2 * unsharp.amount;
  return plan;
}

double reach(const Unsharp& unsharp, const Shape& shape) {
  if (unsharp.sigma) return 3 * *unsharp.sigma + 3;
  return larger_radius(unsharp.radius, shape) + boxes_of(unsharp.kernel);
}

std::vector<ParameterRecord> parameters() {
  return {
      record::usual(0, 3,
                    record::real(&Unsharp::amount, 0, largest_amount,
                                 {"amount", "", "share of the difference from the mean that is added"})),
      record::radius(&Unsharp::radius, 0, largest_radius,
                     {"radius", "px", "radius of the mean: R, RXxRY, or P% of the longer side"}),
      record::real(&Unsharp::sigma, 0, largest_sigma,
                   {"sigma", "px", "standard deviation of the kernel, in place of the radius"}),
      record::choice(&Unsharp::kernel, {"box", "tent", "gaussian"},
                     {"kernel", "", "one box, two in a row (tent) or three (gaussian)"}),
      record::usual(
          0, 0.2,
          record::real(&Unsharp::threshold, 0, largest_threshold,
                       {"threshold", "", "differences up to this share of white are not sharpened"})),
      record::inner_border(&Unsharp::border, "values outside the picture for the mean"),
      record::space(&Unsharp::space, "sharpen in linear light, or sharpen the stored values"),
  };
}

}  // namespace

const FilterRecord& unsharp_record() {
  static const FilterRecord filter =
      record::of(&describe, {.name = "unsharp",
                             .category = "sharpening",
                             .help = "sharpen edges, or with a large radius raise local contrast",
                             .parameters = parameters(),
                             .inputs = {record::blend_mask<Unsharp>()},
                             .space = Space::encoded,
                             .traits = {.keeps_constant = true},
                             .reach = record::reach<Unsharp>(reach)});
  return filter;
}

}  // namespace satin
