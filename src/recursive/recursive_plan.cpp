#include "recursive/recursive_plan.h"

#include "core/backend.h"
#include "core/side_inputs.h"
#include "pixels/measure.h"
#include "recursive/recursive.h"
#include "satin/error.h"

namespace satin {
namespace {

void check_guide(const Shape& guide, const Shape& picture) {
  validate(guide);
  check_side_size(guide, picture, "guide");
  if (guide.type != Type::u8 && guide.type != Type::u16 && guide.type != Type::f32)
    throw Error(ErrorKind::usage, std::string("The guide is of type ") + name_of(guide.type) +
                                      ": u8, u16 and f32 are possible.");
}

Guide guide_of(const Shape& shape, double contrast) {
  const double white = shape.type == Type::u8 ? 0xFF : shape.type == Type::u16 ? 0xFFFF : 1;
  Guide guide{shape.type, shape.channels, shape.alpha == Alpha::straight, contrast / white};
  if (guide.weighted) guide.contrast /= white;
  return guide;
}

RecursiveJob recursive_job(std::span<const Shape> inputs, const RecursiveSettings& settings) {
  const Shape& picture = inputs.front();
  const bool decoded = settings.space == Space::linear && picture.type != Type::f32;
  const Transfer transfer = decoded ? Transfer::srgb : Transfer::identity;
  RecursiveJob job;
  job.width = picture.width;
  job.height = picture.height;
  job.read = read_pixels(picture, transfer, 1);
  job.write = {picture.type, transfer, 0};
  job.passes = settings.passes;
  if (settings.guided) {
    const bool given = inputs[1].width != 0;
    if (given) check_guide(inputs[1], picture);
    job.guide = guide_of(given ? inputs[1] : picture, settings.contrast);
  }
  job.mask_maximum = checked_mask_maximum(inputs.back(), picture);
  return job;
}

class PreparedRecursive final : public PreparedFilter {
 public:
  PreparedRecursive(Backend& backend, const RecursiveJob& job)
      : recursive_(backend.prepare(job)), guided_(job.guide.has_value()) {
    const MeasureJob nothing{job.width, job.height, job.read.channels, job.read.weighted};
    if (measures(job)) measure_ = backend.prepare(nothing);
  }

  [[nodiscard]] static bool measures(const RecursiveJob& job) {
    return job.read.type == Type::f32 || (job.guide && job.guide->type == Type::f32);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return recursive_->workspace_bytes();
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    if (measure_ != nullptr) measure_->clear(measured, stream);
    RecursiveImages images;
    images.source = inputs.front();
    if (guided_) images.guide = inputs[1].empty() ? inputs.front() : inputs[1];
    images.mask = inputs.back();
    images.output = output;
    images.measured = measured;
    recursive_->run(images, stream);
  }

 private:
  std::unique_ptr<RecursiveOperation> recursive_;
  std::unique_ptr<MeasureOperation> measure_;  ///< to clear what is measured
  bool guided_;
};

}  // namespace

FilterPlan plan_recursive(const Device& device, std::span<const Shape> inputs,
                          const RecursiveSettings& settings) {
  validate(inputs.front());
  const RecursiveJob job = recursive_job(inputs, settings);
  const auto prepare = [&backend = device.backend(), job](std::int64_t, std::int64_t) {
    return std::make_unique<PreparedRecursive>(backend, job);
  };
  return {inputs.front(), PreparedRecursive::measures(job), {}, prepare};
}

}  // namespace satin
