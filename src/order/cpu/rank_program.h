#pragma once
// The exchanges that find a rank in the windows of all pixels of a tile.
//
// The windows of a tile share its core: the pixels that lie in all of them. The core is kept sorted, without
// the values that are too small or too large to have the rank. The columns beside the core, and the rows
// above and below it, are sorted, too. A tile is halved again and again: a half has a larger core, into which
// it merges the lines that are new in it, and longer lines across. When one pixel is left, its rank is known
// (Sugy, Fast Median Filter with Hierarchical Tiling, SIGGRAPH 2025). Lists are merged by odd-even merging
// (Batcher, Sorting networks and their applications, 1968), and what no pixel needs is left out.

#include <cstdint>
#include <map>
#include <vector>

namespace satin::cpu {

class RankProgram {
 public:
  /// A pixel that the windows see, or what an exchange has found.
  struct Operand {
    bool is_pixel = false;
    std::uint16_t x = 0;     ///< of a pixel
    std::uint16_t y = 0;     ///< of a pixel
    std::uint16_t slot = 0;  ///< slot of a found value
  };
  static constexpr std::uint16_t no_slot = 0xFFFF;

  /// The smaller value goes to the slot `low`, the larger to `high`, if they are needed. Slots may be those
  /// of the operands.
  struct Exchange {
    Operand a;
    Operand b;
    std::uint16_t low = no_slot;
    std::uint16_t high = no_slot;
  };

  /// Windows of width x height pixels; the rank is counted from 0. Tiles have a power of two of columns,
  /// which are not more than the window's, and of rows.
  RankProgram(int width, int height, int rank, int columns, int rows);

  [[nodiscard]] const std::vector<Exchange>& exchanges() const noexcept { return exchanges_; }
  [[nodiscard]] int slots() const noexcept { return slots_; }
  /// The slot that holds the rank of this pixel of the tile in the end.
  [[nodiscard]] std::uint16_t result(int x, int y) const {
    return results_[static_cast<std::size_t>(y * columns_ + x)];
  }

 private:
  /// Pixels are numbered row by row. The values of pair p are first_value + 2 p, the smaller, and the next.
  using Value = int;
  using List = std::vector<Value>;  ///< in rising order
  struct Pair {
    Value a;
    Value b;
  };
  /// Lines of a tile along one axis: those that cross it beyond the core are sorted within the core's extent.
  struct Axis {
    int side = 1;  ///< of the windows
    int first = 0;
    int count = 1;
    std::map<int, List> lines;
    [[nodiscard]] bool in_core(int at) const { return at >= first + count - 1 && at < first + side; }
  };
  struct Tile {
    Axis x;
    Axis y;
    List core;
    int total;  ///< of the values that can have the rank, in a window
    int rank;   ///< among these
  };

  [[nodiscard]] Value pixel(int x, int y) const { return y * seen_columns_ + x; }
  Value smaller_of(Value a, Value b);
  Value larger_of(Value a, Value b);
  List merged(const List& a, const List& b);
  List joined(std::vector<List> lists);
  [[nodiscard]] Value selected(const Tile& tile, const List& added);
  void trim(Tile& tile) const;
  Tile whole_tile(int rank);
  void find(const Tile& tile);
  Tile half_of(const Tile& tile, bool turned, int part);
  [[nodiscard]] std::size_t pair_of(Value value) const {
    return static_cast<std::size_t>(value - first_value_) / 2;
  }
  [[nodiscard]] std::vector<std::size_t> order_of_pairs() const;
  void emit();

  int width_;
  int height_;
  int columns_;
  int rows_;
  int seen_columns_;
  Value first_value_;
  int slots_ = 0;
  std::vector<Pair> pairs_;
  List found_;  ///< of every pixel of the tile
  std::vector<Exchange> exchanges_;
  std::vector<std::uint16_t> results_;
};

}  // namespace satin::cpu
