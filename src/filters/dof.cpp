#include "satin/filters/dof.h"

#include <array>

#include "core/prepared_filter.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "filters/registry.h"
#include "lens/lens_blur.h"
#include "lens/lens_focus.h"
#include "lens/lens_radii.h"

namespace satin {
namespace {

enum Input { picture, depth, mask };

LensBlurJob blur_job(const std::array<Shape, 3>& shapes, const Dof& dof) {
  LensBlurJob job;
  job.picture = shapes[picture];
  job.mask = shapes[mask];
  job.max_radius = dof.lens.max_radius;
  job.style = dof.style;
  job.space = dof.space;
  job.keeps_last = dof.lens.depth_from == DepthSource::alpha;
  return job;
}

class PreparedDof final : public PreparedFilter {
 public:
  PreparedDof(Backend& backend, const std::array<Shape, 3>& shapes, const Dof& dof)
      : radii_(backend, shapes[picture], shapes[depth], dof.lens), blur_(backend, blur_job(shapes, dof)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return radii_.workspace_bytes() + blur_.workspace_bytes();
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    radii_.run(inputs[picture], inputs[depth], blur_.radii(), stream);
    blur_.run(inputs[picture], inputs[mask], output, measured, stream);
  }

  void check(std::vector<std::string>& warnings, Stream stream) override { radii_.check(warnings, stream); }

 private:
  LensRadii radii_;
  LensBlur blur_;
};

Plan plan_shapes(const Device& device, const std::array<Shape, 3>& shapes, const Dof& dof) {
  return make_plan(device,
                   {{shapes.begin(), shapes.end()}, shapes[picture], shapes[picture].type == Type::f32},
                   std::make_unique<PreparedDof>(device.backend(), shapes, dof));
}

}  // namespace

Plan plan(const Device& device, const Shape& shape, const Dof& parameters) {
  return plan_shapes(device, {shape, shape_of(parameters.depth), shape_of(parameters.mask)}, parameters);
}

Image dof(const Device& device, const ImageView& image, const Dof& parameters) {
  const std::array inputs = {image, parameters.depth, parameters.mask};
  return run_once(device, plan(device, image.shape, parameters), inputs);
}

FilterRecord dof_record() {
  FilterRecord filter;
  filter.name = "dof";
  filter.category = "lens";
  filter.help = "depth of field from a depth image, without leaks between near and far";
  filter.paper =
      "Crow, Summed-area tables for texture mapping, 1984; Fisher, On grouping for maximum homogeneity, 1958";
  for (ParameterRecord& parameter : lens_focus_parameters())
    filter.parameters.push_back(record::within(&Dof::lens, std::move(parameter)));
  for (ParameterRecord& parameter : lens_style_parameters())
    filter.parameters.push_back(record::within(&Dof::style, std::move(parameter)));
  filter.parameters.push_back(record::choice(&Dof::space, record::space_names(),
                                             {"space", "", "blur in linear light, or the values as stored"}));
  filter.inputs = {
      {"depth", Role::depth, "distance or disparity, of the picture's proportions", false},
      {"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone", false},
  };
  filter.traits.keeps_constant = true;
  filter.defaults = [] { return std::make_shared<Dof>(); };
  filter.reach = [](const void* parameters, const Shape&) {
    return 2 * record::as<Dof>(parameters).lens.max_radius + 40;
  };
  filter.plan = [](const Device& device, std::span<const Shape> shapes, const void* parameters) {
    const auto shape = [&](std::size_t i) { return shapes.size() > i ? shapes[i] : Shape{}; };
    return plan_shapes(device, {shapes[picture], shape(depth), shape(mask)}, record::as<Dof>(parameters));
  };
  return filter;
}

}  // namespace satin
