// The executor of pipelines on whole pictures: one plan for each filter, and a picture between each two.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/prepared_filter.h"
#include "core/side_inputs.h"
#include "core/workspace.h"
#include "pipeline/followed_sizes.h"
#include "satin/error.h"
#include "satin/pipeline.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Finds views by the names in a pipeline's settings, and remembers which ones were used.
class Sides {
 public:
  explicit Sides(std::span<const NamedView> views) : views_(views), used_(views.size()) {}

  ImageView of(const PipelineStep& step, const InputRecord& input) {
    const SideInput* set = nullptr;
    for (const SideInput& side : step.side_inputs) {
      if (side.name != input.name) continue;
      if (set != nullptr) refuse("The filter '" + filter(step) + "' has two settings " + input.name + ".");
      set = &side;
    }
    if (set != nullptr) return named(set->path.string());
    if (input.required)
      refuse("The filter '" + filter(step) + "' needs a " + input.name + ": set " + input.name +
             "=NAME, and give a view of that name.");
    return {};
  }

  void check_used() const {
    for (std::size_t i = 0; i < views_.size(); ++i)
      if (!used_[i])
        refuse("No setting of the pipeline names the view '" + views_[i].name +
               "', as mask=" + views_[i].name + " would.");
  }

 private:
  static const std::string& filter(const PipelineStep& step) { return step.parameters.filter().name; }

  ImageView named(const std::string& name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      names.push_back(views_[i].name);
      if (views_[i].name != name) continue;
      used_[i] = true;
      return views_[i].view;
    }
    refuse("There is no view '" + name + "', which the pipeline names." + did_you_mean(name, names));
  }

  std::span<const NamedView> views_;
  std::vector<bool> used_;
};

/// Returns the view if it is interleaved and in host memory; otherwise makes such a copy and returns its
/// view.
ImageView on_host(const Device& device, const ImageView& view, Image& copy) {
  if (view.empty() || (view.memory == Memory::host && view.interleaved())) return view;
  if (view.memory == Memory::host) {
    copy = copy_of(view);
  } else {
    Image dense = device.allocate(view.shape);
    device.copy(view, dense.view());
    copy = device.download(dense.view());
  }
  return copy.view();
}

/// Allocates a picture between two filters on the device, or on the host if it does not fit. Filters then
/// transfer it in chunks.
Image allocate_between(const Device& device, const Shape& shape) {
  try {
    return device.allocate(shape);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment || !device.is_cuda()) throw;
    return Image(shape);
  }
}

void check_count(const Pipeline& pipeline, std::span<const Shape> shapes) {
  if (pipeline.empty()) refuse("The pipeline is empty: give one filter at least.");
  std::size_t wanted = 1;
  for (const PipelineStep& step : pipeline) wanted += step.parameters.filter().inputs.size();
  if (shapes.size() != wanted)
    refuse("The pipeline needs " + std::to_string(wanted) + " inputs, unused ones included, but " +
           std::to_string(shapes.size()) + " shapes were given.");
}

/// Returns the shapes of the step's inputs: the picture, then its side inputs from shapes[next] on. Advances
/// `next`.
std::vector<Shape> shapes_of_step(const PipelineStep& step, const Shape& picture,
                                  std::span<const Shape> shapes, std::size_t& next) {
  std::vector<Shape> inputs{picture};
  const std::span<const Shape> sides = shapes.subspan(next, step.parameters.filter().inputs.size());
  inputs.insert(inputs.end(), sides.begin(), sides.end());
  next += sides.size();
  return inputs;
}

/// Returns the reach of one step for inputs of these shapes. `picture` becomes the shape of the result.
LocalReach reach_of_step(const Device& device, const PipelineStep& step, std::span<const Shape> shapes,
                         Shape& picture) {
  const FilterRecord& filter = step.parameters.filter();
  const auto refuse_step = [&](const std::string& why) {
    refuse("The filter '" + filter.name + "' cannot be run on chunks of a picture: " + why);
  };
  if (filter.output != OutputKind::image) refuse_step("it makes no picture.");
  if (filter.frame) refuse_step("it changes the size of the picture.");
  for (const ParameterRecord& parameter : filter.parameters)
    if (step.parameters.get(parameter.name).ends_with('%'))
      refuse_step(parameter.name + " is a percentage of the picture. Give pixels.");
  for (const Shape& side : shapes)
    if (side.width != 0 && (side.width != picture.width || side.height != picture.height))
      refuse_step("a side input is not of the picture's size, so it cannot be cut with it.");
  const auto [output, reach] = outline(device, step.parameters, shapes);
  if (!reach &&
      std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) { return shape.type == Type::f32; }))
    refuse_step("it measures the whole picture of floats. Convert it to u8 or u16.");
  if (!reach)
    refuse_step("with these parameters its results depend on the whole picture, or on the position in it.");
  picture = output;
  return *reach;
}

}  // namespace

LocalReach local_reach(const Device& device, const Pipeline& pipeline, std::span<const Shape> shapes) {
  check_count(pipeline, shapes);
  LocalReach all;
  Shape between = shapes.front();
  std::size_t next = 1;
  for (const PipelineStep& step : pipeline) {
    const LocalReach reach =
        reach_of_step(device, step, shapes_of_step(step, between, shapes, next), between);
    all.x += reach.x;
    all.y += reach.y;
  }
  return all;
}

std::vector<ImageView> inputs_of(const Pipeline& pipeline, const ImageView& picture,
                                 std::span<const NamedView> sides) {
  Sides known(sides);
  std::vector<ImageView> inputs{picture};
  for (const PipelineStep& step : pipeline)
    for (const InputRecord& input : step.parameters.filter().inputs) inputs.push_back(known.of(step, input));
  known.check_used();
  return inputs;
}

std::vector<Shape> shapes_of(std::span<const ImageView> inputs) {
  std::vector<Shape> shapes(inputs.size());
  std::transform(inputs.begin(), inputs.end(), shapes.begin(), shape_of);
  return shapes;
}

struct PipelinePlan::FollowingSides {
  std::map<std::size_t, FollowingSide> sides;  ///< by the index of the input
  std::vector<ImageView> inputs;               ///< of the current run
};

PipelinePlan::PipelinePlan(const Device& device, const Pipeline& pipeline, std::span<const Shape> shapes,
                           const StepCheck& check)
    : device_(device) {
  check_count(pipeline, shapes);
  const WorkspaceBudget budget(device.backend());
  Shape picture = shapes.front();
  FollowedSizes sizes(picture);
  std::vector<Shape> at_steps(shapes.begin(), shapes.end());
  std::size_t next = 1;
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    const Parameters& step = pipeline[i].parameters;
    const std::size_t sides = step.filter().inputs.size();
    for (std::size_t side = 0; side < sides && sizes.changed(); ++side) {
      Shape& shape = at_steps[next + side];
      const std::vector<SizeChange> changes = sizes.changes(step.filter().inputs[side], shape);
      if (changes.empty()) continue;
      if (!following_) following_ = std::make_shared<FollowingSides>();
      FollowingSide following(device, step.filter().inputs[side], shape, changes);
      shape = following.shape();
      following_->sides.emplace(next + side, std::move(following));
    }
    const std::vector<Shape> inputs = shapes_of_step(pipeline[i], picture, at_steps, next);
    if (check) check(i, picture);
    if (!steps_.empty()) steps_.back().result = allocate_between(device, picture);
    if (step.filter().output == OutputKind::json) {
      WorkspaceBudget::take(bytes_of_analysis(picture));
      analysis_ = step;
      break;
    }
    steps_.push_back({satin::plan(device, step, inputs), sides, {}});
    picture = steps_.back().plan.output_shape();
    sizes.add(device, pipeline[i], inputs, picture);
  }
  output_ = picture;
}

std::size_t PipelinePlan::workspace_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Step& step : steps_)
    bytes += step.plan.workspace_bytes() + (step.result.empty() ? 0 : byte_size(step.result.shape()));
  if (following_)
    for (const auto& [index, side] : following_->sides) bytes += side.workspace_bytes();
  return bytes;
}

bool PipelinePlan::in_windows() const noexcept {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.plan.in_windows(); });
}

std::span<const ImageView> PipelinePlan::followed(std::span<const ImageView> inputs, Stream stream) {
  if (!following_) return inputs;
  following_->inputs.assign(inputs.begin(), inputs.end());
  for (auto& [index, side] : following_->sides)
    if (index < inputs.size()) following_->inputs[index] = side.run(inputs[index], stream);
  return following_->inputs;
}

/// Runs all plans and returns the last one's result: the output, or the picture that JSON describes.
ImageView PipelinePlan::run_steps(std::span<const ImageView> inputs, const MutableImageView& output,
                                  Stream stream) {
  if (inputs.empty()) refuse("The pipeline was given no picture.");
  ImageView picture = inputs.front();
  std::size_t next = 1;
  for (Step& step : steps_) {
    step_inputs_.assign(step.sides + 1, {});
    step_inputs_.front() = picture;
    for (std::size_t i = 0; i < step.sides && next + i < inputs.size(); ++i)
      step_inputs_[i + 1] = inputs[next + i];
    next += step.sides;
    const MutableImageView result = step.result.empty() ? output : step.result.view();
    step.plan.run(step_inputs_, result, stream);
    picture = result;
  }
  return picture;
}

void PipelinePlan::run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream) {
  if (analysis_) refuse("The pipeline makes JSON, not a picture.");
  run_steps(followed(inputs, stream), output, stream);
}

void PipelinePlan::run(const ImageView& picture, const MutableImageView& output, Stream stream) {
  run(std::span(&picture, 1), output, stream);
}

std::string PipelinePlan::json(std::span<const ImageView> inputs, std::span<const std::string> names,
                               Stream stream) {
  if (!analysis_) refuse("The pipeline makes a picture, not JSON.");
  const FilterRecord& filter = analysis_->filter();
  inputs = followed(inputs, stream);
  const ImageView result = run_steps(inputs, {}, stream);
  device_.synchronize(stream);
  std::vector<NamedView> pictures(filter.inputs.size() + 1);
  std::vector<Image> copies(pictures.size());
  const std::span<const ImageView> sides = inputs.last(filter.inputs.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures[i].view = on_host(device_, i == 0 ? result : sides[i - 1], copies[i]);
    if (!names.empty()) pictures[i].name = names[i];
  }
  return "{" + filter.analyse(device_, pictures, analysis_->data()) + "}";
}

bool PipelinePlan::vary(const Pipeline& pipeline, bool same_sides) {
  return pipeline.size() == 1 && steps_.size() == 1 && !analysis_ &&
         steps_.front().plan.vary(pipeline.front().parameters.data(), same_sides);
}

void PipelinePlan::watch(const Progress& progress) {
  const auto count = static_cast<double>(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto before = static_cast<double>(i);
    steps_[i].plan.watch(
        progress ? [progress, before, count](double done) { return progress((before + done) / count); }
                 : Progress());
  }
}

std::vector<std::string> PipelinePlan::check(Stream stream) {
  std::vector<std::string> warnings;
  if (following_)
    for (auto& [index, side] : following_->sides) side.check(warnings, stream);
  for (Step& step : steps_) {
    const std::vector<std::string> more = step.plan.check(stream);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  return warnings;
}

std::vector<FoundValue> PipelinePlan::found() const {
  std::vector<FoundValue> all;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    for (FoundValue& value : steps_[i].plan.found()) all.emplace_back(std::move(value)).step = i;
  return all;
}

PipelinePlan plan(const Device& device, const Pipeline& pipeline, std::span<const Shape> shapes) {
  return {device, pipeline, shapes};
}

Image run(const Device& device, const Pipeline& pipeline, const ImageView& picture,
          std::span<const NamedView> sides) {
  const std::vector<ImageView> inputs = inputs_of(pipeline, picture, sides);
  PipelinePlan steps(device, pipeline, shapes_of(inputs));
  Image result = result_image(device, steps.output_shape(), picture.memory);
  steps.run(inputs, result.view());
  static_cast<void>(steps.check());
  return result;
}

std::string run_to_json(const Device& device, const Pipeline& pipeline, const ImageView& picture,
                        std::span<const NamedView> sides) {
  const std::vector<ImageView> inputs = inputs_of(pipeline, picture, sides);
  PipelinePlan steps(device, pipeline, shapes_of(inputs));
  std::string text = steps.json(inputs);
  static_cast<void>(steps.check());
  return text;
}

}  // namespace satin
