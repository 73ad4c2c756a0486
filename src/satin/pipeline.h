#pragma once
// Pipelines: several filters in a row, and their textual form.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/filter.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// A picture that a filter reads beside the one that it filters.
struct SideInput {
  std::string name;            ///< name in the filter's record, such as "radius-map"
  std::filesystem::path path;  ///< file, or the name of a view in memory (see inputs_of())
};

/// A filter in a pipeline.
struct PipelineStep {
  Parameters parameters;               ///< filter and its settings
  std::vector<SideInput> side_inputs;  ///< side inputs that are set, in any order

  /// Returns the setting of this side input; empty if it is not set.
  [[nodiscard]] std::string side(std::string_view name) const;
};

/// Steps in order. Each step reads the result of the previous one, in that result's pixel type.
using Pipeline = std::vector<PipelineStep>;

/// Returns an upper bound of the bytes that a filter that makes JSON needs beside a picture of this shape.
[[nodiscard]] inline std::uint64_t bytes_of_analysis(const Shape& shape) {
  return std::uint64_t{32} * static_cast<std::uint64_t>(shape.width) *
         static_cast<std::uint64_t>(shape.height);
}

/// Returns the kind of result that the last step makes.
[[nodiscard]] inline OutputKind output_kind(const Pipeline& pipeline) {
  return pipeline.back().parameters.filter().output;
}

/// Whether a step hides parts of the picture, so that metadata that may show them must go (see redacted()).
[[nodiscard]] inline bool covers(const Pipeline& pipeline) {
  return std::any_of(pipeline.begin(), pipeline.end(),
                     [](const PipelineStep& step) { return step.parameters.filter().traits.covers; });
}

/// Whether a step changes the size.
[[nodiscard]] inline bool changes_size(std::span<const PipelineStep> steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const PipelineStep& step) { return step.parameters.filter().frame != nullptr; });
}

/// Returns what the result of these steps shows of a picture of this size. Throws Error(usage) for sizes that
/// a filter refuses.
[[nodiscard]] Framing framing_of(std::span<const PipelineStep> steps, std::int64_t width,
                                 std::int64_t height);

/// Parses "blur radius=8 | blur sigma=2 mask='my mask.png'":
///   pipeline = step { "|" step }       step = filter { setting }
///   setting  = name "=" value | flag   value = word | quoted { quoted }
///   quoted   = "'" text "'" | '"' text '"'
/// A name is a parameter or a side input of the filter. A filter that makes a table or JSON must be the last.
/// Throws Error(usage) with the column, counted from 1 in bytes, and the nearest existing name; two more
/// lines show the text and a caret below that column.
[[nodiscard]] Pipeline parse_pipeline(std::string_view text);

/// Returns the canonical text: filters with the settings that differ from the defaults, in the order of the
/// record. parse_pipeline() parses it to the same pipeline.
[[nodiscard]] std::string print_pipeline(const Pipeline& pipeline);

// --- Pipelines on pictures in memory ---

/// Returns the inputs of a PipelinePlan: the picture, then the side inputs of every step in the order of the
/// filter's record. Settings name views of `sides`; unused inputs are empty views. Throws Error(usage) for a
/// name that is not among `sides`, a view that no setting names, and a side input that is set twice or that
/// is required and not set.
[[nodiscard]] std::vector<ImageView> inputs_of(const Pipeline& pipeline, const ImageView& picture,
                                               std::span<const NamedView> sides = {});

/// Whether a side input of this shape belongs to this picture: it has its size, or its aspect where filters
/// scale it (depth and radius maps). Apertures belong to every picture.
[[nodiscard]] bool belongs_to(const InputRecord& input, const Shape& side, const Shape& picture);

/// Returns the shapes of inputs for a PipelinePlan; width 0 for an empty view.
[[nodiscard]] std::vector<Shape> shapes_of(std::span<const ImageView> inputs);

/// A pipeline prepared for pictures of one shape on one device. It holds the plan of every step and the
/// pictures between them, in device memory if that suffices. Only one thread at a time may run it.
///
/// Side inputs belong to the picture that the pipeline reads. Where a step before theirs changes its size
/// they are cut and averaged (masks and guides by area) like it, maps of another size in their own scale, to
/// their nearest pixel; depth is cut and not averaged. A side input that does not fit the picture that is
/// read, but fits the picture at its step, is used as it is.
class PipelinePlan {
 public:
  /// Called with a step and the shape of its picture before the step is planned. It may throw to refuse.
  using StepCheck = std::function<void(std::size_t step, const Shape& picture)>;

  /// `shapes` are those of inputs_of(); width 0 for an unused input. Throws Error(usage) for an empty
  /// pipeline and another number of shapes, and whatever the filters and `check` throw.
  PipelinePlan(const Device& device, const Pipeline& pipeline, std::span<const Shape> shapes,
               const StepCheck& check = {});

  /// The shape of the output that run() fills, or of the picture that the last step describes as JSON.
  [[nodiscard]] const Shape& output_shape() const noexcept { return output_; }
  /// Returns the bytes of the plans and of the pictures between them.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Whether a step runs on chunks of its picture (see Plan::in_windows()).
  [[nodiscard]] bool in_windows() const noexcept;

  /// Runs every step. `inputs` have the order of inputs_of(). Strides, waiting, allocation and overlaps of
  /// the first input and the output are as in Plan::run().
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream = {});
  /// Runs every step of a pipeline without side inputs.
  void run(const ImageView& picture, const MutableImageView& output, Stream stream = {});

  /// Runs a pipeline that makes JSON and returns the object of its last step. `names`, if given, are those of
  /// the picture and of the last step's side inputs. Waits. Throws Error(usage) for other pipelines; run()
  /// throws it for this kind.
  [[nodiscard]] std::string json(std::span<const ImageView> inputs, std::span<const std::string> names = {},
                                 Stream stream = {});

  /// Calls Plan::vary() for a pipeline of one step, with the parameters of `pipeline`.
  [[nodiscard]] bool vary(const Pipeline& pipeline, bool same_sides);

  /// As Plan::watch(), with the share of the whole pipeline. All steps count the same.
  void watch(const Progress& progress);

  /// Calls Plan::check() for every step.
  std::vector<std::string> check(Stream stream = {});

  /// Returns Plan::found() of every step.
  [[nodiscard]] std::vector<FoundValue> found() const;

 private:
  struct Step {
    Plan plan;
    std::size_t sides;  ///< number of side inputs
    Image result;       ///< result of the step; empty for the last one
  };
  struct FollowingSides;

  /// Returns the inputs with the side inputs as their steps read them.
  std::span<const ImageView> followed(std::span<const ImageView> inputs, Stream stream);
  ImageView run_steps(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream);

  Device device_;
  Shape output_;
  std::optional<Parameters> analysis_;  ///< last step, if it makes JSON
  std::vector<Step> steps_;
  std::vector<ImageView> step_inputs_;         ///< inputs of the current step
  std::shared_ptr<FollowingSides> following_;  ///< null where none changes its size
};

/// Returns the reach of the whole pipeline, the sum of every Plan::local_reach(), for pictures of this type
/// and number of channels. `shapes` are those of PipelinePlan; side inputs are cut with the picture, so they
/// must have its size. Lengths must be in pixels, since percentages of a chunk differ. Throws Error(usage)
/// with the filter and the reason if the reach is not finite.
[[nodiscard]] LocalReach local_reach(const Device& device, const Pipeline& pipeline,
                                     std::span<const Shape> shapes);

/// Plans the pipeline; see PipelinePlan.
[[nodiscard]] PipelinePlan plan(const Device& device, const Pipeline& pipeline,
                                std::span<const Shape> shapes);

/// Runs a pipeline that makes JSON once. Throws as run().
[[nodiscard]] std::string run_to_json(const Device& device, const Pipeline& pipeline,
                                      const ImageView& picture, std::span<const NamedView> sides = {});

/// Runs the pipeline once. The result is in the picture's memory. Throws as inputs_of(), PipelinePlan and
/// PipelinePlan::check().
[[nodiscard]] Image run(const Device& device, const Pipeline& pipeline, const ImageView& picture,
                        std::span<const NamedView> sides = {});

}  // namespace satin
