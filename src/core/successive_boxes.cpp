#include "core/successive_boxes.h"

#include <algorithm>
#include <cmath>

namespace satin {
namespace {

/// Variance of a box of this radius along one axis, in square pixels.
double box_variance(Radius256 radius) {
  const int whole_pixels = radius / radius_one;
  const double whole = whole_pixels;
  const double part = static_cast<double>(radius % radius_one) / radius_one;
  const double squares = whole * (whole + 1) * (2 * whole + 1) / 3 + 2 * part * (whole + 1) * (whole + 1);
  return squares / (2 * whole + 1 + 2 * part);
}

}  // namespace

std::vector<Radius256> radii_for_sigma(double sigma, int boxes) {
  const double wanted = sigma * sigma;
  Radius256 low = 0;
  Radius256 high = largest_radius * radius_one;
  while (low < high) {
    const Radius256 middle = (low + high + 1) / 2;
    if (boxes * box_variance(middle) <= wanted) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const double missing = wanted - boxes * box_variance(low);
  const double quantum = box_variance(low + 1) - box_variance(low);
  const int enlarged = std::clamp(static_cast<int>(std::floor(missing / quantum + 0.5)), 0, boxes);
  std::vector<Radius256> radii(static_cast<std::size_t>(boxes), low);
  std::fill_n(radii.begin(), enlarged, low + 1);
  return radii;
}

std::vector<Radius256> radii_for_reach(Radius256 radius, int boxes) {
  std::vector<Radius256> radii(static_cast<std::size_t>(boxes), radius / boxes);
  std::for_each(radii.begin(), radii.begin() + radius % boxes, [](Radius256& r) { ++r; });
  return radii;
}

}  // namespace satin
