// The executor of pipelines by rows, for pictures that do not fit memory.
//
// Each filter is a stage that reads rows of its inputs and gives rows of its result. A stage holds one chunk:
// the rows that it computes next and the rows above and below them that the filter's reach needs. Chunks move
// down the picture, so each pass reads every row once. A filter that measures its input adds a pass through
// all stages before it.

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "core/chunk_runner.h"
#include "core/workspace.h"
#include "pipeline/followed_sizes.h"
#include "satin/error.h"
#include "satin/rows.h"

namespace satin {
namespace {

/// Throws Error(usage) for a filter that cannot be run on chunks of rows.
void require_row_by_row(const FilterRecord& record, const FilterPlan& filter) {
  const std::string begin = "The filter '" + record.name + "' cannot be run row by row: ";
  constexpr const char* end = " Run it on the whole picture (without --stream), or on a smaller one.";
  if (filter.adds_up || filter.geometry) return;
  if (!filter.reach)
    throw Error(ErrorKind::usage,
                begin + "with these parameters its results depend on the whole picture." + end);
  if (filter.reach->wraps)
    throw Error(ErrorKind::usage, begin +
                                      "with border wrap its first rows need the last ones. Choose "
                                      "another border.");
}

std::size_t row_bytes(const Shape& shape) { return static_cast<std::size_t>(interleaved_strides(shape).row); }

/// Adds a row to each of `rows`, modulo the type.
template <class Value>
void add_row(const std::vector<std::byte>& row, const MutableImageView& rows) {
  const auto* add = reinterpret_cast<const Value*>(row.data());
  const std::int64_t count = rows.shape.width * rows.shape.channels;
  for (std::int64_t y = 0; y < rows.shape.height; ++y) {
    auto* values = rows.row<Value>(y);
    for (std::int64_t i = 0; i < count; ++i) values[i] += add[i];
  }
}

/// One filter as a source of rows.
class RowStage final : public RowSource, public ChunkRunner {
 public:
  /// `filter` adds up, changes the size or has a reach that does not wrap. `inputs` has an entry for each
  /// input of the filter, null for an unused one; they and `watch` outlive the stage. Throws as ChunkRunner
  /// does.
  RowStage(Backend& backend, std::shared_ptr<const FilterPlan> filter, std::vector<RowSource*> inputs,
           std::size_t held, Watch& watch)
      : ChunkRunner(backend, *filter, held + filter->measures.count() * sizeof(Measured), ChunkShape::rows),
        planned_(std::move(filter)),
        sources_(std::move(inputs)),
        measured_(allocate_measured(backend, *planned_)),
        copy_(backend.prepare(CopyJob{})),
        watch_(watch) {
    if (backend.host_memory) return;
    for (const Image& image : images_) host_images_.push_back(image.empty() ? Image() : Image(image.shape()));
  }

  [[nodiscard]] const Shape& shape() const noexcept override { return planned_->output; }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return ChunkRunner::workspace_bytes() + measured_.size;
  }

  void rewind() override {
    for (RowSource* source : sources_)
      if (source != nullptr) source->rewind();
    next_ = 0;
    loaded_ = {};
    ready_ = {};
  }

  /// Runs all measurements, each in a pass through the inputs, and checks their results like check().
  void measure(std::vector<std::string>& warnings) {
    if (!take_largest()) ChunkRunner::measure(measured(), {}, watch_);
    backend_.synchronize({});
    check_measured(backend_, *planned_, measured_, warnings, {});
  }

  void read(const MutableImageView& rows) override {
    for (std::int64_t y = 0; y < rows.shape.height;) {
      if (ready_.first == ready_.last) run_next();
      const std::int64_t count = std::min(rows.shape.height - y, ready_.size());
      const std::int64_t from = ready_.first + kept_at_, width = rows.shape.width;
      const ImageView made = part_of(host(sources_.size()), {{0, width}, {from, from + count}});
      const MutableImageView target = part_of(rows, {{0, width}, {y, y + count}});
      backend_.host_memory ? copy_->run(made, target, {}) : copy_pixels(made, target);
      ready_.first += count;
      y += count;
    }
  }

  /// Adds warnings and throws Error(input) like Plan::check().
  void check(std::vector<std::string>& warnings) {
    backend_.synchronize({});
    filter_->check(warnings, {});
  }

 private:
  /// Moves the areas of all inputs down to this chunk. Rows that both chunks need are kept.
  void load(const Chunk& chunk, Stream stream) override {
    if (chunk.inner.y.first == 0 && loaded_.last != 0) rewind();
    const std::int64_t kept = std::max<std::int64_t>(loaded_.last - chunk.area.y.first, 0);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i] == nullptr) continue;
      const MutableImageView rows = host(i);
      const std::int64_t height = rows.shape.height;
      const std::size_t row = row_bytes(rows.shape);
      skip(*sources_[i], rows, chunk.area.y.first - loaded_.last);
      if (kept != 0) std::memmove(rows.data, rows.at(0, height - kept), row * static_cast<std::size_t>(kept));
      if (kept < height) sources_[i]->read(part_of(rows, {{0, rows.shape.width}, {kept, height}}));
      if (!backend_.host_memory) backend_.upload(images_[i].data(), rows.data, byte_size(rows.shape), stream);
    }
    loaded_ = chunk.area.y;
  }

  /// Reads rows that no result needs.
  static void skip(RowSource& source, const MutableImageView& room, std::int64_t count) {
    for (; count > 0; count -= room.shape.height)
      source.read(part_of(room, {{0, room.shape.width}, {0, std::min(count, room.shape.height)}}));
  }

  /// Takes the range of the only input from its source, if nothing else is measured and it knows the range.
  bool take_largest() {
    const std::optional<MeasureJob>& range = planned_->measures.picture;
    if (!backend_.host_memory || measurements() != 1 || !range || !range->magnitudes || range->weighted ||
        std::ranges::count(sources_, nullptr) + 1 != std::ssize(sources_))
      return false;
    const std::optional<double> largest = sources_.front()->largest();
    if (!largest) return false;
    filter_->begin(measured(), {});
    measured()->largest[0] = std::max(bits_of(*largest), range->at_least[0]);
    measured()->largest[1] = range->at_least[1];
    for (std::int64_t i = 0; i < measured_chunks(); ++i) watch_.step();
    return true;
  }

  void run_next() {
    const Chunk chunk = this->chunk(next_);
    const MutableImageView result = host(sources_.size());
    std::vector<std::byte> above;
    if (planned_->adds_up && next_ != 0) {
      // The last row of the previous chunk, in the area that is loaded now.
      const std::byte* row = result.at(0, chunk.area.y.first - 1 - loaded_.first);
      above.assign(row, row + row_bytes(planned_->output));
    }
    run_chunk(chunk, measured(), {});
    if (backend_.host_memory)
      backend_.synchronize({});
    else
      backend_.download(result.data, images_.back().data(), byte_size(result.shape), {});
    if (!above.empty() && planned_->output.type == Type::u32) add_row<std::uint32_t>(above, result);
    if (!above.empty() && planned_->output.type == Type::u64) add_row<std::uint64_t>(above, result);
    ready_ = chunk.inner.y;
    kept_at_ = chunk.kept.y.first - chunk.inner.y.first;
    ++next_;
    watch_.step();
  }

  /// Returns image i in host memory: the inputs, then the result.
  MutableImageView host(std::size_t i) { return (backend_.host_memory ? images_ : host_images_)[i].view(); }
  [[nodiscard]] Measured* measured() const { return reinterpret_cast<Measured*>(measured_.get()); }

  std::shared_ptr<const FilterPlan> planned_;
  std::vector<RowSource*> sources_;
  std::vector<Image> host_images_;  ///< host copies of images_; empty on the CPU
  Buffer measured_;                 ///< see allocate_measured()
  std::unique_ptr<CopyOperation> copy_;
  std::int64_t next_ = 0;     ///< next chunk to run
  Stretch loaded_;            ///< rows of the picture in the areas
  Stretch ready_;             ///< rows of the result that were not read yet
  std::int64_t kept_at_ = 0;  ///< distance from a row of the result to its place in the image of results
  Watch& watch_;              ///< progress, a step for each chunk
};

}  // namespace

RowSource::~RowSource() = default;

struct RowPipeline::State {
  explicit State(Device on) : device(std::move(on)) {}

  Device device;
  std::deque<RowStage> stages;  ///< of the filters, each after those that change its side inputs
  bool is_measured = false;
  Watch watch;
  std::vector<std::string> warnings;
};

RowPipeline::RowPipeline(const Device& device, const Pipeline& pipeline, RowSource& picture,
                         std::span<RowSource* const> sides)
    : state_(std::make_unique<State>(device)) {
  if (pipeline.empty()) throw Error(ErrorKind::usage, "The pipeline is empty: give one filter at least.");
  const auto add = [&](std::shared_ptr<const FilterPlan> filter, std::vector<RowSource*> inputs) {
    return &state_->stages.emplace_back(device.backend(), std::move(filter), std::move(inputs),
                                        workspace_bytes(), state_->watch);
  };
  const auto add_change = [&](RowSource* side, const Parameters& change) {
    return add(change.filter().describe(device, std::span(&side->shape(), 1), change.data()), {side});
  };
  RowSource* source = &picture;
  FollowedSizes sizes(picture.shape());
  for (const PipelineStep& step : pipeline) {
    const FilterRecord& record = step.parameters.filter();
    if (!record.describe)
      throw Error(ErrorKind::usage,
                  "The filter '" + record.name + "' makes JSON of the whole picture, not row by row.");
    std::vector<RowSource*> inputs{source};
    for (std::size_t i = 0; i < record.inputs.size(); ++i) {
      RowSource* side = sides.empty() ? nullptr : sides.front();
      if (!sides.empty()) sides = sides.subspan(1);
      if (side != nullptr)
        for (const SizeChange& change : sizes.changes(record.inputs[i], side->shape())) {
          side = add_change(side, cut_of(change));
          if (change.scales()) side = add_change(side, resize_of(record.inputs[i], change));
        }
      inputs.push_back(side);
    }
    std::vector<Shape> shapes;
    for (const RowSource* input : inputs) shapes.push_back(input == nullptr ? Shape{} : input->shape());
    std::shared_ptr<const FilterPlan> filter = record.describe(device, shapes, step.parameters.data());
    require_row_by_row(record, *filter);
    if (filter->geometry) sizes.add(*filter->geometry, filter->output);
    source = add(std::move(filter), std::move(inputs));
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

void RowPipeline::watch(Progress progress) { state_->watch = Watch(std::move(progress)); }

void RowPipeline::rewind() { state_->stages.back().rewind(); }

/// Measures stage after stage, because each measures the results of those before it.
void RowPipeline::measure() {
  std::int64_t steps = 0;
  std::int64_t before = 0;  // chunks of a pass up to this stage
  for (const RowStage& stage : state_->stages) {
    steps += stage.measurements() * (before + stage.measured_chunks());
    before += stage.chunks();
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
