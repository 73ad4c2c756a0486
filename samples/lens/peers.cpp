#include "peers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "render.h"

namespace lens {
namespace {

double radius_at(const Scene& scene, const satin::Image& disparity, int x, int y) {
  return std::abs(scene.blur_at(disparity.view().value<float>(x, y)));
}

/// Share of a pixel at this squared distance that a disc covers.
double covered_by_disc(double radius, int squared_distance) {
  if (squared_distance >= (radius + 0.5) * (radius + 0.5)) return 0;
  if (radius >= 0.5 && squared_distance <= (radius - 0.5) * (radius - 0.5)) return 1;
  return scene::saturate(radius + 0.5 - std::sqrt(squared_distance));
}

/// Summed-area table with a row and a column of zeros.
class Table {
 public:
  explicit Table(const satin::Image& picture) : sums_(static_cast<std::size_t>(width + 1) * (height + 1)) {
    for (int y = 0; y < height; ++y) {
      Vec3 row{};
      for (int x = 0; x < width; ++x) {
        row += pixel_of(picture, x, y);
        sums_[place(x + 1, y + 1)] = sums_[place(x + 1, y)] + row;
      }
    }
  }
  [[nodiscard]] Vec3 mean(int left, int top, int right, int bottom) const {
    const Vec3 sum = sums_[place(right, bottom)] - sums_[place(left, bottom)] - sums_[place(right, top)] +
                     sums_[place(left, top)];
    return sum * (1.0 / ((right - left) * (bottom - top)));
  }

 private:
  static std::size_t place(int x, int y) {
    return static_cast<std::size_t>(y) * (width + 1) + static_cast<std::size_t>(x);
  }
  std::vector<Vec3> sums_;
};

int nearest_edge(double position, int last) {
  return std::clamp(static_cast<int>(std::lround(position)), 0, last);
}

}  // namespace

satin::Image gather(const Scene& scene, const satin::Image& picture, const satin::Image& disparity) {
  const Table table(picture);
  satin::Image result(picture.shape());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double half = std::max(0.5, radius_at(scene, disparity, x, y) * std::sqrt(std::numbers::pi) / 2);
      const int left = nearest_edge(x + 0.5 - half, width - 1);
      const int top = nearest_edge(y + 0.5 - half, height - 1);
      const int right = std::max(left + 1, nearest_edge(x + 0.5 + half, width));
      const int bottom = std::max(top + 1, nearest_edge(y + 0.5 + half, height));
      set_pixel(result, x, y, table.mean(left, top, right, bottom));
    }
  return result;
}

satin::Image spread_discs(const Scene& scene, const satin::Image& picture, const satin::Image& disparity) {
  const auto pixels = static_cast<std::size_t>(width) * height;
  std::vector<Vec3> colours(pixels);
  std::vector<double> weights(pixels);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double radius = std::max(0.5, radius_at(scene, disparity, x, y));
      const double weight = 1 / (std::numbers::pi * radius * radius);
      const Vec3 colour = pixel_of(picture, x, y);
      const int reach = static_cast<int>(std::ceil(radius));
      for (int v = std::max(0, y - reach); v <= std::min(height - 1, y + reach); ++v)
        for (int u = std::max(0, x - reach); u <= std::min(width - 1, x + reach); ++u) {
          const double covered = covered_by_disc(radius, (u - x) * (u - x) + (v - y) * (v - y));
          if (covered == 0) continue;
          const auto at = static_cast<std::size_t>(v) * width + static_cast<std::size_t>(u);
          colours[at] += colour * (weight * covered);
          weights[at] += weight * covered;
        }
    }
  satin::Image result(picture.shape());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
      set_pixel(result, x, y, colours[at] * (1 / weights[at]));
    }
  return result;
}

}  // namespace lens
