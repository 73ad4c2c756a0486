#pragma once
// The windows on which a masked filter runs, chosen so that they cover all active tiles in little time.

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

  WindowCover(const Size& picture, const Reach& reach, const WindowCosts& costs);

  /// Returns the sizes of windows, ascending. The last one is the whole picture.
  [[nodiscard]] std::span<const Size> sizes() const noexcept { return sizes_; }
  [[nodiscard]] std::int64_t tile() const noexcept { return tile_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return levels_.front().columns; }
  [[nodiscard]] std::int64_t rows() const noexcept { return levels_.front().rows; }
  [[nodiscard]] bool is_whole(const Run& run) const noexcept { return run.size + 1 == sizes_.size(); }
  [[nodiscard]] Rectangle window_of(const Run& run) const;

  /// Returns the runs for rows() x columns() tiles, of which the active ones are not 0. The inner rectangles
  /// are disjoint and hold all active tiles; there is either one run on the whole picture or none. Valid
  /// until the next call. Allocates nothing.
  [[nodiscard]] std::span<const Run> of(std::span<const std::uint8_t> active);

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
  std::vector<Level> levels_;  ///< from the tiles to the root
  std::vector<Run> runs_;
};

}  // namespace satin
