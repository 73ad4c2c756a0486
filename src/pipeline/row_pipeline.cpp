#include <algorithm>
#include <deque>
#include <utility>

#include "core/row_stage.h"
#include "core/workspace.h"
#include "satin/error.h"
#include "satin/rows.h"

namespace satin {
namespace {

/// Throws Error(usage) for a step that bands of rows do not suffice for.
void require_bands(const FilterRecord& record, const FilterPlan& filter) {
  const std::string begin = "The filter '" + record.name + "' cannot be run row by row: ";
  constexpr const char* end = " Run it on the whole picture (without --stream), or on a smaller one.";
  if (filter.adds_up) return;
  if (!filter.reach)
    throw Error(ErrorKind::usage,
                begin + "with these parameters its results depend on the whole picture." + end);
  if (filter.reach->wraps)
    throw Error(ErrorKind::usage, begin +
                                      "with border wrap its first rows look at the last ones. Choose "
                                      "another border.");
}

}  // namespace

struct RowPipeline::State {
  explicit State(Device on) : device(std::move(on)) {}

  Device device;
  std::deque<RowStage> stages;  ///< each outlives those behind it
  bool is_measured = false;
  Watch watch;
  std::vector<std::string> warnings;
};

RowPipeline::RowPipeline(const Device& device, const Pipeline& pipeline, RowSource& picture,
                         std::span<RowSource* const> sides)
    : state_(std::make_unique<State>(device)) {
  if (pipeline.empty()) throw Error(ErrorKind::usage, "The pipeline is empty: give one filter at least.");
  RowSource* source = &picture;
  for (const PipelineStep& step : pipeline) {
    const FilterRecord& record = step.parameters.filter();
    if (!record.describe)
      throw Error(ErrorKind::usage,
                  "The filter '" + record.name + "' makes JSON of the whole picture, not row by row.");
    std::vector<RowSource*> inputs{source};
    for (std::size_t i = 0; i < record.inputs.size(); ++i) {
      inputs.push_back(sides.empty() ? nullptr : sides.front());
      if (!sides.empty()) sides = sides.subspan(1);
    }
    std::vector<Shape> shapes;
    for (const RowSource* input : inputs) shapes.push_back(input == nullptr ? Shape{} : input->shape());
    std::shared_ptr<const FilterPlan> filter = record.describe(device, shapes, step.parameters.data());
    require_bands(record, *filter);
    source = &state_->stages.emplace_back(device.backend(), std::move(filter), std::move(inputs),
                                          workspace_bytes());
  }
}

RowPipeline::~RowPipeline() = default;

const Shape& RowPipeline::shape() const noexcept { return state_->stages.back().shape(); }

std::size_t RowPipeline::workspace_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const RowStage& stage : state_->stages) bytes += stage.workspace_bytes();
  return bytes;
}

int RowPipeline::passes() const noexcept {
  int passes = 1;
  for (const RowStage& stage : state_->stages) passes += stage.measurements();
  return passes;
}

void RowPipeline::watch(Progress progress) {
  state_->watch = Watch(std::move(progress));
  for (RowStage& stage : state_->stages) stage.watch(state_->watch);
}

void RowPipeline::rewind() { state_->stages.back().rewind(); }

/// One step after the other: what a step measures is the result of those before it.
void RowPipeline::measure() {
  std::int64_t steps = 0;
  std::int64_t before = 0;  // windows of a pass through the steps so far
  for (const RowStage& stage : state_->stages) {
    before += stage.windows();
    steps += stage.measurements() * before;
  }
  state_->watch.begin(steps + before);
  for (RowStage& stage : state_->stages) stage.measure(state_->warnings);
  state_->is_measured = true;
}

void RowPipeline::read(const MutableImageView& rows) {
  const WorkspaceBudget budget(state_->device.backend(), workspace_bytes());
  const WatchedRun watched(state_->watch);
  if (!state_->is_measured) measure();
  state_->stages.back().read(rows);
}

std::vector<std::string> RowPipeline::check() {
  std::vector<std::string> warnings = state_->warnings;
  for (RowStage& stage : state_->stages) stage.check(warnings);
  return warnings;
}

}  // namespace satin
