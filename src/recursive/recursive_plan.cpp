#include "recursive/recursive_plan.h"

#include "core/backend.h"
#include "core/side_inputs.h"
#include "recursive/recursive.h"

namespace satin {
namespace {

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

}  // namespace

FilterPlan plan_recursive(const Device& device, std::span<const Shape> inputs,
                          const RecursiveSettings& settings) {
  validate(inputs.front());
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

}  // namespace satin
