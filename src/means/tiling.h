#pragma once
// How sliding windows cut a picture into tiles for the multiprocessors of a GPU.
//
// A tile is a rectangle of results down which one window slides. Its rows, with the columns that its windows
// reach beside it, are cut into spans: the columns of one warp, of which each lane has a few neighbouring
// ones. Before its first row a tile sums the rows of a window. So low tiles cost more, and high ones leave
// multiprocessors idle.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

struct SlidingTiles {
  int spans = 0;                 ///< spans per row of a tile; 0: no tiles fit the job
  int together = 1;              ///< most tiles of a multiprocessor
  int width = 0;                 ///< columns of results per tile; the last tile may have fewer
  int columns = 0;               ///< number of columns of tiles
  int rows = 0;                  ///< number of rows of tiles, whose heights differ by at most one
  std::size_t shared_bytes = 0;  ///< shared memory of a block
};

/// Results of one tile: columns [first_x, last_x) and rows [first_y, last_y).
struct TileRect {
  int first_x, last_x;
  int first_y, last_y;
};

/// Returns the results of the tile in this column and row of tiles.
SATIN_HD TileRect tile_rect(const SlidingTiles& tiles, int width, int height, int column, int row) {
  TileRect rect{};
  rect.first_x = column * tiles.width;
  rect.last_x = rect.first_x + tiles.width < width ? rect.first_x + tiles.width : width;
  rect.first_y = static_cast<int>(static_cast<std::int64_t>(row) * height / tiles.rows);
  rect.last_y = static_cast<int>((static_cast<std::int64_t>(row) + 1) * height / tiles.rows);
  return rect;
}

/// The picture, the device and the relative costs that the choice of tiles depends on.
struct SlidingTileRules {
  int width = 0;  ///< size of the picture
  int height = 0;
  int multiprocessors = 1;
  int pixels = 1;  ///< pixels per lane: tiles begin with a lane
  int most_rows = 65535;
  bool fewest_rows = false;  ///< whether rows of tiles that do not lower the highest tile are dropped
  int start_cost = 0;        ///< cost of starting a span, before its first row
  int row_cost = 1;          ///< cost of one row of a span
  int fewest_spans = 0;      ///< a multiprocessor with fewer spans takes as long as with these
  int wished_spans = 0;      ///< ties up to so many spans go to the last choice, other ties to the first
};

/// Finds the cheapest of the tilings that consider() proposes.
class SlidingTiler {
 public:
  explicit SlidingTiler(const SlidingTileRules& rules) : rules_(rules) {}

  /// Considers tiles of `spans` spans with at most `usable` columns of results, 1 to `most` of them on a
  /// multiprocessor, whose shared_bytes(tiles) do not exceed shared_limit.
  template <class SharedBytes>
  void consider(int spans, int usable, int most, const SharedBytes& shared_bytes, std::size_t shared_limit) {
    SlidingTiles tiles;
    tiles.spans = spans;
    tiles.columns = ceiling(rules_.width, usable);
    tiles.width = ceiling(ceiling(rules_.width, tiles.columns), rules_.pixels) * rules_.pixels;
    tiles.columns = ceiling(rules_.width, tiles.width);
    const int most_rows = std::min(rules_.most_rows, rules_.height);
    for (int together = 1; together <= most; ++together) {
      const std::int64_t filling = std::int64_t{together} * rules_.multiprocessors / tiles.columns;
      const auto rows = static_cast<int>(std::clamp<std::int64_t>(filling, 1, most_rows));
      tiles.together = together;
      tiles.rows = rules_.fewest_rows ? ceiling(rules_.height, ceiling(rules_.height, rows)) : rows;
      tiles.shared_bytes = shared_bytes(tiles);
      if (tiles.shared_bytes <= shared_limit) compare(tiles);
      if (filling >= most_rows) return;
    }
  }

  /// Returns the cheapest tiles; without spans if none fits.
  [[nodiscard]] const SlidingTiles& best() const { return best_; }

  /// Returns the time of the busiest multiprocessor.
  [[nodiscard]] std::int64_t cost_of(const SlidingTiles& tiles) const {
    const std::int64_t count = std::int64_t{tiles.columns} * tiles.rows;
    const std::int64_t busiest = (count + rules_.multiprocessors - 1) / rules_.multiprocessors;
    const std::int64_t height = ceiling(rules_.height, tiles.rows);
    const std::int64_t of_span = rules_.start_cost + height * rules_.row_cost;
    return of_span * std::max<std::int64_t>(busiest * tiles.spans, rules_.fewest_spans);
  }

 private:
  static int ceiling(int value, int divisor) { return (value + divisor - 1) / divisor; }

  void compare(const SlidingTiles& tiles) {
    const std::int64_t cost = cost_of(tiles);
    const bool as_good = cost == least_ && tiles.spans <= rules_.wished_spans;
    if (best_.spans != 0 && cost >= least_ && !as_good) return;
    best_ = tiles;
    least_ = cost;
  }

  SlidingTileRules rules_;
  SlidingTiles best_;
  std::int64_t least_ = 0;
};

}  // namespace satin
