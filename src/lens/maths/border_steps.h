#pragma once
// Beyond its border the picture continues as its border pixels: a sample on the border is repeated for all
// pixels beyond it that its kernel reaches. So no surface ends at the border, and none is transparent there.
// Lamps, and blocks of 2 x 2 pixels, are not repeated.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

SATIN_HD bool on_border(std::int64_t at, std::int64_t size) { return at == 0 || at + 1 == size; }

/// Steps along one axis of a box and its repetitions, whose prefix sum counts the boxes on each pixel. Beyond
/// the left border, all repetitions begin on pixel 0 and end at 1, 2, ..., half; the right border mirrors it.
/// All places differ.
class BorderSteps {
 public:
  struct Step {
    std::int32_t place;  ///< from 0 on; `size` and above are beyond the picture
    std::int32_t height;
  };

  /// A box of 2 * half + 1 pixels around pixel `at` of `size` pixels.
  SATIN_HD BorderSteps(std::int32_t at, std::int32_t half, std::int32_t size)
      : at_(at),
        half_(half),
        size_(size),
        left_(at == 0 ? half : 0),
        right_(at + 1 == size ? half : 0),
        clamped_(right_ < size ? 0 : right_ - size + 1) {}

  [[nodiscard]] SATIN_HD std::int32_t count() const { return 2 + left_ + right_ - clamped_; }

  [[nodiscard]] SATIN_HD Step operator[](std::int32_t i) const {
    if (i == 0) return {at_ > half_ ? at_ - half_ : 0, 1 + left_ + clamped_};
    if (i == 1) return {at_ + half_ + 1, -1};
    if (i < 2 + left_) return {i - 1, -1};
    return {size_ - half_ + clamped_ + i - 2 - left_, 1};
  }

 private:
  std::int32_t at_;
  std::int32_t half_;
  std::int32_t size_;
  std::int32_t left_;     ///< repetitions beyond the left border
  std::int32_t right_;    ///< repetitions beyond the right border
  std::int32_t clamped_;  ///< those of the right border that begin on pixel 0 or before
};

}  // namespace satin
