#include "core/record.h"

#include <algorithm>

#include "core/side_inputs.h"
#include "satin/error.h"

namespace satin {

void record::set_usual_range(ParameterRecord& record) {
  constexpr double narrow = 1000, most = 100;
  const bool pixels = record.unit == "px", percent = record.unit == "%";
  record.usual_minimum = record.minimum;
  record.usual_maximum = record.maximum;
  record.scale = pixels ? Scale::logarithmic : Scale::linear;
  if (!pixels && !percent && record.maximum - record.minimum <= narrow) return;
  record.usual_minimum = std::max(record.minimum, 0.0);
  record.usual_maximum = std::min(record.maximum, pixels || percent ? most : 1.0);
}

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

PlanOutline outline(const Device& device, const Parameters& parameters, std::span<const Shape> shapes) {
  const FilterRecord& filter = parameters.filter();
  if (!filter.describe)
    throw Error(ErrorKind::usage, "The filter '" + filter.name + "' makes JSON, no picture.");
  const auto described = filter.describe(device, shapes, parameters.data());
  return {described->output, local_reach(*described)};
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
