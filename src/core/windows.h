#pragma once
// Running a filter on parts of a picture with the results of the whole: a part holds all that the filter
// looks at around the pixels that are wanted, and ends where the picture ends if the filter looks beyond it.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "satin/image.h"

namespace satin {

// Parts of a picture.

/// Pixels [first, last) of a line.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t size() const noexcept { return last - first; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

struct Rectangle {
  Stretch x;
  Stretch y;

  [[nodiscard]] std::int64_t pixels() const noexcept { return x.size() * y.size(); }
  friend bool operator==(const Rectangle&, const Rectangle&) = default;
};

/// These pixels, counted from the upper left one of the window.
[[nodiscard]] inline Rectangle seen_from(const Rectangle& window, const Rectangle& pixels) noexcept {
  return {{pixels.x.first - window.x.first, pixels.x.last - window.x.first},
          {pixels.y.first - window.y.first, pixels.y.last - window.y.first}};
}

/// How far from a pixel its result looks along each axis, in whole pixels.
struct Reach {
  std::int64_t x = 0;
  std::int64_t y = 0;
  bool wraps = false;  ///< beyond an end of the picture it sees the other end
};

/// What running a filter by windows costs, in pixels that the filter does in the same time.
struct WindowCosts {
  std::int64_t run = 0;      ///< one more window
  std::int64_t copied = 16;  ///< so many pixels are copied in the time of one
  /// Percent of a pixel's time that it takes in a run over the whole picture where the mask leaves its tile
  /// alone.
  std::int64_t left_alone_percent = 100;
  std::int64_t least_pixels = 0;  ///< pictures below are not worth looking for active tiles
};

/// Pixels of a line of `line` pixels that give `inner` of them right, wherever these lie.
[[nodiscard]] inline std::int64_t window_size(std::int64_t inner, std::int64_t line, std::int64_t reach) {
  return std::min(line, inner + 2 * reach);
}

/// Where a window of `size` pixels lies on the line so that it gives `inner` right; none if it cannot.
/// `size` is window_size() of some number of pixels. A window that does not begin at the line's beginning
/// begins `reach` before `inner`, or earlier, and likewise at the end. So whatever a filter does beyond the
/// line's ends it does here at the same places, and the pixels that it finds there (reflected ones are not
/// farther from the end than it looks) are in the window too; but not those of the other end.
[[nodiscard]] inline std::optional<Stretch> window_around(Stretch inner, std::int64_t size, std::int64_t line,
                                                          std::int64_t reach, bool wraps) {
  if (size == line) return Stretch{0, line};
  const std::int64_t first = inner.first - reach;
  const std::int64_t last = inner.last + reach;
  if (wraps && (first < 0 || last > line)) return std::nullopt;
  if (std::min(last, line) - std::max<std::int64_t>(first, 0) > size) return std::nullopt;
  const std::int64_t start = std::clamp<std::int64_t>(first, 0, line - size);
  return Stretch{start, start + size};
}

/// One frame of this size.
[[nodiscard]] inline Shape resized(Shape shape, std::int64_t width, std::int64_t height) {
  shape.width = width;
  shape.height = height;
  shape.frames = 1;
  return shape;
}

/// These pixels of an interleaved or planar view.
template <class Byte>
[[nodiscard]] BasicImageView<Byte> part_of(BasicImageView<Byte> view, const Rectangle& part) {
  if (view.empty()) return view;
  view.data = view.at(part.x.first, part.y.first);
  view.shape.width = part.x.size();
  view.shape.height = part.y.size();
  return view;
}

}  // namespace satin
