#include "core/record.h"

#include <algorithm>

#include "core/side_inputs.h"
#include "satin/error.h"

namespace satin::record {
namespace {

OfInputs<ImageView> inputs_of(const FilterRecord& record, const ImageView& image, const void* parameters) {
  OfInputs<ImageView> inputs;
  inputs.push_back(image);
  for (const InputRecord& input : record.inputs) inputs.push_back(input.view(parameters));
  return inputs;
}

Plan plan_for(const FilterRecord& record, const Device& device, std::span<const ImageView> inputs,
              const void* parameters) {
  OfInputs<Shape> shapes(inputs.size());
  shapes[0] = inputs[0].shape;
  std::transform(inputs.begin() + 1, inputs.end(), shapes.begin() + 1, shape_of);
  return record.plan(device, shapes, parameters);
}

}  // namespace

OfInputs<Shape> completed(std::span<const Shape> shapes, std::size_t sides) {
  OfInputs<Shape> all(shapes.first(std::min(shapes.size(), sides + 1)));
  all.resize(sides + 1);
  return all;
}

std::size_t mask_of(std::span<const InputRecord> inputs) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [](const InputRecord& input) { return input.role == Role::mask; });
  return found == inputs.end() ? 0 : static_cast<std::size_t>(found - inputs.begin()) + 1;
}

Plan refuse_plan(const Device& /*device*/, std::span<const Shape> /*shapes*/, const void* /*parameters*/) {
  throw Error(ErrorKind::usage, "It makes JSON, no picture: let it be the last of a pipeline.");
}

Plan plan(const FilterRecord& record, const Device& device, const Shape& shape, const void* parameters) {
  ImageView picture;
  picture.shape = shape;
  return plan_for(record, device, inputs_of(record, picture, parameters), parameters);
}

Image run(const FilterRecord& record, const Device& device, const ImageView& image, const void* parameters) {
  const OfInputs<ImageView> inputs = inputs_of(record, image, parameters);
  Plan plan = plan_for(record, device, inputs, parameters);
  Image result = result_image(device, plan.output_shape(), image.memory);
  plan.run(inputs, result.view());
  static_cast<void>(plan.check());
  return result;
}

}  // namespace satin::record
