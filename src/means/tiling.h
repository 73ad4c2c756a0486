#pragma once
// How sliding windows cut a picture among the multiprocessors of a GPU.
//
// From the whole to its parts: a picture is cut into tiles, some columns by some rows of results, down which
// one window slides; a row of a tile and of what its windows see beside it is cut into spans of 32 lanes; a
// lane has a few neighbouring pixels. Before its first row a tile sums the rows of a window, so that low
// tiles cost more, and high ones leave multiprocessors idle.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace satin {

struct SlidingTiles {
  int spans = 0;                 ///< of a row of a tile; 0: sliding windows are not for this job
  int together = 1;              ///< tiles that a multiprocessor has at most
  int width = 0;                 ///< columns of a tile; those of the last one may be fewer
  int columns = 0;               ///< of tiles
  int rows = 0;                  ///< of tiles: the heights of any two differ by at most one
  std::size_t shared_bytes = 0;  ///< of a block
};

/// What tiles are chosen by. Costs are relative to each other.
struct SlidingTileRules {
  int width = 0;  ///< of the picture
  int height = 0;
  int multiprocessors = 1;
  int pixels = 1;  ///< of a lane: tiles begin with one
  int most_rows = 65535;
  bool fewest_rows = false;  ///< no more rows of tiles than make the highest tile as low
  int start_cost = 0;        ///< of a span of a tile, before its first row
  int row_cost = 1;          ///< of a span of a row of results
  int fewest_spans = 0;      ///< of a multiprocessor: with fewer it takes as long
  int wished_spans = 0;  ///< up to so many, the last of choices that cost the same is taken; else the first
};

class SlidingTiler {
 public:
  explicit SlidingTiler(const SlidingTileRules& rules) : rules_(rules) {}

  /// Tiles of so many spans with room for `usable` columns of results, 1 to `most` of them a multiprocessor.
  /// shared_bytes(tiles) may not be above shared_limit.
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

  /// No spans if nothing that was considered fits.
  [[nodiscard]] const SlidingTiles& best() const { return best_; }

  /// Time of the multiprocessor that has most to do.
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
