#pragma once
// A picture that does not fit, filtered window by window.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/copy.h"
#include "core/prepared_filter.h"
#include "satin/error.h"
#include "satin/plan.h"

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
  [[nodiscard]] std::span<const Part> parts() const noexcept { return parts_; }

 private:
  std::int64_t width_;
  std::int64_t height_;
  std::vector<Part> parts_;
};

/// A run that tells a caller how far it is, and ends when the caller says so.
class Watch {
 public:
  Watch() = default;
  explicit Watch(Progress progress) : progress_(std::move(progress)) {}

  /// A run of so many steps.
  void begin(std::int64_t steps) noexcept {
    steps_ = steps;
    done_ = 0;
  }
  /// One of them is done. Throws Error(cancelled).
  void step() {
    ++done_;
    if (progress_ && !progress_(static_cast<double>(done_) / static_cast<double>(steps_)))
      throw Error(ErrorKind::cancelled, "The work was cancelled.");
  }

 private:
  Progress progress_;
  std::int64_t steps_ = 1;
  std::int64_t done_ = 0;
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
  [[nodiscard]] std::int64_t steps() const noexcept {
    return static_cast<std::int64_t>(grid_.parts().size()) * (filter_->measurements() + 1);
  }

 private:
  /// Prepares the filter for these windows; false if there is no memory for it.
  bool prepare(const FilterPlan& filter, const WindowGrid& grid);
  [[nodiscard]] bool is_within_limit(std::size_t held) const noexcept;
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
