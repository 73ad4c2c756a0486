// The aperture of a LensStyle: its outline, cut into rows of edges.

#include "lens/lamps.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace satin {
namespace {

constexpr int outline_points = 2048;
constexpr int rings = 8;              ///< rings of equal width, every other one darker
constexpr double darkest_ring = 0.5;  ///< light in dark rings with onion = 1
constexpr double farthest_rim = 0.8;  ///< shift of the rim in the corner with cats_eye = 1, radii

struct Point {
  double x, y;
};

/// Distance of the outline from the centre, at an angle from the middle of the nearest side. A side is an arc
/// through its corners; its height over the straight side is `curvature` times that of the circumscribed
/// circle.
double blade_radius(double angle, int blades, double curvature) {
  const double half = std::numbers::pi / blades;
  const double side = std::cos(half);
  if (curvature <= 0) return side / std::cos(angle);
  const double height = curvature * (1 - side);
  const double chord = std::sin(half);
  const double arc = (chord * chord + height * height) / (2 * height);
  const double middle = side + height - arc;
  const double across = middle * std::sin(angle);
  return middle * std::cos(angle) + std::sqrt(arc * arc - across * across);
}

/// Outline of the opening. Its corners have distance 1, and it stands on a side unless turned.
std::vector<Point> outline_of(const LensStyle& style) {
  const int blades = blades_of(style);
  const double turn = style.blade_angle * std::numbers::pi / 180;
  const double sector = blades == 0 ? 1 : 2 * std::numbers::pi / blades;
  std::vector<Point> outline;
  for (int i = 0; i < outline_points; ++i) {
    const double angle = 2 * std::numbers::pi * i / outline_points;  // from the middle of a side
    const double off = angle - sector * std::round(angle / sector);
    const double radius = blades == 0 ? 1 : blade_radius(off, blades, style.blade_curvature);
    const double direction = angle + std::numbers::pi / 2 + turn;
    outline.push_back({radius * std::cos(direction), radius * std::sin(direction)});
  }
  return outline;
}

struct Moments {
  double area = 0;
  double variance = 0;  ///< mean of the variances along both axes, around 0
};

Moments moments_of(const std::vector<Point>& outline) {
  Moments moments;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point& a = outline[i];
    const Point& b = outline[(i + 1) % outline.size()];
    const double twice_area = a.x * b.y - b.x * a.y;
    moments.area += twice_area / 2;
    moments.variance +=
        twice_area * (a.x * a.x + a.x * b.x + b.x * b.x + a.y * a.y + a.y * b.y + b.y * b.y) / 24;
  }
  moments.variance /= moments.area;
  return moments;
}

struct RowRange {
  double left = 0, right = 0;
};

/// Rows of the convex outline at the centres of `count` rows from -reach to reach.
std::vector<RowRange> rows_of(const std::vector<Point>& outline, double reach, int count) {
  std::vector<RowRange> rows(static_cast<std::size_t>(count), {HUGE_VAL, -HUGE_VAL});
  const auto row_of = [&](double y) { return (y / reach + 1) / 2 * count - 0.5; };
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point& a = outline[i];
    const Point& b = outline[(i + 1) % outline.size()];
    const double top = std::min(row_of(a.y), row_of(b.y));
    const double bottom = std::max(row_of(a.y), row_of(b.y));
    for (int row = std::max(0, static_cast<int>(std::ceil(top))); row <= bottom && row < count; ++row) {
      const double fraction = b.y == a.y ? 0 : (row - row_of(a.y)) / (row_of(b.y) - row_of(a.y));
      const double x = a.x + fraction * (b.x - a.x);
      RowRange& range = rows[static_cast<std::size_t>(row)];
      range = {std::min(range.left, x), std::max(range.right, x)};
    }
  }
  return rows;
}

/// Row of a copy that is scaled around the centre, or null if the copy does not reach it.
const RowRange* scaled_row(const std::vector<RowRange>& rows, int row, double scale) {
  const double middle = static_cast<double>(rows.size()) / 2;
  const double from = (row + 0.5 - middle) / scale + middle;
  if (from < 0 || from >= static_cast<double>(rows.size())) return nullptr;
  const RowRange& range = rows[static_cast<std::size_t>(from)];
  return range.left < range.right ? &range : nullptr;
}

void add_row(ApertureTable& table, const std::vector<RowRange>& rows, int row, double onion) {
  const auto first = static_cast<std::uint32_t>(table.edges.size());
  const auto dark = static_cast<std::int32_t>(std::lround(aperture_full * (1 - darkest_ring * onion)));
  for (int ring = 0; ring < (onion > 0 ? rings : 1); ++ring) {
    const double scale = 1 - static_cast<double>(ring) / rings;
    const std::int32_t step = ring == 0       ? aperture_full
                              : ring % 2 == 1 ? dark - aperture_full
                                              : aperture_full - dark;
    const RowRange* range = scaled_row(rows, row, scale);
    if (range == nullptr || step == 0) continue;
    table.edges.push_back({static_cast<float>(range->left * scale), step});
    table.edges.push_back({static_cast<float>(range->right * scale), -step});
  }
  table.rows.push_back({first, static_cast<std::uint32_t>(table.edges.size()) - first});
}

}  // namespace

int blades_of(const LensStyle& style) {
  constexpr int usual = 6;
  switch (style.bokeh) {
    case Bokeh::disc:
      return style.blades.value_or(0);
    case Bokeh::hexagon:
      return 6;
    case Bokeh::square:
      return 4;
    case Bokeh::polygon:
      return style.blades.value_or(usual);
  }
  return 0;
}

/// A full cat's eye leaves half of a disc in the corner; with onion = 1 the mean of the rings is above half.
int peak_bits_of(const LensStyle& style) { return (style.cats_eye > 0 ? 1 : 0) + (style.onion > 0 ? 1 : 0); }

std::vector<OutlineRow> outline_of(const ApertureTable& table) {
  std::vector<OutlineRow> outline;
  for (const ApertureRow& row : table.rows)
    outline.push_back(row.count == 0 ? OutlineRow{}
                                     : OutlineRow{table.edges[row.first].at, table.edges[row.first + 1].at});
  return outline;
}

ApertureTable aperture_table(const LensStyle& style) {
  std::vector<Point> outline = outline_of(style);
  const double scale = 0.5 / std::sqrt(moments_of(outline).variance);
  const double squeeze = std::sqrt(style.squeeze);
  double reach = 0;
  for (Point& point : outline) {
    point = {point.x * scale / squeeze, point.y * scale * squeeze};
    reach = std::max({reach, std::abs(point.x), std::abs(point.y)});
  }
  ApertureTable table;
  table.reach = static_cast<float>(reach);
  table.cut = static_cast<float>(style.cats_eye * farthest_rim * reach);
  table.peak_bits = peak_bits_of(style);
  table.simple = style.onion == 0;
  const std::vector<RowRange> rows = rows_of(outline, reach, aperture_rows);
  for (int row = 0; row < aperture_rows; ++row) {
    const RowRange& range = rows[static_cast<std::size_t>(row)];
    if (range.left < range.right)
      add_row(table, rows, row, style.onion);
    else
      table.rows.push_back({});
  }
  return table;
}

}  // namespace satin
