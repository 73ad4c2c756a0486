#pragma once
// Smallest or largest value in a rectangular window around every pixel: erosion and dilation.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/operation.h"
#include "core/with_type.h"
#include "extremes/maths/extreme.h"
#include "satin/border.h"
#include "satin/error.h"
#include "satin/param.h"

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
  std::array<std::int32_t, 4> border_keys{};  ///< keys of a pixel outside the picture, for Border::constant
  std::uint32_t mask_maximum = 0;             ///< 255 or 65535; 0: no mask
};

/// Views of one run. `output` aliases no input.
struct SlidingExtremeImages {
  ImageView source;
  ImageView mask;
  MutableImageView output;
  ImageView original{};  ///< picture whose bytes the mask and transparent results keep; empty: the source

  [[nodiscard]] const ImageView& kept() const noexcept { return original.empty() ? source : original; }
};

/// Each channel is filtered by itself; extremes/maths/extreme.h defines keys, and how alpha and mask count.
/// Infinite floats and NaN have keys, too, but filters refuse them.
struct SlidingExtremeOperation : Operation {
  virtual void run(const SlidingExtremeImages& images, Stream stream) = 0;
};

/// Whether windows see pixels of the opposite end of their line. Only wrap and constant add values to a
/// window that leaves the picture, and constant adds one value.
///
/// The other borders give the same extremes as shrink. Let the window be [x - r, x + r] with 0 <= x < n, and
/// x - r < 0; the other end is symmetric. The window holds pixel 0, which is all that clamp adds. Position
/// -p, 0 < p <= r - x, is pixel p - 1 of reflect and pixel p of mirror as long as p < n; both are at most r -
/// x <= x + r, and so in the window already. If r - x >= n - 1, the window holds the whole line.
[[nodiscard]] inline bool wraps(const SlidingExtremeJob& job) { return job.border == Border::wrap; }

/// Returns the smallest reach with the same windows on a line of this size.
[[nodiscard]] inline std::int64_t needed_reach(const SlidingExtremeJob& job, std::int64_t reach,
                                               std::int64_t size) {
  const std::int64_t whole_line = wraps(job) ? size / 2 : size - 1;
  return reach < whole_line ? reach : whole_line;
}

/// Whether extremes are stored without blending.
[[nodiscard]] inline bool stores_plainly(const SlidingExtremeJob& job) {
  return !job.weighted && job.mask_maximum == 0;
}

/// Calls function.operator()<Key>() with the type of the keys of u8, u16 or f32.
template <class Function>
decltype(auto) with_key(Type type, const Function& function) {
  return with_pixel_type(type, [&]<class T>() -> decltype(auto) {
    return function.template operator()<std::conditional_t<std::is_same_v<T, float>, FloatKey, T>>();
  });
}

/// Returns the key of the value outside the picture for Border::constant: a share of white from 0 to 1, or
/// any finite value for floats. Throws Error(usage) for other values.
[[nodiscard]] inline std::int32_t border_key(Type type, double value) {
  if (type == Type::f32) {
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      throw Error(ErrorKind::usage, "border-value must be a finite number.");
    return key_of(static_cast<float>(value));
  }
  if (!(value >= 0 && value <= 1))
    throw Error(ErrorKind::usage,
                "border-value " + print_real(value) + ": must be from 0 to 1, black to white.");
  return static_cast<std::int32_t>(std::floor(value * (type == Type::u8 ? 0xFF : 0xFFFF) + 0.5));
}

}  // namespace satin
