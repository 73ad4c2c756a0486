#include "layers.h"

#include <algorithm>
#include <cmath>

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

template class Grid<float>;
template class Grid<Colour>;

Layer::Layer(double disparity_in_middle, const std::function<float(Vec2)>& outline_at,
             const std::function<Colour(Vec2)>& colour_at, Vec2 disparity_slope)
    : disparity(disparity_in_middle),
      slope(disparity_slope),
      outline(outline_at),
      texture(colour_at),
      bounds(outline.bounds([](float value) { return value > 0; })) {}

Vec3 Layer::colour_at(Vec2 p) const {
  const Colour colour = texture.at(p);
  return {colour.red, colour.green, colour.blue};
}

Hit nearest_hit(const Scene& scene, Vec2 p, Vec2 u, double behind) {
  Hit nearest;
  for (const Layer& layer : scene.layers) {
    // c = strength (d(p - c u) - focus), and d is linear.
    const double c = scene.blur_at(layer.disparity_at(p)) /
                     (1 + scene.strength * (layer.slope.x * u.x + layer.slope.y * u.y));
    const Vec2 place{p.x - c * u.x, p.y - c * u.y};
    const double disparity = scene.focus + c / scene.strength;
    if (disparity >= behind || (nearest.layer != nullptr && disparity <= nearest.disparity)) continue;
    if (!layer.bounds.holds(place) || layer.outline.at(place) <= 0) continue;
    nearest = {&layer, place, disparity};
  }
  return nearest;
}

}  // namespace lens
