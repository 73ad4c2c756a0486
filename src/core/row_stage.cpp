#include "core/row_stage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/windows.h"
#include "core/workspace.h"
#include "satin/error.h"

namespace satin {
namespace {

/// A row of tiles; below it more time goes to the rows that windows share.
constexpr std::int64_t least_rows = 256;
constexpr std::int64_t fewest_rows = 16;
/// Windows of narrow pictures are higher, so that a run has work for all cores.
constexpr std::int64_t least_pixels = std::int64_t{1} << 20;

/// Rows of a band: with twice the reach no row is in more than two windows, on average.
std::int64_t usual_height(const Shape& picture, std::int64_t reach) {
  const std::int64_t rows = std::max({least_rows, 2 * reach, least_pixels / picture.width});
  return std::min(rows, picture.height);
}

std::size_t row_bytes(const Shape& shape) { return static_cast<std::size_t>(interleaved_strides(shape).row); }

MutableImageView rows_of(const MutableImageView& view, std::int64_t first, std::int64_t count) {
  return part_of(view, {{0, view.shape.width}, {first, first + count}});
}

/// Adds the values of a row to those of all rows, modulo their type.
template <class Value>
void add_row(const std::vector<std::byte>& row, const MutableImageView& rows) {
  const auto* add = reinterpret_cast<const Value*>(row.data());
  const std::int64_t count = rows.shape.width * rows.shape.channels;
  for (std::int64_t y = 0; y < rows.shape.height; ++y) {
    auto* values = rows.row<Value>(y);
    for (std::int64_t i = 0; i < count; ++i) values[i] += add[i];
  }
}

}  // namespace

RowSource::~RowSource() = default;

RowStage::RowStage(Backend& backend, std::shared_ptr<const FilterPlan> filter, std::vector<RowSource*> inputs,
                   std::size_t held)
    : backend_(backend), planned_(std::move(filter)) {
  for (RowSource* source : inputs) inputs_.emplace_back().source = source;
  views_.resize(inputs_.size());
  reach_ = planned_->reach ? planned_->reach->y : 0;
  for (std::int64_t rows = usual_height(planned_->output, reach_);; rows = (rows + 1) / 2) {
    WorkspaceBudget budget(backend_, held);
    try {
      prepare(rows);
      return;
    } catch (const NoMemory& reason) {
      filter_.reset();
      for (Input& input : inputs_) {
        input.rows = Image();
        input.on_device = Image();
      }
      output_ = Image();
      host_output_ = Image();
      budget.clear();
      if (rows > fewest_rows) continue;
      throw NoMemory("Even for a band of " + std::to_string(height_) + " rows of " +
                     std::to_string(planned_->output.width) + " pixels there is not enough memory. " +
                     reason.what());
    }
  }
}

void RowStage::prepare(std::int64_t inner_height) {
  const Shape& picture = planned_->output;
  inner_height_ = inner_height;
  height_ = window_size(inner_height, picture.height, reach_);
  const auto allocate = [&](const Shape& shape, Image& host, Image* own) {
    const Shape window = resized(shape, shape.width, height_);
    if (backend_.host_memory) {
      host = backend_.allocate(window);
    } else {
      host = Image(window);
      *own = backend_.allocate(window);
    }
  };
  measured_ = allocate_measured(backend_, *planned_);
  for (Input& input : inputs_)
    if (input.source != nullptr) allocate(input.source->shape(), input.rows, &input.on_device);
  if (backend_.host_memory)
    allocate(picture, output_, nullptr);
  else
    allocate(picture, host_output_, &output_);
  filter_ = satin::prepare(backend_, *planned_, picture.width, height_);
}

std::size_t RowStage::workspace_bytes() const noexcept {
  std::size_t bytes = filter_->workspace_bytes() + measured_.size + byte_size(output_.shape());
  for (const Input& input : inputs_)
    if (input.source != nullptr) bytes += byte_size(input.rows.shape());
  return bytes;
}

std::int64_t RowStage::windows() const noexcept {
  return (planned_->output.height + inner_height_ - 1) / inner_height_;
}

Stretch RowStage::inner(std::int64_t index) const noexcept {
  const std::int64_t first = index * inner_height_;
  return {first, std::min(first + inner_height_, planned_->output.height)};
}

void RowStage::rewind() {
  for (const Input& input : inputs_)
    if (input.source != nullptr) input.source->rewind();
  next_ = 0;
  loaded_ = {};
  ready_ = {};
}

void RowStage::load(std::int64_t index) {
  const Stretch window = window_around(inner(index), height_, planned_->output.height, reach_, false).value();
  const std::int64_t kept = std::max<std::int64_t>(loaded_.last - window.first, 0);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    if (input.source == nullptr) continue;
    load_rows(input, kept);
    views_[i] = backend_.host_memory ? input.rows.view() : input.on_device.view();
  }
  loaded_ = window;
}

void RowStage::load_rows(Input& input, std::int64_t kept) {
  const std::size_t row = row_bytes(input.rows.shape());
  if (kept != 0)
    std::memmove(input.rows.data(), input.rows.data() + row * static_cast<std::size_t>(height_ - kept),
                 row * static_cast<std::size_t>(kept));
  if (kept < height_) input.source->read(rows_of(input.rows.view(), kept, height_ - kept));
  if (!backend_.host_memory)
    backend_.upload(input.on_device.data(), input.rows.data(), byte_size(input.rows.shape()), {});
}

void RowStage::run_next() {
  const std::int64_t index = next_++;
  const Stretch wanted = inner(index);
  std::vector<std::byte> above;
  if (planned_->adds_up && index != 0) {
    // The window that is in place ends where this part begins; this one may begin some rows above that.
    const std::int64_t first = std::min(wanted.first, planned_->output.height - height_);
    const std::byte* row = result().view().at(0, first - 1 - loaded_.first);
    above.assign(row, row + row_bytes(planned_->output));
  }
  load(index);
  auto* measured = reinterpret_cast<Measured*>(measured_.get());
  filter_->run(views_, output_.view(), measured, {});
  if (backend_.host_memory)
    backend_.synchronize({});
  else
    backend_.download(host_output_.data(), output_.data(), byte_size(output_.shape()), {});
  if (!above.empty() && planned_->output.type == Type::u32) add_row<std::uint32_t>(above, result().view());
  if (!above.empty() && planned_->output.type == Type::u64) add_row<std::uint64_t>(above, result().view());
  ready_ = wanted;
  if (watch_ != nullptr) watch_->step();
}

void RowStage::read(const MutableImageView& rows) {
  const std::size_t row = row_bytes(planned_->output);
  for (std::int64_t y = 0; y < rows.shape.height; ++y, ++ready_.first) {
    if (ready_.first == ready_.last) run_next();
    std::memcpy(rows.at(0, y), result().view().at(0, ready_.first - loaded_.first), row);
  }
}

void RowStage::measure(std::vector<std::string>& warnings) {
  auto* measured = reinterpret_cast<Measured*>(measured_.get());
  filter_->begin(measured, {});
  for (int step = 0; step < filter_->measurements(); ++step) {
    rewind();
    for (std::int64_t i = 0; i < windows(); ++i) {
      load(i);
      const Rectangle window{{0, planned_->output.width}, loaded_};
      const Rectangle part{{0, planned_->output.width}, inner(i)};
      filter_->measure(step, views_, seen_from(window, part), measured, {});
      if (watch_ != nullptr) watch_->step();
    }
  }
  rewind();
  if (measured == nullptr) return;
  backend_.synchronize({});
  check_measured(backend_, *planned_, measured_, warnings, {});
}

void RowStage::check(std::vector<std::string>& warnings) {
  backend_.synchronize({});
  filter_->check(warnings, {});
}

}  // namespace satin
