#pragma once
// Smallest or largest value in a rectangular window around every pixel, along rows, then along columns.

#include <array>
#include <cstdint>

#include "core/operation.h"
#include "extremes/maths/extreme.h"
#include "satin/border.h"

namespace satin {

struct SlidingExtremeOperation;

struct SlidingExtremeJob {
  using Operation = SlidingExtremeOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;   ///< u8, u16 or f32
  bool weighted = false;  ///< the last channel is straight alpha
  Extreme extreme = Extreme::minimum;
  std::int64_t reach_x = 0;  ///< whole pixels, of any size
  std::int64_t reach_y = 0;
  Border border = Border::shrink;
  std::array<std::int32_t, 4> border_keys{};  ///< of Border::constant: the keys of one pixel outside
  std::uint32_t mask_maximum = 0;             ///< 255 or 65535; 0: no mask
};

/// Views of one run. `output` aliases neither the source nor the mask.
struct SlidingExtremeImages {
  ImageView source;
  ImageView mask;
  MutableImageView output;
};

/// Every channel by itself; keys, alpha and mask as extremes/maths/extreme.h says. Infinite floats and NaN
/// have their place in the order, but filters refuse them.
struct SlidingExtremeOperation : Operation {
  virtual void run(const SlidingExtremeImages& images, Stream stream) = 0;
};

/// What a window that is centred on a pixel sees of its line beyond the ends of the picture.
///
/// clamp, reflect and mirror are shrink. Let the window be [x - r, x + r] with 0 <= x < n, and x - r < 0. The
/// window holds pixel 0, which is all that clamp adds. Position -p, 0 < p <= r - x, is pixel p - 1 of reflect
/// and pixel p of mirror as long as p < n; both are at most r - x <= x + r, and so in the window already. If
/// r - x >= n - 1, the window holds the whole line. The other end likewise. So only wrap and constant add
/// values, and constant adds one value to the windows that leave the picture.
[[nodiscard]] inline bool wraps(const SlidingExtremeJob& job) { return job.border == Border::wrap; }

/// The smallest reach with the same windows on a line of this size.
[[nodiscard]] inline std::int64_t needed_reach(const SlidingExtremeJob& job, std::int64_t reach,
                                               std::int64_t size) {
  const std::int64_t whole_line = wraps(job) ? size / 2 : size - 1;
  return reach < whole_line ? reach : whole_line;
}

/// Pixels as they are stored need something after the extremes are known.
[[nodiscard]] inline bool stores_plainly(const SlidingExtremeJob& job) {
  return !job.weighted && job.mask_maximum == 0;
}

}  // namespace satin
