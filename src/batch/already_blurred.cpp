#include "batch/already_blurred.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace satin::batch {
namespace {

constexpr std::int64_t window = 16;  // pixels of a row in which an edge is looked for
constexpr std::int64_t step = 3;     // from window to window, in both directions
constexpr double outer = 0.3;

/// A value below which this share of all lies.
template <class Value>
Value percentile(std::vector<Value>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Edge {
  float contrast = 0;   ///< from the darkest to the brightest pixel of the window
  float steepness = 0;  ///< the largest difference of neighbours, as a part of that
};

/// The findings in one of the two groups of pixels.
struct Detail {
  std::vector<Edge> edges;
  double energy = 0;

  [[nodiscard]] double mean_energy() const {
    return energy / static_cast<double>(edges.size() * (window - 1));
  }

  /// The steepness that a tenth of the pixels surpasses, among the hundredth part with the most contrast.
  [[nodiscard]] double edge_steepness() {
    const auto kept = static_cast<std::ptrdiff_t>(edges.size() / 100 + 1);
    std::nth_element(edges.begin(), edges.begin() + kept - 1, edges.end(),
                     [](const Edge& a, const Edge& b) { return a.contrast > b.contrast; });
    std::vector<float> steepness;
    for (std::ptrdiff_t i = 0; i < kept; ++i)
      steepness.push_back(edges[static_cast<std::size_t>(i)].steepness);
    return percentile(steepness, 0.9);
  }
};

template <class Value>
void add_window(Detail& detail, const ImageView& picture, std::int64_t x, std::int64_t y, int channel) {
  float lowest = picture.value<Value>(x, y, channel), highest = lowest, before = lowest, largest = 0;
  for (std::int64_t i = 1; i < window; ++i) {
    const float value = picture.value<Value>(x + i, y, channel), difference = std::abs(value - before);
    detail.energy += double{difference} * difference;
    largest = std::max(largest, difference);
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    before = value;
  }
  const float contrast = highest - lowest;
  detail.edges.push_back({contrast, contrast > 0 ? largest / contrast : 0});
}

template <class Value>
bool compare(const ImageView& picture, const ImageView& values, float low, float high, bool low_is_far) {
  const Shape& shape = picture.shape;
  const int channel = shape.channels >= 3 ? 1 : 0;  // green is the sharpest of a camera's colours
  Detail least, largest;
  const auto value_at = [&](std::int64_t x, std::int64_t y) {
    return values.value<float>(x * values.shape.width / shape.width, y * values.shape.height / shape.height);
  };
  for (std::int64_t y = 0; y < shape.height; y += step)
    for (std::int64_t x = 0; x + window <= shape.width; x += step) {
      const float left = value_at(x, y), right = value_at(x + window - 1, y);
      if (std::max(left, right) <= low) add_window<Value>(least, picture, x, y, channel);
      if (std::min(left, right) >= high) add_window<Value>(largest, picture, x, y, channel);
    }
  if (least.edges.empty() || largest.edges.empty()) return false;
  Detail& far = low_is_far ? least : largest;
  Detail& near = low_is_far ? largest : least;
  return far.mean_energy() < 0.15 * near.mean_energy() && far.edge_steepness() < 0.5 * near.edge_steepness();
}

}  // namespace

bool seems_blurred(const ImageView& picture, const PhotoDepth& depth) {
  const auto* first = reinterpret_cast<const float*>(depth.values.data());
  const Shape& shape = depth.values.shape();
  std::vector<float> sorted(first, first + shape.width * shape.height);
  const float low = percentile(sorted, outer), high = percentile(sorted, 1 - outer);
  const bool low_is_far = depth.kind == DepthKind::disparity;
  if (!(low < high)) return false;
  if (picture.shape.type == Type::u8)
    return compare<std::uint8_t>(picture, depth.values, low, high, low_is_far);
  if (picture.shape.type == Type::u16)
    return compare<std::uint16_t>(picture, depth.values, low, high, low_is_far);
  return picture.shape.type == Type::f32 && compare<float>(picture, depth.values, low, high, low_is_far);
}

}  // namespace satin::batch
