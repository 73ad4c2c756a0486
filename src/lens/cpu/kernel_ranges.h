#pragma once
// Radii that share their staircases: samples of one range differ by their weights alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/workspace.h"
#include "lens/lens_kernels.h"

namespace satin::cpu {

/// Radii out of focus from `first` to `last`.
struct KernelRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// The ranges of samples that are no blocks.
class KernelRanges {
 public:
  explicit KernelRanges(const LensKernels& kernels)
      : largest_(kernels.largest), numbers_(2 * (std::size_t{kernels.largest} + 1)) {
    const LensKernelView view = kernels.view();
    for (const bool highlight : {false, true})
      for (std::uint32_t radius = 0; radius <= largest_; ++radius) {
        const bool begins = radius == 0 || radius == lens_focus_radius + 1 ||
                            !same_staircases(lens_kernel(view, radius, highlight, false),
                                             lens_kernel(view, radius - 1, highlight, false));
        if (begins) ranges_.push_back({std::max(radius, lens_focus_radius + 1), radius});
        ranges_.back().last = radius == largest_ ? ~std::uint32_t{0} : radius;
        numbers_[place(radius, highlight)] = static_cast<std::uint16_t>(ranges_.size() - 1);
      }
  }

  [[nodiscard]] const KernelRange& of(std::uint32_t radius, bool highlight) const {
    return ranges_[numbers_[place(radius < largest_ ? radius : largest_, highlight)]];
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return numbers_.size() * sizeof(std::uint16_t) + ranges_.size() * sizeof(KernelRange);
  }

 private:
  [[nodiscard]] std::size_t place(std::uint32_t radius, bool highlight) const {
    return (highlight ? std::size_t{largest_} + 1 : 0) + radius;
  }

  std::uint32_t largest_;
  WorkspaceVector<std::uint16_t> numbers_;  ///< of the range of every radius
  WorkspaceVector<KernelRange> ranges_;
};

}  // namespace satin::cpu
