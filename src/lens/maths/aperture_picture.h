#pragma once
// A picture as the opening of a lens: 64 x 64 means of it, row by row as edges.

#include <cstdint>

#include "lens/maths/aperture.h"
#include "pixels/maths/rows.h"

namespace satin {

/// A picture of any size and proportions as an aperture: its longer side spans the circle of confusion, white
/// is clear and black is opaque, as is what lies beside it.
template <class T>
struct AperturePicture {
  Rows<const T> values;
  std::int64_t width;
  std::int64_t height;

  [[nodiscard]] SATIN_HD std::int64_t side() const { return width > height ? width : height; }

  /// The pixels [first, last) of an axis whose middles lie in a cell; at least the one in its middle.
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
      return value > 0 ? value < 1 ? static_cast<double>(value) : 1.0 : 0.0;  // NaN lets nothing through
    } else {
      return static_cast<double>(value) / (sizeof(T) == 1 ? 255.0 : 65535.0);
    }
  }

  /// The mean over a cell, from 0 to aperture_full.
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

/// Stores the mean of each cell as the step of the edge that has its number; one place a cell.
template <class T>
struct FindApertureMeans {
  AperturePicture<T> picture;
  ApertureEdge* edges;  ///< most_aperture_edges a row

  SATIN_HD void operator()(int cell, int row) const {
    edges[static_cast<std::int64_t>(row) * most_aperture_edges + cell].step = picture.at(cell, row);
  }
};

/// Finds the edges of the aperture's rows in place of their means; one place a row.
struct FindApertureEdges {
  ApertureRow* rows;
  ApertureEdge* edges;  ///< most_aperture_edges a row

  SATIN_HD void operator()(int row, int /*y*/) const {
    ApertureEdge* to = edges + static_cast<std::int64_t>(row) * most_aperture_edges;
    std::uint32_t count = 0;
    std::int32_t before = 0;
    for (int cell = 0; cell <= aperture_picture_side; ++cell) {
      const std::int32_t own = cell < aperture_picture_side ? to[cell].step : 0;
      if (own == before) continue;  // there are no more edges than cells so far: no mean is lost
      constexpr float half = aperture_picture_side / 2.0F;
      to[count++] = {(static_cast<float>(cell) - half) / half, own - before};
      before = own;
    }
    rows[row] = {static_cast<std::uint32_t>(row * most_aperture_edges), count};
  }
};

}  // namespace satin
