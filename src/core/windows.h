#pragma once
// Windows of a picture on which a filter gives the results of the whole picture: a window holds all pixels
// that the filter reads for the wanted ones, and ends where the picture ends if the filter reads beyond it.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "satin/image.h"

namespace satin {

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

/// Returns the pixels in coordinates of the window.
[[nodiscard]] inline Rectangle seen_from(const Rectangle& window, const Rectangle& pixels) noexcept {
  return {{pixels.x.first - window.x.first, pixels.x.last - window.x.first},
          {pixels.y.first - window.y.first, pixels.y.last - window.y.first}};
}

/// How far from a pixel its result reads along each axis, in whole pixels.
struct Reach {
  std::int64_t x = 0;
  std::int64_t y = 0;
  bool wraps = false;  ///< reads beyond an end of the picture continue at the other end
};

/// The cost of running a filter by windows, in pixels that the filter does in the same time.
struct WindowCosts {
  std::int64_t run = 0;      ///< cost of one more window
  std::int64_t copied = 16;  ///< pixels copied in the time of one filtered pixel
  /// Time of a pixel in an inactive tile, in percent of that of another pixel, in a run over the whole
  /// picture.
  std::int64_t left_alone_percent = 100;
  std::int64_t least_pixels = 0;  ///< smallest picture for which searching active tiles pays
};

/// Returns the size of a window that suffices for any `inner` pixels of a line of `line` pixels.
[[nodiscard]] inline std::int64_t window_size(std::int64_t inner, std::int64_t line, std::int64_t reach) {
  return std::min(line, inner + 2 * reach);
}

/// Returns the window of `size` pixels of the line, a window_size() of some number, that suffices for
/// `inner`; none if there is none. A window that does not begin where the line begins, begins at least
/// `reach` before `inner`, and the same holds at the end. So a filter meets the ends of the line only where
/// they really are, and the pixels that a border repeats or reflects there, at most `reach` from the end, are
/// in the window. Those of the other end, which a border that wraps needs, are not.
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

/// Returns the shape of one frame of another size.
[[nodiscard]] inline Shape resized(Shape shape, std::int64_t width, std::int64_t height) {
  shape.width = width;
  shape.height = height;
  shape.frames = 1;
  return shape;
}

/// Returns a view of these pixels of an interleaved or planar view.
template <class Byte>
[[nodiscard]] BasicImageView<Byte> part_of(BasicImageView<Byte> view, const Rectangle& part) {
  if (view.empty()) return view;
  view.data = view.at(part.x.first, part.y.first);
  view.shape.width = part.x.size();
  view.shape.height = part.y.size();
  return view;
}

}  // namespace satin
