#pragma once
// Which windows of a few sizes to run so that every active tile of a picture is done, in as little time as
// can be.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/windows.h"

namespace satin {

/// A quadtree over the tiles, with a decision at every node from the leaves up: one window around the node's
/// active tiles, or what its four children cost.
class WindowCover {
 public:
  struct Size {
    std::int64_t width = 0;
    std::int64_t height = 0;
    [[nodiscard]] std::int64_t pixels() const noexcept { return width * height; }
  };
  /// Window `size` of sizes(), to be run so that `inner` is right.
  struct Run {
    Rectangle inner;
    std::size_t size = 0;
  };

  WindowCover(const Size& picture, const Reach& reach, const WindowCosts& costs);

  /// The sizes of the windows: the smallest first, the last one is the whole picture.
  [[nodiscard]] std::span<const Size> sizes() const noexcept { return sizes_; }
  [[nodiscard]] std::int64_t tile() const noexcept { return tile_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return levels_.front().columns; }
  [[nodiscard]] std::int64_t rows() const noexcept { return levels_.front().rows; }
  [[nodiscard]] bool is_whole(const Run& run) const noexcept { return run.size + 1 == sizes_.size(); }
  /// Where the window of a run lies.
  [[nodiscard]] Rectangle window_of(const Run& run) const;

  /// `active`: rows() x columns() tiles, not 0 for those that are. The inner rectangles are disjoint and hold
  /// all active tiles; either one is the whole picture, or none is. Valid until the next call, which
  /// allocates nothing.
  [[nodiscard]] std::span<const Run> of(std::span<const std::uint8_t> active);

 private:
  struct Node {
    Rectangle box;         ///< in tiles: around the active ones; empty if there is none
    std::size_t size = 0;  ///< of the window around the box
    bool split = false;    ///< the children are done instead
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

  [[nodiscard]] Rectangle pixels_of(const Rectangle& tiles) const noexcept;
  [[nodiscard]] std::int64_t cost_of_whole(std::span<const std::uint8_t> active) const;
  void choose_window(Node& node) const;
  void join_children(std::size_t level, std::int64_t column, std::int64_t row);
  void collect(std::size_t level, std::int64_t column, std::int64_t row);

  Size picture_;
  Reach reach_;
  WindowCosts costs_;
  std::int64_t tile_;
  std::vector<Size> sizes_;
  std::vector<Level> levels_;  ///< the tiles first, one node last
  std::vector<Run> runs_;
};

}  // namespace satin
