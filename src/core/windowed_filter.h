#pragma once
// A picture that does not fit, filtered window by window.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/backend.h"
#include "core/copy.h"
#include "core/prepared_filter.h"
#include "core/watch.h"

namespace satin {

/// The parts of a picture in raster order, each with the window that a filter of this reach needs for it. All
/// windows have one size.
class WindowGrid {
 public:
  struct Part {
    Rectangle inner;
    Rectangle window;  ///< may go beyond the picture where the filter wraps around: to its other end
  };

  WindowGrid(const Shape& picture, const Reach& reach, std::int64_t inner_width, std::int64_t inner_height);

  [[nodiscard]] std::int64_t width() const noexcept { return width_; }    ///< of the windows
  [[nodiscard]] std::int64_t height() const noexcept { return height_; }  ///< of the windows
  [[nodiscard]] std::int64_t count() const noexcept { return columns_ * rows_; }
  [[nodiscard]] Part part(std::int64_t index) const;

 private:
  Shape picture_;
  Reach reach_;
  std::int64_t inner_width_;
  std::int64_t inner_height_;
  std::int64_t columns_;  ///< parts beside each other
  std::int64_t rows_;
  std::int64_t width_;
  std::int64_t height_;
};

/// Gives the bytes of the filter for the whole picture. What the filter needs to know of that is measured on
/// all windows before the first one is run.
class WindowedFilter {
 public:
  /// Chooses the largest windows for which the memory suffices, halving the longer side. Throws NoMemory if
  /// it does not suffice for parts of 16 x 16 pixels. `held`: what the plan itself holds.
  WindowedFilter(Backend& backend, const FilterPlan& filter, std::size_t held);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Views of single frames in any memory, of any strides; the output overlaps no input.
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream, Watch& watch);
  /// How often a run calls watch.step().
  [[nodiscard]] std::int64_t steps() const noexcept { return grid_.count() * (filter_->measurements() + 1); }

 private:
  /// Prepares the filter for windows of the grid. Throws NoMemory.
  void prepare(const FilterPlan& filter);
  /// Prepares as above, and returns the reason if there is no memory for it.
  std::optional<NoMemory> try_to_prepare(const FilterPlan& filter, std::size_t held);
  void load(std::span<const ImageView> inputs, const Rectangle& window, Stream stream);
  void load_input(std::size_t index, const ImageView& input, const Rectangle& window, Stream stream);
  void store(const WindowGrid::Part& part, const MutableImageView& output, Stream stream);

  Backend& backend_;
  std::unique_ptr<CopyOperation> copy_;
  WindowGrid grid_;
  std::unique_ptr<PreparedFilter> filter_;
  std::vector<Image> inputs_;  ///< one window of each; empty: not used
  Image output_;
  std::vector<ImageView> views_;  ///< of inputs_
};

}  // namespace satin
