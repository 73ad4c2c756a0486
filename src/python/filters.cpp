// Bindings for filters and pipelines: descriptions from the registry, and plans that run on arrays.

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "python/foreign_array.h"
#include "python/module.h"
#include "satin/error.h"
#include "satin/pipeline.h"

NB_MAKE_OPAQUE(satin::Pipeline)  // a class of its own, not a list

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Makes a pipeline of one filter whose side inputs are the views of the same names.
Pipeline pipeline_of_filter(const std::string& name, const Settings& settings,
                            const std::vector<std::string>& sides) {
  PipelineStep step{Parameters(find_filter(name)), {}};
  for (const auto& [parameter, text] : settings) step.parameters.set(parameter, text);
  for (const std::string& side : sides) step.side_inputs.push_back({side, side});
  Pipeline pipeline;
  pipeline.push_back(std::move(step));
  return pipeline;
}

using Sides = std::map<std::string, const Picture*>;

/// A pipeline prepared for arrays of certain shapes. Several threads may call it; they take turns.
class ArrayPlan {
 public:
  ArrayPlan(const Device& device, Pipeline pipeline, const Picture& image, const Sides& sides)
      : device_(device),
        pipeline_(std::move(pipeline)),
        axes_(image.axes),
        channels_(image.view.shape.channels) {
    const std::vector<ImageView> inputs = inputs_of(image, sides);
    const nb::gil_scoped_release released;
    plan_ = std::make_unique<PipelinePlan>(device_, pipeline_, shapes_of(inputs));
  }

  [[nodiscard]] std::string axes() const { return result_axes(axes_, channels_, plan_->output_shape()); }
  [[nodiscard]] nb::tuple sizes() const {
    nb::list sizes;
    for (const std::int64_t size : sizes_of(plan_->output_shape(), axes())) sizes.append(size);
    return nb::tuple(sizes);
  }
  [[nodiscard]] const char* type() const { return numpy_name(plan_->output_shape().type); }
  [[nodiscard]] std::size_t workspace_bytes() const { return plan_->workspace_bytes(); }

  void run(const Picture& image, const Sides& sides, const Picture& out, std::uintptr_t stream) {
    const std::vector<ImageView> inputs = inputs_of(image, sides);
    require_result(out);
    MutableImageView target = out.view;
    target.shape.alpha = plan_->output_shape().alpha;
    target.shape.order = plan_->output_shape().order;

    const nb::gil_scoped_release released;
    const std::lock_guard turn(one_at_a_time_);
    plan_->run(inputs, target, stream_of(stream));
  }

  [[nodiscard]] bool makes_json() const { return output_kind(pipeline_) == OutputKind::json; }

  std::string json(const Picture& image, const Sides& sides, std::uintptr_t stream) {
    const std::vector<ImageView> inputs = inputs_of(image, sides);
    const nb::gil_scoped_release released;
    const std::lock_guard turn(one_at_a_time_);
    return plan_->json(inputs, {}, stream_of(stream));
  }

  std::vector<std::string> check(std::uintptr_t stream) {
    const nb::gil_scoped_release released;
    const std::lock_guard turn(one_at_a_time_);
    return plan_->check(stream_of(stream));
  }

 private:
  [[nodiscard]] std::vector<ImageView> inputs_of(const Picture& image, const Sides& sides) const {
    require_reachable(device_, image.array.memory, image.array.ordinal, image.name);
    std::vector<NamedView> named;
    for (const auto& [name, side] : sides) {
      require_reachable(device_, side->array.memory, side->array.ordinal, side->name);
      named.push_back({name, side->view});
    }
    return satin::inputs_of(pipeline_, image.view, named);
  }

  void require_result(const Picture& out) const {
    const Shape& result = plan_->output_shape();
    require_reachable(device_, out.array.memory, out.array.ordinal, out.name);
    if (out.array.read_only) throw Error(ErrorKind::usage, out.name + " is read-only.");
    if (sizes_of(out.view.shape, axes()) != sizes_of(result, axes()))
      throw Error(ErrorKind::usage, out.name + " has the shape " + describe_sizes(out.array) + ", but " +
                                        nb::cast<std::string>(nb::str(sizes())) + " is what the result has.");
    if (out.array.type != result.type)
      throw Error(ErrorKind::usage, out.name + " is of type " + numpy_name(out.array.type) + ", but " +
                                        type() + " is what the result has.");
  }

  Device device_;
  Pipeline pipeline_;
  std::string axes_;
  int channels_;
  std::unique_ptr<PipelinePlan> plan_;
  std::mutex one_at_a_time_;
};

}  // namespace

void bind_filters(nb::module_& module) {
  module.def("describe_filters", &describe_filters, "The record of every filter, as JSON.");
  module.def(
      "local_reach",
      [](const Device& device, const Pipeline& pipeline, const Picture& picture, const Sides& sides) {
        std::vector<NamedView> named;
        for (const auto& [name, side] : sides) named.push_back({name, side->view});
        const LocalReach reach =
            local_reach(device, pipeline, shapes_of(inputs_of(pipeline, picture.view, named)));
        return std::pair(reach.x, reach.y);
      },
      "device"_a, "pipeline"_a, "picture"_a, "sides"_a);

  nb::class_<Pipeline>(module, "Pipeline")
      .def(
          "__init__",
          [](Pipeline* self, const std::string& text) { new (self) Pipeline(parse_pipeline(text)); },
          "text"_a)
      .def_static("of_filter", &pipeline_of_filter, "name"_a, "settings"_a, "sides"_a)
      .def("__str__", &print_pipeline);

  nb::class_<Picture>(module, "Picture")
      .def(
          "__init__",
          [](Picture* self, nb::handle array, std::string name, const std::optional<std::string>& axes,
             const std::string& alpha, const std::string& order, bool booleans, std::uintptr_t stream) {
            new (self) Picture(array, std::move(name), axes,
                               choice<Alpha>("alpha", alpha, {"none", "straight", "premultiplied"}),
                               choice<Order>("order", order, {"rgb", "bgr"}), booleans, stream);
          },
          "array"_a.none(), "name"_a, "axes"_a.none(), "alpha"_a, "order"_a, "booleans"_a, "stream"_a)
      .def_ro("axes", &Picture::axes)
      .def_prop_ro(
          "address",
          [](const Picture& picture) { return reinterpret_cast<std::uintptr_t>(picture.array.data); })
      .def_prop_ro("channels", [](const Picture& picture) { return picture.view.shape.channels; })
      .def_prop_ro("dtype", [](const Picture& picture) { return numpy_name(picture.array.type); })
      .def_prop_ro("on_cuda", [](const Picture& picture) { return picture.array.memory == Memory::device; })
      .def_prop_ro("ordinal", [](const Picture& picture) { return picture.array.ordinal; });

  nb::class_<ArrayPlan>(module, "Plan")
      .def(nb::init<const Device&, Pipeline, const Picture&, const Sides&>(), "device"_a, "pipeline"_a,
           "image"_a, "sides"_a)
      .def_prop_ro("axes", &ArrayPlan::axes)
      .def_prop_ro("shape", &ArrayPlan::sizes)
      .def_prop_ro("dtype", &ArrayPlan::type)
      .def_prop_ro("workspace_bytes", &ArrayPlan::workspace_bytes)
      .def_prop_ro("makes_json", &ArrayPlan::makes_json)
      .def("run", &ArrayPlan::run, "image"_a, "sides"_a, "out"_a, "stream"_a)
      .def("json", &ArrayPlan::json, "image"_a, "sides"_a, "stream"_a)
      .def("check", &ArrayPlan::check, "stream"_a);
}

}  // namespace satin::python
