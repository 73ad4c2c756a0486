#pragma once
// The opening of a lens, and how a lamp is drawn by it.
//
// A lamp is a bright sample that stands alone; its shape is seen. An aperture has rows, a row has edges where
// the transmitted light changes. A lamp draws the exact shape row by row, as second differences that the
// splat's prefix sums integrate. The rows come from a LensStyle (lens/lamps.cpp) or from a picture (at the
// end of this file).

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/maths/hd.h"
#include "lens/maths/samples.h"
#include "pixels/maths/rows.h"

namespace satin {

/// Edge of a row: right of `at` the row transmits `step` more, in 1/aperture_full.
struct ApertureEdge {
  float at = 0;  ///< position in radii of the circle of confusion, from its centre
  std::int32_t step = 0;
};

/// Edges from left to right; their steps sum to 0.
struct ApertureRow {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Row of the outline of an opening: it transmits light between two columns, in radii. Empty: left = right.
struct OutlineRow {
  float left = 0;
  float right = 0;
};

inline constexpr std::int32_t aperture_full = 255;
inline constexpr int aperture_rows = 1024;        ///< rows of the aperture of a style
inline constexpr int aperture_picture_side = 64;  ///< rows and columns of cells of a picture
/// Rows of the aperture of a picture. The light's centroid is in its middle to 1/4096 of the radius.
inline constexpr int aperture_picture_rows = 8192;
inline constexpr float aperture_picture_reach = 2;  ///< the centroid may be in a corner of the picture
inline constexpr int most_aperture_edges = aperture_picture_side + 1;

/// Rows at equal distances from -reach to reach, in radii. Columns have the same reach.
struct Aperture {
  const ApertureRow* rows = nullptr;
  const ApertureEdge* edges = nullptr;
  std::int32_t count = 0;   ///< number of rows
  std::int32_t simple = 0;  ///< 1 if no row has more than two edges
  float reach = 1;
  float rim = 1;       ///< radius of the rim of a cat's eye, in radii
  float middle_x = 0;  ///< centre of the picture, pixels
  float middle_y = 0;
  float least_light = 0;  ///< least divisor of a lamp's light, as a share of a clear disc
  float cut = 0;          ///< cat's eye: shift of the cutting rim, in radii per pixel from the centre
};

/// A sample that the aperture draws. A pixel gets share * coverage / 2^24 of its colour and weight, see
/// LampRow::coverage().
struct Lamp {
  LensSample sample;
  std::uint64_t share;
};

inline constexpr int lamp_lines = 8;    ///< sample lines per row of pixels
inline constexpr int lamp_places = 64;  ///< positions per pixel at which an edge may lie
inline constexpr int lamp_share_bits = 24;
inline constexpr std::uint32_t least_lamp_radius = 4 * 256;

SATIN_HD std::int32_t lamp_floor(float value) {
  const auto whole = static_cast<std::int32_t>(value);
  return static_cast<float>(whole) > value ? whole - 1 : whole;
}

/// Columns between which the rim of a cat's eye transmits light, in 1/lamp_places pixel. May be empty.
struct LampRim {
  std::int32_t left;
  std::int32_t right;
};

struct LampShape {
  const Aperture* aperture;
  float radius;  ///< pixels
  float rows_a_pixel;
  float rim_x = 0;  ///< centre of the rim, pixels from the lamp
  float rim_y = 0;

  SATIN_HD LampShape(const Aperture& of, const LensSample& sample)
      : aperture(&of), radius(static_cast<float>(sample.radius) * (1.0F / 256.0F)) {
    rows_a_pixel = static_cast<float>(of.count) / (2.0F * of.reach * radius);
    if (of.cut == 0) return;
    rim_x = (of.middle_x - static_cast<float>(sample.x)) * of.cut * radius;
    rim_y = (of.middle_y - static_cast<float>(sample.y)) * of.cut * radius;
  }

  /// Rows -reach() to reach() hold the whole lamp.
  [[nodiscard]] SATIN_HD std::int32_t reach() const {
    return static_cast<std::int32_t>(radius * aperture->reach + 0.5F) + 1;
  }

  /// Returns the aperture's row `height` pixels below the centre, without edges beyond its reach.
  [[nodiscard]] SATIN_HD ApertureRow row(float height) const {
    const std::int32_t row = lamp_floor(height * rows_a_pixel + static_cast<float>(aperture->count) * 0.5F);
    return row < 0 || row >= aperture->count ? ApertureRow{} : aperture->rows[row];
  }

  [[nodiscard]] SATIN_HD LampRim rim(float height) const {
    constexpr std::int32_t endless = 1 << 24;
    if (aperture->cut == 0) return {-endless, endless};
    const float rim_radius = radius * aperture->rim;
    const float below = height - rim_y;
    const float squared = rim_radius * rim_radius - below * below;
    const float half = squared > 0 ? sqrtf(squared) : 0.0F;
    return {place(rim_x - half), place(rim_x + half)};
  }

  /// Converts a distance from the centre of the lamp's pixel to 1/lamp_places pixel from its left side.
  [[nodiscard]] SATIN_HD static std::int32_t place(float pixels) {
    return lamp_floor(pixels * lamp_places + 0.5F) + lamp_places / 2;
  }
};

/// Returns the distance in pixels from the centre of a lamp down to a line of a row.
SATIN_HD float lamp_height(std::int32_t row, int line) {
  return static_cast<float>(row) + (static_cast<float>(line) + 0.5F) / lamp_lines - 0.5F;
}

/// Returns the position of an edge in 1/lamp_places pixel from the left side of the lamp's pixel.
SATIN_HD std::int32_t lamp_place(const LampShape& shape, const ApertureEdge& edge, const LampRim& rim) {
  const std::int32_t place = LampShape::place(edge.at * shape.radius);
  return place < rim.left ? rim.left : place > rim.right ? rim.right : place;
}

/// Calls take(place, step) for each edge of one line of a row.
template <class Take>
SATIN_HD void for_lamp_edges(const LampShape& shape, std::int32_t row, int line, const Take& take) {
  const float height = lamp_height(row, line);
  const ApertureRow edges = shape.row(height);
  const LampRim rim = shape.rim(height);
  for (std::uint32_t i = 0; i < edges.count; ++i) {
    const ApertureEdge edge = shape.aperture->edges[edges.first + i];
    take(lamp_place(shape, edge, rim), edge.step);
  }
}

/// Light of one line of a row: the sum of its contributions to LampRow::coverage().
SATIN_HD std::int64_t lamp_light(const LampShape& shape, std::int32_t row, int line) {
  std::int64_t sum = 0;
  for_lamp_edges(shape, row, line,
                 [&](std::int32_t place, std::int32_t step) { sum -= std::int64_t{step} * place; });
  return sum;
}

/// Lines of one row of pixels, with at most Most edges each.
template <int Most>
struct LampRow {
  std::int32_t counts[lamp_lines];
  std::int32_t places[lamp_lines][static_cast<std::size_t>(Most)];
  std::int32_t steps[lamp_lines][static_cast<std::size_t>(Most)];

  SATIN_HD void load(const LampShape& shape, std::int32_t row) {
    for (int line = 0; line < lamp_lines; ++line) {
      const float height = lamp_height(row, line);
      const ApertureRow edges = shape.row(height);
      const LampRim rim = shape.rim(height);
      counts[line] = static_cast<std::int32_t>(edges.count);
      for (std::uint32_t i = 0; i < edges.count; ++i) {
        const ApertureEdge edge = shape.aperture->edges[edges.first + i];
        places[line][i] = lamp_place(shape, edge, rim);
        steps[line][i] = edge.step;
      }
    }
  }

  /// Coverage of the pixel in this column, at most lamp_lines * lamp_places * aperture_full.
  [[nodiscard]] SATIN_HD std::int32_t coverage(std::int32_t column) const {
    const std::int32_t end = (column + 1) * lamp_places;
    std::int32_t sum = 0;
    for (int line = 0; line < lamp_lines; ++line)
      for (std::int32_t i = 0; i < counts[line]; ++i) {
        const std::int32_t right = end - places[line][i];
        sum += steps[line][i] * (right < 0 ? 0 : right > lamp_places ? lamp_places : right);
      }
    return sum;
  }

  /// Calls take(number, column) for each edge.
  template <class Take>
  SATIN_HD void for_places(const Take& take) const {
    for (int line = 0; line < lamp_lines; ++line)
      for (std::int32_t i = 0; i < counts[line]; ++i) take(i, places[line][i] >> 6);
  }
};
static_assert(lamp_places == 1 << 6);

/// Lines of many edges, which are recomputed where they are needed: arrays of them would be kilobytes that
/// are copied from row to row.
template <>
struct LampRow<most_aperture_edges> {
  const LampShape* shape;
  ApertureRow edges[lamp_lines];
  LampRim rims[lamp_lines];

  SATIN_HD void load(const LampShape& of, std::int32_t row) {
    shape = &of;
    for (int line = 0; line < lamp_lines; ++line) {
      edges[line] = of.row(lamp_height(row, line));
      rims[line] = of.rim(lamp_height(row, line));
    }
  }

  template <class Take>
  SATIN_HD void for_edges(const Take& take) const {
    for (int line = 0; line < lamp_lines; ++line)
      for (std::uint32_t i = 0; i < edges[line].count; ++i) {
        const ApertureEdge edge = shape->aperture->edges[edges[line].first + i];
        take(static_cast<std::int32_t>(i), lamp_place(*shape, edge, rims[line]), edge.step);
      }
  }

  [[nodiscard]] SATIN_HD std::int32_t coverage(std::int32_t column) const {
    const std::int32_t end = (column + 1) * lamp_places;
    std::int32_t sum = 0;
    for_edges([&](std::int32_t, std::int32_t place, std::int32_t step) {
      const std::int32_t right = end - place;
      sum += step * (right < 0 ? 0 : right > lamp_places ? lamp_places : right);
    });
    return sum;
  }

  template <class Take>
  SATIN_HD void for_places(const Take& take) const {
    for_edges([&](std::int32_t i, std::int32_t place, std::int32_t) { take(i, place >> 6); });
  }
};

struct LampColumns {
  std::int32_t first = INT32_MAX;
  std::int32_t last = INT32_MIN;

  SATIN_HD void take(std::int32_t column) {
    first = column < first ? column : first;
    last = column > last ? column : last;
  }
};

/// Rounds to nearest.
SATIN_HD std::int64_t lamp_weight(std::int32_t coverage, std::uint64_t share) {
  const std::uint64_t half = std::uint64_t{1} << (lamp_share_bits - 1);
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(coverage) * share + half) >> lamp_share_bits);
}

/// Calls delta(column, difference) for the non-zero second differences of the weights in the row `own`, which
/// follows the row `above`. Columns and rows count from the lamp. Rows -reach() to reach() + 1 make the whole
/// shape.
template <int Most, class Delta>
SATIN_HD void for_lamp_deltas(const LampRow<Most>& own, const LampRow<Most>& above, std::uint64_t share,
                              const Delta& delta) {
  LampColumns left;  // columns of the first edges if there are two per line, otherwise of all
  LampColumns right;
  const auto take = [&](std::int32_t i, std::int32_t column) {
    if (Most > 2 || i == 0) left.take(column);
    if (Most > 2 || i == 1) right.take(column);
  };
  own.for_places(take);
  above.for_places(take);
  std::int64_t own_before = 0;
  std::int64_t above_before = 0;
  for (std::int32_t column = left.first; column <= right.last + 1; ++column) {
    if (column > left.last + 1 && column < right.first)
      column = right.first;  // the weight is constant between both ranges
    const std::int64_t own_here = lamp_weight(own.coverage(column), share);
    const std::int64_t above_here = lamp_weight(above.coverage(column), share);
    const std::int64_t difference = own_here - own_before - above_here + above_before;
    if (difference != 0) delta(column, difference);
    own_before = own_here;
    above_before = above_here;
  }
}

/// Returns the share with which the pixels of a lamp get the weight `full` in total; `light` is the sum of
/// lamp_light() over its lines. Returns 0 if no light passes.
SATIN_HD std::uint64_t lamp_share(const LampShape& shape, std::int64_t light, std::uint32_t full) {
  const float disc = 3.1415927F * shape.radius * shape.radius * (lamp_lines * lamp_places * aperture_full);
  const auto least = static_cast<std::int64_t>(disc * shape.aperture->least_light);
  if (light <= 0) return 0;
  return (std::uint64_t{full} << lamp_share_bits) / static_cast<std::uint64_t>(light > least ? light : least);
}
SATIN_HD std::uint64_t lamp_share(const LampShape& shape, std::uint32_t full) {
  std::int64_t light = 0;
  for (std::int32_t row = -shape.reach(); row <= shape.reach(); ++row)
    for (int line = 0; line < lamp_lines; ++line) light += lamp_light(shape, row, line);
  return lamp_share(shape, light, full);
}

/// A picture of any size and proportions as an aperture. Its longer side has the size of the circle of
/// confusion, whose centre is the centroid of the light that passes: lamps stay where they are. White is
/// clear; black and the area beside the picture are opaque.
template <class T>
struct AperturePicture {
  Rows<const T> values;
  std::int64_t width;
  std::int64_t height;

  [[nodiscard]] SATIN_HD std::int64_t side() const { return width > height ? width : height; }

  /// Pixels [first, last) of an axis whose centres lie in a cell, or else the pixel at the centre of the
  /// cell.
  struct Range {
    std::int64_t first;
    std::int64_t last;
  };
  [[nodiscard]] SATIN_HD Range range(int cell) const {
    const std::int64_t first = cell * side() / aperture_picture_side;
    const std::int64_t last = (cell + 1) * side() / aperture_picture_side;
    const std::int64_t middle = (2 * cell + 1) * side() / (2 * aperture_picture_side);
    return first < last ? Range{first, last} : Range{middle, middle + 1};
  }

  [[nodiscard]] SATIN_HD static double share_of(T value) {
    if constexpr (sizeof(T) == sizeof(float)) {
      return value > 0 ? value < 1 ? static_cast<double>(value) : 1.0 : 0.0;  // NaN is opaque
    } else {
      return static_cast<double>(value) / (sizeof(T) == 1 ? 255.0 : 65535.0);
    }
  }

  /// Mean over a cell, from 0 to aperture_full.
  [[nodiscard]] SATIN_HD std::int32_t at(int x, int y) const {
    const Range columns = range(x);
    const Range rows = range(y);
    const std::int64_t left = (side() - width) / 2;
    const std::int64_t top = (side() - height) / 2;
    double sum = 0;
    for (std::int64_t v = rows.first; v < rows.last; ++v)
      for (std::int64_t u = columns.first; u < columns.last; ++u)
        if (u >= left && v >= top && u - left < width && v - top < height)
          sum += share_of(values.row(v - top)[u - left]);
    const auto pixels = static_cast<double>((columns.last - columns.first) * (rows.last - rows.first));
    return static_cast<std::int32_t>(sum / pixels * aperture_full + 0.5);
  }
};

/// Stores the mean of each cell as the step of the edge of the same number. Place (cell, row).
template <class T>
struct FindApertureMeans {
  AperturePicture<T> picture;
  ApertureEdge* edges;  ///< [row][most_aperture_edges]

  SATIN_HD void operator()(int cell, int row) const {
    edges[static_cast<std::int64_t>(row) * most_aperture_edges + cell].step = picture.at(cell, row);
  }
};

/// A row of cells.
struct ApertureCells {
  std::uint32_t edges = 0;  ///< number of edges
  std::uint32_t light = 0;  ///< sum of the means, below 2^14
  std::uint32_t along = 0;  ///< sum of the means, each times 2 cell + 1: below 2^21, and 64 rows below 2^27
  std::uint64_t open = 0;   ///< bit per cell: whether at least half of the light passes
};
static_assert(aperture_picture_side == 64);

/// Replaces the means of a row by its edges. Place (row, 0).
struct FindApertureEdges {
  ApertureCells* cells;
  ApertureEdge* edges;  ///< [row][most_aperture_edges]

  SATIN_HD void operator()(int row, int /*y*/) const {
    ApertureEdge* to = edges + static_cast<std::int64_t>(row) * most_aperture_edges;
    ApertureCells found;
    std::int32_t before = 0;
    for (int cell = 0; cell <= aperture_picture_side; ++cell) {
      const std::int32_t own = cell < aperture_picture_side ? to[cell].step : 0;
      found.light += static_cast<std::uint32_t>(own);
      found.along += static_cast<std::uint32_t>(own * (2 * cell + 1));
      if (2 * own > aperture_full) found.open |= std::uint64_t{1} << cell;
      if (own == before) continue;  // a row has no more edges than cells so far, so no mean is overwritten
      constexpr float half = aperture_picture_side / 2.0F;
      to[found.edges++] = {(static_cast<float>(cell) - half) / half, own - before};
      before = own;
    }
    cells[row] = found;
  }
};

/// Moves the edges so that the centroid of the light is in the middle. Place (row of the aperture, 0).
struct CentreAperture {
  const ApertureCells* cells;
  ApertureRow* rows;
  ApertureEdge* edges;  ///< [row][most_aperture_edges]

  SATIN_HD void operator()(int row, int /*y*/) const {
    constexpr int side = aperture_picture_side;
    std::uint32_t light = 0;
    std::uint32_t along = 0;
    std::uint32_t down = 0;
    for (int i = 0; i < side; ++i) {
      light += cells[i].light;
      along += cells[i].along;
      down += cells[i].light * static_cast<std::uint32_t>(2 * i + 1);
    }
    const double twice_light = light == 0 ? 1 : 2 * static_cast<double>(light);
    const double middle_x = light == 0 ? side / 2 : along / twice_light;  // in cells
    const double middle_y = light == 0 ? side / 2 : down / twice_light;
    if (row < side) {
      ApertureEdge* own = edges + static_cast<std::int64_t>(row) * most_aperture_edges;
      const auto left = static_cast<float>(1 - middle_x / (side / 2));
      for (std::uint32_t i = 0; i < cells[row].edges; ++i) own[i].at = own[i].at + left;
    }
    constexpr double cells_a_row = static_cast<double>(aperture_picture_reach) * side / aperture_picture_rows;
    const double cell = middle_y + (row + 0.5 - aperture_picture_rows / 2) * cells_a_row;
    rows[row] = {};
    if (cell >= 0 && cell < side)
      rows[row] = {static_cast<std::uint32_t>(cell) * most_aperture_edges,
                   cells[static_cast<int>(cell)].edges};
  }
};

}  // namespace satin
