#include "core/windowed_filter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/host_memory.h"
#include "core/workspace.h"

namespace satin {
namespace {

constexpr std::int64_t smallest_part = 16;

/// Calls piece(stretch of the line, where it begins in the window) for what lies together: two pieces or more
/// where the window goes beyond an end.
template <class Piece>
void for_pieces(const Stretch& window, std::int64_t line, const Piece& piece) {
  for (std::int64_t at = window.first; at < window.last;) {
    const std::int64_t from = (at % line + line) % line;
    const std::int64_t count = std::min(window.last - at, line - from);
    piece(Stretch{from, from + count}, at - window.first);
    at += count;
  }
}

/// Calls copy(part of the picture, its place in the window).
template <class Copy>
void copy_window(const ImageView& picture, const Rectangle& window, const MutableImageView& target,
                 const Copy& copy) {
  for_pieces(window.y, picture.shape.height, [&](const Stretch& rows, std::int64_t y) {
    for_pieces(window.x, picture.shape.width, [&](const Stretch& columns, std::int64_t x) {
      copy(part_of(picture, {columns, rows}),
           part_of(target, {{x, x + columns.size()}, {y, y + rows.size()}}));
    });
  });
}

Stretch window_of(const Stretch& inner, std::int64_t size, std::int64_t line, std::int64_t reach,
                  bool wraps) {
  if (!wraps) return window_around(inner, size, line, reach, false).value();
  if (size == line) return {0, line};
  return {inner.first - reach, inner.first - reach + size};
}

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

[[noreturn]] void refuse(const NoMemory& reason, const WindowGrid& grid) {
  throw NoMemory("Even for a part of the picture, which takes a window of " +
                 size_text(grid.width(), grid.height()) + " pixels, there is not enough memory. " +
                 reason.what());
}

std::int64_t parts_of(std::int64_t line, std::int64_t inner) { return (line + inner - 1) / inner; }

}  // namespace

WindowGrid::WindowGrid(const Shape& picture, const Reach& reach, std::int64_t inner_width,
                       std::int64_t inner_height)
    : picture_(picture),
      reach_(reach),
      inner_width_(inner_width),
      inner_height_(inner_height),
      columns_(parts_of(picture.width, inner_width)),
      rows_(parts_of(picture.height, inner_height)),
      width_(window_size(inner_width, picture.width, reach.x)),
      height_(window_size(inner_height, picture.height, reach.y)) {}

WindowGrid::Part WindowGrid::part(std::int64_t index) const {
  const std::int64_t x = index % columns_ * inner_width_;
  const std::int64_t y = index / columns_ * inner_height_;
  const Stretch columns{x, std::min(x + inner_width_, picture_.width)};
  const Stretch rows{y, std::min(y + inner_height_, picture_.height)};
  return {{columns, rows},
          {window_of(columns, width_, picture_.width, reach_.x, reach_.wraps),
           window_of(rows, height_, picture_.height, reach_.y, reach_.wraps)}};
}

WindowedFilter::WindowedFilter(Backend& backend, const FilterPlan& filter, std::size_t held)
    : backend_(backend),
      copy_(backend.prepare(CopyJob{})),
      grid_(filter.output, *filter.reach, filter.output.width, filter.output.height) {
  std::int64_t width = filter.output.width;
  std::int64_t height = filter.output.height;
  for (std::optional<NoMemory> reason(std::in_place, "It is the whole picture."); reason;
       reason = try_to_prepare(filter, held)) {
    if (std::max(width, height) <= smallest_part) refuse(*reason, grid_);
    std::int64_t& longer = width > height ? width : height;
    longer = (longer + 1) / 2;
    grid_ = WindowGrid(filter.output, *filter.reach, width, height);
  }
}

std::optional<NoMemory> WindowedFilter::try_to_prepare(const FilterPlan& filter, std::size_t held) {
  WorkspaceBudget budget(backend_, held);
  try {
    prepare(filter);
    return std::nullopt;
  } catch (const NoMemory& reason) {
    filter_.reset();
    inputs_.clear();
    output_ = Image();
    budget.clear();
    return reason;
  }
}

void WindowedFilter::prepare(const FilterPlan& filter) {
  const auto allocate = [&](const Shape& shape) {
    return backend_.allocate(resized(shape, grid_.width(), grid_.height()));
  };
  for (const Shape& input : filter.inputs) inputs_.push_back(input.width == 0 ? Image() : allocate(input));
  output_ = allocate(filter.output);
  filter_ = satin::prepare(backend_, filter, grid_.width(), grid_.height());
}

std::size_t WindowedFilter::workspace_bytes() const noexcept {
  std::size_t bytes = filter_->workspace_bytes() + byte_size(output_.shape());
  for (const Image& input : inputs_)
    if (!input.empty()) bytes += byte_size(input.shape());
  return bytes;
}

void WindowedFilter::run(std::span<const ImageView> inputs, const MutableImageView& output,
                         Measured* measured, Stream stream, Watch& watch) {
  filter_->begin(measured, stream);
  for (int step = 0; step < filter_->measurements(); ++step)
    for (std::int64_t i = 0; i < grid_.count(); ++i) {
      const WindowGrid::Part part = grid_.part(i);
      load(inputs, part.window, stream);
      filter_->measure(step, views_, seen_from(part.window, part.inner), measured, stream);
      watch.step();
    }
  for (std::int64_t i = 0; i < grid_.count(); ++i) {
    const WindowGrid::Part part = grid_.part(i);
    load(inputs, part.window, stream);
    filter_->run(views_, output_.view(), measured, stream);
    store(part, output, stream);
    watch.step();
  }
}

void WindowedFilter::load(std::span<const ImageView> inputs, const Rectangle& window, Stream stream) {
  views_.assign(inputs_.size(), {});
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].empty()) continue;
    load_input(i, inputs[i], window, stream);
    views_[i] = inputs_[i].view();
  }
}

void WindowedFilter::load_input(std::size_t index, const ImageView& input, const Rectangle& window,
                                Stream stream) {
  Image& target = inputs_[index];
  if (input.memory == backend_.memory()) {
    copy_window(input, window, target.view(),
                [&](const ImageView& from, const MutableImageView& to) { copy_->run(from, to, stream); });
    return;
  }
  Image host(target.shape());
  copy_window(input, window, host.view(), copy_pixels);
  backend_.upload(target.data(), host.data(), byte_size(host.shape()), stream);
}

void WindowedFilter::store(const WindowGrid::Part& part, const MutableImageView& output, Stream stream) {
  const Rectangle inner = seen_from(part.window, part.inner);
  const MutableImageView target = part_of(output, part.inner);
  if (output.memory == backend_.memory()) {
    copy_->run(part_of(output_.view(), inner), target, stream);
    return;
  }
  Image host(output_.shape());
  backend_.download(host.data(), output_.data(), byte_size(host.shape()), stream);
  copy_pixels(part_of(host.view(), inner), target);
}

}  // namespace satin
