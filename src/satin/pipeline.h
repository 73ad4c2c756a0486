#pragma once
// Filters one after another, and the text that says so.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/filter.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// A picture that a filter takes beside the one that it filters.
struct SideInput {
  std::string name;            ///< as in the filter's record: "radius-map"
  std::filesystem::path path;  ///< of a file, or the name of a view in memory: see inputs_of()
};

/// One filter of a pipeline.
struct PipelineStep {
  Parameters parameters;               ///< the filter with its settings
  std::vector<SideInput> side_inputs;  ///< those that are set, in any order

  /// What is set for the side input of this name; empty if nothing is.
  [[nodiscard]] std::string side(std::string_view name) const;
};

/// Each step takes the result of the one before it, in that result's pixel type.
using Pipeline = std::vector<PipelineStep>;

/// What a filter that makes JSON takes at most for a picture of this shape, beside it.
[[nodiscard]] inline std::uint64_t bytes_of_analysis(const Shape& shape) {
  return std::uint64_t{32} * static_cast<std::uint64_t>(shape.width) *
         static_cast<std::uint64_t>(shape.height);
}

/// What its last step makes.
[[nodiscard]] inline OutputKind output_kind(const Pipeline& pipeline) {
  return pipeline.back().parameters.filter().output;
}

/// True if a step hides parts of the picture: metadata that may show them is dropped, see redacted().
[[nodiscard]] inline bool covers(const Pipeline& pipeline) {
  return std::any_of(pipeline.begin(), pipeline.end(),
                     [](const PipelineStep& step) { return step.parameters.filter().traits.covers; });
}

/// Takes "blur radius=8 | blur sigma=2 mask='my mask.png'":
///   pipeline = step { "|" step }       step = filter { setting }
///   setting  = name "=" value | flag   value = word | quoted { quoted }
///   quoted   = "'" text "'" | '"' text '"'
/// A name is a parameter or a side input of the filter. A table or JSON ends a pipeline. Throws Error(usage)
/// that tells the column, counted from 1 in bytes, and the nearest real name; two more lines show the text
/// and a caret below that column.
[[nodiscard]] Pipeline parse_pipeline(std::string_view text);

/// The canonical text: filters with the settings that differ from the defaults, in the order of the record.
/// parse_pipeline() takes it back to the same pipeline.
[[nodiscard]] std::string print_pipeline(const Pipeline& pipeline);

// --- In memory. ---

/// What the plan of a pipeline takes: the picture, then the side inputs of every step, in the order of the
/// steps and of each filter's record, found among `sides` by the names that the settings say; empty views for
/// those that are not used. Throws Error(usage) for a name that is not among them, a view that no setting
/// names, and a side input that is set twice, or required and not set.
[[nodiscard]] std::vector<ImageView> inputs_of(const Pipeline& pipeline, const ImageView& picture,
                                               std::span<const NamedView> sides = {});

/// A pipeline prepared for pictures of one shape on one device: the plan of every step, and room for the
/// pictures between them, in the device's memory where that suffices. As a Plan it may not be run by two
/// threads at the same time.
class PipelinePlan {
 public:
  /// Called with a step and the shape of its picture before the step is planned, to refuse by throwing.
  using StepCheck = std::function<void(std::size_t step, const Shape& picture)>;

  /// `shapes` are those of inputs_of(); width 0 for one that is not used. Throws Error(usage) for an empty
  /// pipeline, another number of shapes, and what the filters and `check` refuse.
  PipelinePlan(const Device& device, const Pipeline& pipeline, std::span<const Shape> shapes,
               const StepCheck& check = {});

  /// The shape of the output that run() fills, or of the picture that JSON is made of.
  [[nodiscard]] const Shape& output_shape() const noexcept { return output_; }
  /// Bytes that the plans hold, with the pictures between them.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// True if a step runs on windows of its picture: see Plan::in_windows().
  [[nodiscard]] bool in_windows() const noexcept;

  /// Runs every step. `inputs` are as those of inputs_of(), in their order. What Plan::run() says of strides,
  /// waiting, allocation and overlaps holds for the first and the last step.
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream = {});
  /// Runs every step of a pipeline without side inputs.
  void run(const ImageView& picture, const MutableImageView& output, Stream stream = {});

  /// Runs every step of a pipeline that makes JSON, and gives what the last one says: an object. `names`, if
  /// told, are those of the picture and of the last step's side inputs. Waits. Throws Error(usage) for other
  /// pipelines, as run() does for this one.
  [[nodiscard]] std::string json(std::span<const ImageView> inputs, std::span<const std::string> names = {},
                                 Stream stream = {});

  /// Does Plan::vary() for a pipeline of one step: takes what may vary from the same step of `pipeline`.
  [[nodiscard]] bool vary(const Pipeline& pipeline, bool same_sides);

  /// Does what Plan::watch() does, with the share of the whole pipeline; every step counts the same.
  void watch(const Progress& progress);

  /// As Plan::check(), of every step.
  std::vector<std::string> check(Stream stream = {});

  /// As Plan::found(), of every step.
  [[nodiscard]] std::vector<FoundValue> found() const;

 private:
  struct Step {
    Plan plan;
    std::size_t sides;  ///< number of side inputs
    Image result;       ///< empty for the last step
  };

  ImageView run_steps(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream);

  Device device_;
  Shape output_;
  std::optional<Parameters> analysis_;  ///< the last step, if it makes JSON
  std::vector<Step> steps_;
  std::vector<ImageView> step_inputs_;  ///< of one step of one run
};

/// The reach of results of the whole pipeline, for pictures of this type and number of channels: the sum of
/// every Plan::local_reach(). `shapes` are those that PipelinePlan takes; side inputs are cut with the
/// picture, so they have its size. Lengths must be in pixels: a part of a picture has other percentages.
/// Throws Error(usage) with the filter and the reason if there is none.
[[nodiscard]] LocalReach local_reach(const Device& device, const Pipeline& pipeline,
                                     std::span<const Shape> shapes);

/// Plans the pipeline; see PipelinePlan.
[[nodiscard]] PipelinePlan plan(const Device& device, const Pipeline& pipeline,
                                std::span<const Shape> shapes);

/// Runs a pipeline that makes JSON once. Throws as run().
[[nodiscard]] std::string run_to_json(const Device& device, const Pipeline& pipeline,
                                      const ImageView& picture, std::span<const NamedView> sides = {});

/// Runs the pipeline once. The result lives where the picture lives. Throws as inputs_of(), PipelinePlan and
/// PipelinePlan::check().
[[nodiscard]] Image run(const Device& device, const Pipeline& pipeline, const ImageView& picture,
                        std::span<const NamedView> sides = {});

}  // namespace satin
