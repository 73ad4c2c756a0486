#pragma once
// Parts of a picture.

#include <cstdint>

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

/// These pixels, counted from the upper left one of the window.
[[nodiscard]] inline Rectangle seen_from(const Rectangle& window, const Rectangle& pixels) noexcept {
  return {{pixels.x.first - window.x.first, pixels.x.last - window.x.first},
          {pixels.y.first - window.y.first, pixels.y.last - window.y.first}};
}

}  // namespace satin
