#pragma once
// The windows on which a masked filter runs, chosen so that they cover all active tiles in little time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/windows.h"

namespace satin {

/// A quadtree over the tiles. Every node, from the leaves up, chooses the cheaper of one window around its
/// active tiles and the windows of its four children. Windows have a few sizes only, for which the filter is
/// prepared once.
class WindowCover {
 public:
  struct Size {
    std::int64_t width = 0;
    std::int64_t height = 0;
    [[nodiscard]] std::int64_t pixels() const noexcept { return width * height; }
  };
  /// A run of the filter: a window of size sizes()[size], of whose results `inner` is kept.
  struct Run {
    Rectangle inner;
    std::size_t size = 0;
  };

  WindowCover(const Size& picture, const Reach& reach, const WindowCosts& costs)
      : picture_(picture),
        reach_(reach),
        costs_(costs),
        tile_(tile_for(picture, costs.run)),
        sizes_(sizes_for(picture, reach, tile_)) {
    std::int64_t columns = divide_up(picture.width, tile_);
    std::int64_t rows = divide_up(picture.height, tile_);
    runs_.reserve(static_cast<std::size_t>(columns * rows));
    for (;; columns = divide_up(columns, 2), rows = divide_up(rows, 2)) {
      levels_.push_back({columns, rows, std::vector<Node>(static_cast<std::size_t>(columns * rows))});
      if (columns == 1 && rows == 1) break;
    }
  }

  /// Returns the sizes of windows, ascending. The last one is the whole picture.
  [[nodiscard]] std::span<const Size> sizes() const noexcept { return sizes_; }
  [[nodiscard]] std::int64_t tile() const noexcept { return tile_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return levels_.front().columns; }
  [[nodiscard]] std::int64_t rows() const noexcept { return levels_.front().rows; }
  [[nodiscard]] bool is_whole(const Run& run) const noexcept { return run.size + 1 == sizes_.size(); }
  [[nodiscard]] Rectangle window_of(const Run& run) const {
    const Size& size = sizes_[run.size];
    return {window_around(run.inner.x, size.width, picture_.width, reach_.x, reach_.wraps).value(),
            window_around(run.inner.y, size.height, picture_.height, reach_.y, reach_.wraps).value()};
  }

  /// Returns the runs for rows() x columns() tiles, of which the active ones are not 0. The inner rectangles
  /// are disjoint and hold all active tiles; there is either one run on the whole picture or none. Valid
  /// until the next call. Allocates nothing.
  [[nodiscard]] std::span<const Run> of(std::span<const std::uint8_t> active) {
    runs_.clear();
    const Run whole{{{0, picture_.width}, {0, picture_.height}}, sizes_.size() - 1};
    const std::int64_t whole_cost = cost_of_whole(active);
    const std::int64_t copy_cost = picture_.pixels() / costs_.copied;
    const auto done =
        std::count_if(active.begin(), active.end(), [](std::uint8_t tile) { return tile != 0; });
    if (done != 0 && (sizes_.size() == 1 || done * tile_ * tile_ + copy_cost > whole_cost)) {
      runs_.push_back(whole);
      return runs_;
    }
    Level& tiles = levels_.front();
    for (std::int64_t row = 0; row < tiles.rows; ++row)
      for (std::int64_t column = 0; column < tiles.columns; ++column) {
        Node& node = tiles.at(column, row);
        node = {};
        if (active[static_cast<std::size_t>(row * tiles.columns + column)] == 0) continue;
        node.box = {{column, column + 1}, {row, row + 1}};
        choose_window(node);
      }
    for (std::size_t level = 1; level < levels_.size(); ++level)
      for (std::int64_t row = 0; row < levels_[level].rows; ++row)
        for (std::int64_t column = 0; column < levels_[level].columns; ++column)
          join_children(level, column, row);

    const Node& root = levels_.back().nodes.front();
    if (empty(root.box)) return runs_;
    if (root.cost + copy_cost >= whole_cost) {
      runs_.push_back(whole);
    } else {
      collect(levels_.size() - 1, 0, 0);
    }
    return runs_;
  }

 private:
  struct Node {
    Rectangle box;         ///< bounds of the active tiles, in tiles; empty without any
    std::size_t size = 0;  ///< size of the window around the box
    bool split = false;    ///< whether the children's windows are used
    std::int64_t cost = 0;
  };
  struct Level {
    std::int64_t columns = 0;
    std::int64_t rows = 0;
    std::vector<Node> nodes;
    [[nodiscard]] Node& at(std::int64_t column, std::int64_t row) {
      return nodes[static_cast<std::size_t>(row * columns + column)];
    }
  };

  static constexpr std::int64_t smallest_tile = 64;
  static constexpr std::int64_t most_tiles = 128;   ///< along an axis: decisions cost nothing beside a copy
  static constexpr std::int64_t tiles_of_run = 16;  ///< tiles that cost as much as a window, at most

  static std::int64_t tile_for(const Size& picture, std::int64_t run_cost) {
    std::int64_t tile = smallest_tile;
    while (std::max(picture.width, picture.height) > most_tiles * tile ||
           tile * tile * tiles_of_run < run_cost)
      tile *= 2;
    return tile;
  }

  static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
  static bool empty(const Rectangle& box) { return box.x.size() == 0; }
  static Stretch joined(const Stretch& a, const Stretch& b) {
    return {std::min(a.first, b.first), std::max(a.last, b.last)};
  }

  /// Returns the windows of squares of 1, 2, 4 ... tiles, up to half of the picture, and the whole picture.
  static std::vector<Size> sizes_for(const Size& picture, const Reach& reach, std::int64_t tile) {
    std::vector<Size> sizes;
    for (std::int64_t side = tile;; side *= 2) {
      const Size size{window_size(side, picture.width, reach.x), window_size(side, picture.height, reach.y)};
      if (2 * size.pixels() > picture.pixels()) break;
      sizes.push_back(size);
    }
    sizes.push_back(picture);
    return sizes;
  }

  [[nodiscard]] Rectangle pixels_of(const Rectangle& tiles) const noexcept {
    return {{tiles.x.first * tile_, std::min(tiles.x.last * tile_, picture_.width)},
            {tiles.y.first * tile_, std::min(tiles.y.last * tile_, picture_.height)}};
  }

  [[nodiscard]] std::int64_t cost_of_whole(std::span<const std::uint8_t> active) const {
    const auto left_alone = std::count(active.begin(), active.end(), std::uint8_t{0});
    const std::int64_t pixels = std::min<std::int64_t>(left_alone * tile_ * tile_, picture_.pixels());
    return picture_.pixels() - pixels * (100 - costs_.left_alone_percent) / 100;
  }

  /// Chooses the smallest window that suffices for the box.
  void choose_window(Node& node) const {
    const Rectangle inner = pixels_of(node.box);
    for (node.size = 0; node.size + 1 < sizes_.size(); ++node.size) {
      const Size& size = sizes_[node.size];
      if (window_around(inner.x, size.width, picture_.width, reach_.x, reach_.wraps) &&
          window_around(inner.y, size.height, picture_.height, reach_.y, reach_.wraps))
        break;
    }
    node.cost = sizes_[node.size].pixels() + inner.pixels() / costs_.copied + costs_.run;
  }

  void join_children(std::size_t level, std::int64_t column, std::int64_t row) {
    Level& below = levels_[level - 1];
    Node& node = levels_[level].at(column, row);
    node = {};
    std::int64_t cost = 0;
    for (std::int64_t y = 2 * row; y < std::min(2 * row + 2, below.rows); ++y)
      for (std::int64_t x = 2 * column; x < std::min(2 * column + 2, below.columns); ++x) {
        const Node& child = below.at(x, y);
        if (empty(child.box)) continue;
        node.box = empty(node.box)
                       ? child.box
                       : Rectangle{joined(node.box.x, child.box.x), joined(node.box.y, child.box.y)};
        cost += child.cost;
      }
    if (empty(node.box)) return;
    choose_window(node);
    node.split = cost < node.cost;
    if (node.split) node.cost = cost;
  }

  void collect(std::size_t level, std::int64_t column, std::int64_t row) {
    const Node& node = levels_[level].at(column, row);
    if (empty(node.box)) return;
    if (!node.split) {
      runs_.push_back({pixels_of(node.box), node.size});
      return;
    }
    const Level& below = levels_[level - 1];
    for (std::int64_t y = 2 * row; y < std::min(2 * row + 2, below.rows); ++y)
      for (std::int64_t x = 2 * column; x < std::min(2 * column + 2, below.columns); ++x)
        collect(level - 1, x, y);
  }

  Size picture_;
  Reach reach_;
  WindowCosts costs_;
  std::int64_t tile_;
  std::vector<Size> sizes_;
  std::vector<Level> levels_;  ///< from the tiles to the root
  std::vector<Run> runs_;
};

}  // namespace satin
