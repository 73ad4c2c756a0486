#pragma once
// Beyond its border the picture continues as its border pixels: a sample on the border is repeated for all
// pixels beyond it that its kernel reaches. So no surface ends at the border, and none is transparent there.
// Lamps, and blocks of 2 x 2 pixels, are not repeated.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

SATIN_HD bool on_border(std::int64_t at, std::int64_t size) { return at == 0 || at + 1 == size; }

/// Steps along one axis of a box and its repetitions, whose prefix sum counts the boxes on each pixel. Beyond
/// the left border, all repetitions of a box around a pixel begin on pixel 0 and end at successive pixels;
/// the right border mirrors it, and ends beyond it do not count.
class BorderSteps {
 public:
  struct Step {
    std::int32_t place;  ///< from 0 on; `size` and above are beyond the picture
    std::int32_t height;
  };

  /// A box from pixel at + first to at + last, where pixel `at` of `size` pixels is the sample's.
  SATIN_HD BorderSteps(std::int32_t at, std::int32_t first, std::int32_t last, std::int32_t size)
      : place_(inside(at + first)), height_(1), next_(inside(at + last + 1)), count_(2), step_(-1) {
    const std::int32_t clamped = place_ - at - first;
    const std::int32_t longest = last - first;
    if (at + 1 == size) {  // begins at successive pixels from `place_` on, but for those that are clamped
      const std::int32_t end = next_ < size ? next_ : size;
      height_ = 1 + (at == 0 || clamped > longest ? longest : clamped);
      next_ = place_ + 1;
      count_ = at == 0 || end < next_ ? 1 : 1 + end - next_;
      step_ = 1;
      if (at == 0) place_ = 0;
    } else if (at == 0) {
      height_ = next_ - place_;
      count_ = 1 + height_;
      next_ = place_ + 1;
      place_ = 0;
    }
  }

  [[nodiscard]] SATIN_HD std::int32_t count() const { return count_; }

  [[nodiscard]] SATIN_HD Step operator[](std::int32_t i) const {
    return i == 0 ? Step{place_, height_} : Step{next_ + i - 1, step_};
  }

 private:
  SATIN_HD static std::int32_t inside(std::int32_t place) { return place > 0 ? place : 0; }

  std::int32_t place_;   ///< first step
  std::int32_t height_;  ///< of the first step
  std::int32_t next_;    ///< place of the second step; others follow it
  std::int32_t count_;
  std::int32_t step_;  ///< height of all steps but the first
};

}  // namespace satin
