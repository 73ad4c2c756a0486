#include "core/record.h"

#include <algorithm>

#include "core/side_inputs.h"
#include "satin/error.h"

namespace satin {

OfInputs<Shape> record::completed(std::span<const Shape> shapes, std::size_t sides) {
  OfInputs<Shape> all(shapes.first(std::min(shapes.size(), sides + 1)));
  all.resize(sides + 1);
  return all;
}

std::size_t record::mask_of(std::span<const InputRecord> inputs) {
  const auto found = std::ranges::find(inputs, Role::mask, &InputRecord::role);
  return found == inputs.end() ? 0 : static_cast<std::size_t>(found - inputs.begin()) + 1;
}

Plan record::refuse_plan(const Device&, std::span<const Shape> /*shapes*/, const void* /*parameters*/) {
  throw Error(ErrorKind::usage, "It makes JSON, no picture: let it be the last of a pipeline.");
}

Plan plan_filter(const FilterRecord& record, const Device& device, const Shape& shape,
                 const void* parameters) {
  OfInputs<Shape> shapes;
  shapes.push_back(shape);
  for (const InputRecord& input : record.inputs) shapes.push_back(shape_of(input.view(parameters)));
  return record.plan(device, shapes, parameters);
}

Image run_filter(const FilterRecord& record, const Device& device, const ImageView& image,
                 const void* parameters) {
  OfInputs<ImageView> inputs;
  inputs.push_back(image);
  for (const InputRecord& input : record.inputs) inputs.push_back(input.view(parameters));
  Plan plan = plan_filter(record, device, image.shape, parameters);
  Image result = result_image(device, plan.output_shape(), image.memory);
  plan.run(inputs, result.view());
  static_cast<void>(plan.check());
  return result;
}

}  // namespace satin
