#include "core/chunk_runner.h"

#include <algorithm>
#include <string>

#include "core/workspace.h"

namespace satin {
namespace {

constexpr std::int64_t smallest_chunk = 16;
constexpr std::int64_t least_rows = 256;  ///< with fewer, rows that areas share cost more
/// With fewer pixels, narrow chunks do not occupy all cores.
constexpr std::int64_t least_pixels = std::int64_t{1} << 20;

/// Returns the rows of a chunk where memory suffices. At least twice the reach, so that a row is in at most
/// two areas on average.
std::int64_t usual_rows(const Shape& picture, std::int64_t reach) {
  const std::int64_t rows = std::max({least_rows, 2 * reach, least_pixels / picture.width});
  return std::min(rows, picture.height);
}

/// Calls use(pixels of the line, offset in the area) for contiguous pixels of an area, which wraps around at
/// the ends.
template <class Use>
void for_contiguous(const Stretch& area, std::int64_t line, const Use& use) {
  for (std::int64_t at = area.first; at < area.last;) {
    const std::int64_t from = (at % line + line) % line;
    const std::int64_t count = std::min(area.last - at, line - from);
    use(Stretch{from, from + count}, at - area.first);
    at += count;
  }
}

/// Calls copy(source, target) for views that together cover an area.
template <class Copy>
void copy_area(const ImageView& picture, const Rectangle& area, const MutableImageView& target,
               const Copy& copy) {
  for_contiguous(area.y, picture.shape.height, [&](const Stretch& rows, std::int64_t y) {
    for_contiguous(area.x, picture.shape.width, [&](const Stretch& columns, std::int64_t x) {
      copy(part_of(picture, {columns, rows}),
           part_of(target, {{x, x + columns.size()}, {y, y + rows.size()}}));
    });
  });
}

[[noreturn]] void refuse(const NoMemory& reason, std::int64_t columns, std::int64_t rows, ChunkShape shape) {
  const std::string width = std::to_string(columns);
  const std::string height = std::to_string(rows);
  throw NoMemory("There is not enough memory even for " +
                 (shape == ChunkShape::rows ? height + " rows of " + width + " pixels. "
                                            : "a window of " + width + " x " + height + " pixels. ") +
                 reason.what());
}

}  // namespace

ReshapedRows::ReshapedRows(const FilterPlan& filter)
    : picture_{{0, filter.inputs.front().width}, {0, filter.inputs.front().height}},
      result_{{0, filter.output.width}, {0, filter.output.height}},
      geometry_(filter.geometry) {
  const std::int64_t rows = usual_rows(filter.inputs.front(), 0);
  set_rows(std::max(smallest_chunk, rows * filter.output.height / geometry_->box.y.size()));
}

void ReshapedRows::set_rows(std::int64_t rows) {
  rows_ = std::min(rows, result_.y.last);
  read_ = 1;
  for (std::int64_t i = 0; i < count(); ++i)
    read_ = std::max(read_, geometry_->rows_read(results_of(i)).size());
}

Chunk ReshapedRows::chunk(std::int64_t index) const {
  const Stretch rows = results_of(index);
  return {{result_.x, rows}, area_from(geometry_->rows_read(rows).first), {result_.x, {0, rows.size()}}};
}

Chunk ReshapedRows::pass(std::int64_t index) const {
  const Stretch rows{index * read_, std::min((index + 1) * read_, picture_.y.last)};
  return {{picture_.x, rows}, area_from(rows.first), {}};
}

ChunkRunner::ChunkRunner(Backend& backend, const FilterPlan& filter, std::size_t held, ChunkShape shape)
    : backend_(backend),
      grid_(filter.output, filter.reach.value_or(Reach{}), filter.output.width, filter.output.height) {
  if (filter.geometry) {
    reshaped_.emplace(filter);
    shape = ChunkShape::rows;
  }
  const bool rows = shape == ChunkShape::rows;
  if (rows) grid_.y.inner = usual_rows(filter.output, grid_.y.reach);
  for (auto reason = rows ? try_to_prepare(filter, held) : NoMemory("It is the whole picture."); reason;
       reason = try_to_prepare(filter, held))
    if (!halve(shape))
      refuse(*reason, reshaped_ ? filter.inputs.front().width : grid_.x.area(),
             reshaped_ ? reshaped_->rows_read() : grid_.y.area(), shape);
}

bool ChunkRunner::halve(ChunkShape shape) {
  if (reshaped_) {
    const std::int64_t rows = reshaped_->rows();
    if (rows > 1) reshaped_->set_rows((rows + 1) / 2);
    return rows > 1;
  }
  const bool higher = shape == ChunkShape::rows || grid_.y.inner >= grid_.x.inner;
  std::int64_t& longer = higher ? grid_.y.inner : grid_.x.inner;
  if (longer <= smallest_chunk) return false;
  longer = (longer + 1) / 2;
  return true;
}

std::optional<NoMemory> ChunkRunner::try_to_prepare(const FilterPlan& filter, std::size_t held) {
  WorkspaceBudget budget(backend_, held);
  const std::int64_t width = reshaped_ ? filter.inputs.front().width : grid_.x.area();
  const std::int64_t height = reshaped_ ? reshaped_->rows_read() : grid_.y.area();
  try {
    for (const Shape& input : filter.inputs) {
      images_.push_back(input.width == 0 ? Image() : backend_.allocate(resized(input, width, height)));
      views_.push_back(input.width == 0 ? ImageView() : images_.back().view());
    }
    images_.push_back(backend_.allocate(reshaped_
                                            ? resized(filter.output, filter.output.width, reshaped_->rows())
                                            : resized(filter.output, width, height)));
    filter_ = prepare(backend_, filter, width, height);
    return std::nullopt;
  } catch (const NoMemory& reason) {
    filter_.reset();
    images_.clear();
    views_.clear();
    budget.clear();
    return reason;
  }
}

std::size_t ChunkRunner::workspace_bytes() const noexcept {
  std::size_t bytes = filter_->workspace_bytes();
  for (const Image& image : images_)
    if (!image.empty()) bytes += byte_size(image.shape());
  return bytes;
}

void ChunkRunner::measure(Measured* measured, Stream stream, Watch& watch) {
  filter_->begin(measured, stream);
  for (int step = 0; step < measurements(); ++step)
    for (std::int64_t i = 0; i < measured_chunks(); ++i) {
      const Chunk chunk = reshaped_ ? reshaped_->pass(i) : grid_.chunk(i);
      load(chunk, stream);
      filter_->measure(step, views_, seen_from(chunk.area, chunk.inner), measured, stream);
      watch.step();
    }
}

void ChunkRunner::run_chunk(const Chunk& chunk, Measured* measured, Stream stream) {
  load(chunk, stream);
  if (reshaped_)
    return static_cast<ReshapingFilter&>(*filter_).run_rows(views_.front(), chunk.area.y.first,
                                                            part_of(images_.back().view(), chunk.kept),
                                                            chunk.inner.y.first, measured, stream);
  filter_->run(views_, images_.back().view(), measured, stream);
}

void ChunkedFilter::run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
                        Stream stream, Watch& watch) {
  sources_ = inputs;
  measure(measured, stream, watch);
  for (std::int64_t i = 0; i < chunks(); ++i) {
    run_chunk(chunk(i), measured, stream);
    store(chunk(i), output, stream);
    watch.step();
  }
}

void ChunkedFilter::load(const Chunk& chunk, Stream stream) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    Image& target = images_[i];
    if (target.empty()) continue;
    if (sources_[i].memory == backend_.memory()) {
      copy_area(sources_[i], chunk.area, target.view(),
                [&](const ImageView& from, const MutableImageView& to) { copy_->run(from, to, stream); });
      continue;
    }
    Image host(target.shape());
    copy_area(sources_[i], chunk.area, host.view(), copy_pixels);
    backend_.upload(target.data(), host.data(), byte_size(host.shape()), stream);
  }
}

void ChunkedFilter::store(const Chunk& chunk, const MutableImageView& output, Stream stream) {
  const Image& result = images_.back();
  const MutableImageView target = part_of(output, chunk.inner);
  if (output.memory == backend_.memory())
    return copy_->run(part_of(result.view(), chunk.kept), target, stream);
  Image host(result.shape());
  backend_.download(host.data(), result.data(), byte_size(host.shape()), stream);
  copy_pixels(part_of(host.view(), chunk.kept), target);
}

}  // namespace satin
