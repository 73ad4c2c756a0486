#include "layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lens {

template <class Value>
Grid<Value>::Grid(const std::function<Value(Vec2)>& value)
    : values_(static_cast<std::size_t>(columns) * rows) {
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      values_[static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)] =
          value({(x + 0.5) / 2 - margin, (y + 0.5) / 2 - margin});
}

namespace {

float blend(float a, float b, float t) { return a + t * (b - a); }
Colour blend(const Colour& a, const Colour& b, float t) {
  return {blend(a.red, b.red, t), blend(a.green, b.green, t), blend(a.blue, b.blue, t)};
}

}  // namespace

template <class Value>
Value Grid<Value>::at(Vec2 p) const {
  const double x = std::clamp(2 * (p.x + margin) - 0.5, 0.0, columns - 1.001);
  const double y = std::clamp(2 * (p.y + margin) - 0.5, 0.0, rows - 1.001);
  const int column = static_cast<int>(x);
  const int row = static_cast<int>(y);
  const auto u = static_cast<float>(x - column);
  const auto v = static_cast<float>(y - row);
  const Value* corner = values_.data() + static_cast<std::ptrdiff_t>(row) * columns + column;
  return blend(blend(corner[0], corner[1], u), blend(corner[columns], corner[columns + 1], u), v);
}

template <class Value>
Box Grid<Value>::bounds(const std::function<bool(const Value&)>& holds) const {
  Box box;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      if (!holds(values_[static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column)]))
        continue;
      const double x = column / 2.0 - margin;
      const double y = row / 2.0 - margin;
      const bool at_left = column == 0;
      const bool at_right = column == columns - 1;
      box.left = std::min(box.left, at_left ? -1e9 : x - 1);
      box.right = std::max(box.right, at_right ? 1e9 : x + 1);
      box.top = std::min(box.top, row == 0 ? -1e9 : y - 1);
      box.bottom = std::max(box.bottom, row == rows - 1 ? 1e9 : y + 1);
    }
  return box;
}

template <class Value>
std::vector<Extent> Grid<Value>::extents_of_blocks(const std::function<float(const Value&)>& number) const {
  constexpr int side = 16;
  std::vector<Extent> extents;
  for (int y = 0; y < block_rows; ++y)
    for (int x = 0; x < block_columns; ++x) {
      Extent& extent = extents.emplace_back();
      // Bilinear interpolation reads one value more on each side.
      for (int row = std::max(0, side * y - 1); row < std::min(rows, side * (y + 1) + 1); ++row)
        for (int column = std::max(0, side * x - 1); column < std::min(columns, side * (x + 1) + 1);
             ++column) {
          const float value =
              number(values_[static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column)]);
          extent.low = std::min(extent.low, value);
          extent.high = std::max(extent.high, value);
        }
    }
  return extents;
}

template class Grid<float>;
template class Grid<Colour>;

Layer::Layer(double disparity_in_middle, const std::function<float(Vec2)>& outline_at,
             const std::function<Colour(Vec2)>& colour_at, Vec2 disparity_slope)
    : disparity(disparity_in_middle),
      slope(disparity_slope),
      outline(outline_at),
      texture(colour_at),
      bounds(outline.bounds([](float value) { return value > 0; })),
      extents(outline.extents_of_blocks([](float value) { return value; })) {}

Vec3 Layer::colour_at(Vec2 p) const {
  const Colour colour = texture.at(p);
  return {colour.red, colour.green, colour.blue};
}

Extent Layer::extent_around(Vec2 p, double reach) const {
  const auto block = [](double at, int blocks) {
    return std::clamp(static_cast<int>(std::floor((at + margin) / 8)), 0, blocks - 1);
  };
  constexpr int columns = Grid<float>::block_columns;
  Extent extent;
  for (int y = block(p.y - reach, Grid<float>::block_rows); y <= block(p.y + reach, Grid<float>::block_rows);
       ++y)
    for (int x = block(p.x - reach, columns); x <= block(p.x + reach, columns); ++x) {
      const Extent& own = extents[static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)];
      extent.low = std::min(extent.low, own.low);
      extent.high = std::max(extent.high, own.high);
    }
  return extent;
}

std::vector<Candidate> all_layers(const Scene& scene) {
  std::vector<Candidate> candidates;
  for (const Layer& layer : scene.layers) candidates.push_back({&layer, false});
  return candidates;
}

std::vector<Candidate> layers_seen(const Scene& scene, Vec2 centre, double aperture) {
  constexpr double half_pixel = 0.71;  // distance of a pixel's corners
  std::vector<Candidate> candidates;
  double covered_from = -1e9;  // no ray passes a covering layer, so farther layers are hidden
  const auto blurs_of = [&](const Layer& layer) {
    const double steepness = scene.strength * std::hypot(layer.slope.x, layer.slope.y);
    const double blur = scene.blur_at(layer.disparity_at(centre));
    const double change = steepness * half_pixel;
    const double factor = 1 / (1 - aperture * steepness);
    return std::pair{std::min((blur - change) * factor, (blur - change) / (1 + aperture * steepness)),
                     std::max((blur + change) * factor, (blur + change) / (1 + aperture * steepness))};
  };
  for (const Layer& layer : scene.layers) {
    const auto [low, high] = blurs_of(layer);
    const double reach = aperture * std::max(std::abs(low), std::abs(high)) + half_pixel;
    const Extent extent = layer.extent_around(centre, reach);
    if (extent.high <= 0) continue;
    const bool everywhere = extent.low > 0;
    candidates.push_back({&layer, everywhere});
    if (everywhere) covered_from = std::max(covered_from, low);
  }
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return blurs_of(*candidate.layer).second < covered_from; });
  return candidates;
}

Hit nearest_hit(const Scene& scene, std::span<const Candidate> candidates, Vec2 p, Vec2 u, double behind) {
  Hit nearest;
  for (const auto& [layer, everywhere] : candidates) {
    // c = strength (d(p - c u) - focus), and d is linear.
    const double c = scene.blur_at(layer->disparity_at(p)) /
                     (1 + scene.strength * (layer->slope.x * u.x + layer->slope.y * u.y));
    const Vec2 place{p.x - c * u.x, p.y - c * u.y};
    const double disparity = scene.focus + c / scene.strength;
    if (disparity >= behind || (nearest.layer != nullptr && disparity <= nearest.disparity)) continue;
    if (!everywhere && (!layer->bounds.holds(place) || layer->outline.at(place) <= 0)) continue;
    nearest = {layer, place, disparity};
  }
  return nearest;
}

}  // namespace lens
