#pragma once
// The exchanges that find a rank in the windows of all pixels of a tile, for windows of any small size.
//
// The windows of a tile share its core: the pixels that lie in all of them. The core is kept sorted, without
// the values that are too small or too large to have the rank. The columns beside the core, and the rows
// above and below it, are sorted, too. A tile is halved again and again: a half has a larger core, into which
// it merges the lines that are new in it, and longer lines across. When one pixel is left, its rank is known
// (Sugy, Fast Median Filter with Hierarchical Tiling, SIGGRAPH 2025). Lists are merged by odd-even merging
// (Batcher, Sorting networks and their applications, 1968). Exchanges that no pixel needs are left out.
//
// The program depends on sizes and rank alone, and is made once for a job. An exchange reads two operands and
// writes their minimum and maximum to slots: the registers of the program.

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace satin::cpu {

template <class List>
constexpr List every_second(const List& list, std::size_t first) {
  List half;
  for (std::size_t i = first; i < list.size(); i += 2) half.push_back(list[i]);
  return half;
}

/// Merges two sorted lists by Batcher's odd-even merging. exchange(x, y) returns the smaller and the
/// larger of two elements.
template <class List, class Exchange>
constexpr List odd_even_merge(const List& a, const List& b, const Exchange& exchange) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  List result;
  const auto push_exchanged = [&](auto x, auto y) {
    const auto [smaller, larger] = exchange(x, y);
    result.push_back(smaller);
    result.push_back(larger);
  };
  if (a.size() == 1 && b.size() == 1) {
    push_exchanged(a[0], b[0]);
    return result;
  }
  const List even = odd_even_merge(every_second(a, 0), every_second(b, 0), exchange);
  const List odd = odd_even_merge(every_second(a, 1), every_second(b, 1), exchange);
  result.push_back(even[0]);
  for (std::size_t i = 0; i < odd.size() || i + 1 < even.size(); ++i) {
    if (i < odd.size() && i + 1 < even.size())
      push_exchanged(odd[i], even[i + 1]);
    else
      result.push_back(i < odd.size() ? odd[i] : even[i + 1]);
  }
  return result;
}

class RankProgram {
 public:
  /// A pixel that the windows see, or the value of a slot.
  struct Operand {
    bool is_pixel = false;
    std::uint16_t x = 0;     ///< column of the pixel
    std::uint16_t y = 0;     ///< row of the pixel
    std::uint16_t slot = 0;  ///< if it is no pixel
  };
  static constexpr std::uint16_t no_slot = 0xFFFF;

  /// Writes the smaller value to the slot `low` and the larger to `high`, unless these are no_slot. Slots may
  /// be those of the operands.
  struct Exchange {
    Operand a;
    Operand b;
    std::uint16_t low = no_slot;
    std::uint16_t high = no_slot;
  };

  /// Makes the program for windows of width x height pixels; the rank is counted from 0. `columns` and
  /// `rows` of the tile are powers of two, at most the window's.
  RankProgram(int width, int height, int rank, int columns, int rows);

  [[nodiscard]] const std::vector<Exchange>& exchanges() const noexcept { return exchanges_; }
  [[nodiscard]] int slots() const noexcept { return slots_; }
  /// Returns the slot that finally holds the rank of pixel (x, y) of the tile.
  [[nodiscard]] std::uint16_t result(int x, int y) const {
    return results_[static_cast<std::size_t>(y * columns_ + x)];
  }

 private:
  /// Number of a value. Pixels come first, row by row; then those of pair p: first_value + 2 p is the smaller
  /// one, and first_value + 2 p + 1 the larger.
  using Value = int;
  using List = std::vector<Value>;  ///< in rising order
  struct Pair {
    Value a;
    Value b;
  };
  /// One axis of a tile, with the lines that cross it outside the core, each sorted within the core's extent.
  struct Axis {
    int side = 1;   ///< size of the windows
    int first = 0;  ///< first pixel of the tile
    int count = 1;  ///< number of pixels of the tile
    std::map<int, List> lines;
    [[nodiscard]] bool in_core(int at) const { return at >= first + count - 1 && at < first + side; }
  };
  struct Tile {
    Axis x;
    Axis y;
    List core;
    int total;  ///< number of values in a window that can have the rank
    int rank;   ///< rank among these
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
  Tile half_of(const Tile& tile, bool turned, int half_index);
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
  List found_;  ///< results, row by row of the tile
  std::vector<Exchange> exchanges_;
  std::vector<std::uint16_t> results_;
};

inline RankProgram::RankProgram(int width, int height, int rank, int columns, int rows)
    : width_(width),
      height_(height),
      columns_(columns),
      rows_(rows),
      seen_columns_(width + columns - 1),
      first_value_(seen_columns_ * (height + rows - 1)),
      found_(static_cast<std::size_t>(columns * rows)) {
  find(whole_tile(rank));
  emit();
}

inline RankProgram::Value RankProgram::smaller_of(Value a, Value b) {
  pairs_.push_back({a, b});
  return first_value_ + 2 * static_cast<Value>(pairs_.size()) - 2;
}

inline RankProgram::Value RankProgram::larger_of(Value a, Value b) { return smaller_of(a, b) + 1; }

inline RankProgram::List RankProgram::merged(const List& a, const List& b) {
  return odd_even_merge(a, b, [&](Value x, Value y) {
    const Value smaller = smaller_of(x, y);
    return std::pair(smaller, smaller + 1);
  });
}

/// Merges the two shortest lists until one is left.
inline RankProgram::List RankProgram::joined(std::vector<List> lists) {
  const auto longer = [](const List& a, const List& b) { return a.size() > b.size(); };
  // Puts a list among those before it, behind the ones of its length.
  const auto insert = [&](auto list) {
    std::rotate(std::upper_bound(lists.begin(), list, *list, longer), list, list + 1);
  };
  for (auto list = lists.begin(); list != lists.end(); ++list) insert(list);
  while (lists.size() > 1) {
    const List last = std::move(lists.back());
    lists.pop_back();
    lists.back() = merged(lists.back(), last);
    insert(lists.end() - 1);
  }
  return std::move(lists.front());
}

/// Returns the value of the tile's rank in the core and one more list: the smallest max(core[i - 1],
/// added[rank - i]), because each of these has at least rank + 1 values up to it.
inline RankProgram::Value RankProgram::selected(const Tile& tile, const List& added) {
  const auto rank = static_cast<std::size_t>(tile.rank);
  Value least = -1;
  for (std::size_t i = rank + 1 - std::min(rank + 1, added.size()); i <= std::min(rank + 1, tile.core.size());
       ++i) {
    const Value largest = i == 0          ? added[rank]
                          : i == rank + 1 ? tile.core[rank]
                                          : larger_of(tile.core[i - 1], added[rank - i]);
    least = least < 0 ? largest : smaller_of(least, largest);
  }
  return least;
}

/// Removes the values of the core that cannot have the rank in any window.
inline void RankProgram::trim(Tile& tile) const {
  const int size = static_cast<int>(tile.core.size());
  const int low = std::max(0, size - (tile.total - tile.rank));
  const int high = std::max(0, size - 1 - tile.rank);
  tile.core.erase(tile.core.end() - high, tile.core.end());
  tile.core.erase(tile.core.begin(), tile.core.begin() + low);
  tile.total -= low + high;
  tile.rank -= low;
}

inline RankProgram::Tile RankProgram::whole_tile(int rank) {
  Tile tile{{width_, 0, columns_, {}}, {height_, 0, rows_, {}}, {}, width_ * height_, rank};
  const auto sorted = [&](int x, int columns, int y, int rows) {
    std::vector<List> pixels;
    for (int i = 0; i < columns * rows; ++i) pixels.push_back({pixel(x + i % columns, y + i / columns)});
    return joined(std::move(pixels));
  };
  const int core_columns = width_ - columns_ + 1;
  const int core_rows = height_ - rows_ + 1;
  std::vector<List> core;
  for (int x = 0; x < seen_columns_; ++x) {
    List column = sorted(x, 1, rows_ - 1, core_rows);
    if (tile.x.in_core(x))
      core.push_back(std::move(column));
    else
      tile.x.lines[x] = std::move(column);
  }
  for (int y = 0; y < height_ + rows_ - 1; ++y)
    if (!tile.y.in_core(y)) tile.y.lines[y] = sorted(columns_ - 1, core_columns, y, 1);
  tile.core = joined(std::move(core));
  trim(tile);
  return tile;
}

/// Returns the first or second half along an axis: x, or y if turned.
inline RankProgram::Tile RankProgram::half_of(const Tile& tile, bool turned, int half_index) {
  Tile half = tile;
  Axis& cut = turned ? half.y : half.x;
  Axis& other = turned ? half.x : half.y;
  cut.count /= 2;
  cut.first += half_index * cut.count;
  std::vector<List> added;
  std::vector<int> positions;
  std::erase_if(cut.lines, [&](const auto& line) {
    const auto& [at, values] = line;
    if (!cut.in_core(at)) return at < cut.first || at >= cut.first + cut.side + cut.count - 1;
    added.push_back(values);
    positions.push_back(at);
    return true;
  });
  for (auto& [at, line] : other.lines) {
    std::vector<List> pixels;
    for (const int position : positions)
      pixels.push_back({turned ? pixel(at, position) : pixel(position, at)});
    line = merged(line, joined(std::move(pixels)));
  }
  const List more = joined(std::move(added));
  if (half.x.count == 1 && half.y.count == 1) {
    half.core = {selected(half, more)};
  } else {
    half.core = merged(half.core, more);
    trim(half);
  }
  return half;
}

inline void RankProgram::find(const Tile& tile) {
  if (tile.x.count == 1 && tile.y.count == 1) {
    // A window of one pixel has nothing to exchange; then the pixel is copied.
    const Value found = tile.core[0];
    found_[static_cast<std::size_t>(tile.y.first * columns_ + tile.x.first)] =
        found < first_value_ ? smaller_of(found, found) : found;
    return;
  }
  const bool turned = tile.y.count > tile.x.count;
  for (const int half : {0, 1}) find(half_of(tile, turned, half));
}

/// Returns the pairs that the results need, each after those that it depends on.
inline std::vector<std::size_t> RankProgram::order_of_pairs() const {
  std::vector<std::size_t> order;
  std::vector<bool> done(pairs_.size());
  const auto visit = [&](const auto& self, Value value) -> void {
    if (value < first_value_) return;
    const std::size_t pair = pair_of(value);
    if (done[pair]) return;
    done[pair] = true;
    self(self, pairs_[pair].a);
    self(self, pairs_[pair].b);
    order.push_back(pair);
  };
  for (const Value value : found_) visit(visit, value);
  return order;
}

/// Gives values slots, which are reused after the last exchange that reads them, and lists the exchanges.
inline void RankProgram::emit() {
  const std::vector<std::size_t> order = order_of_pairs();
  constexpr std::size_t never = 0;
  std::vector<std::size_t> last_use(2 * pairs_.size(), never);  // index in the order, from 1
  const auto use = [&](Value value, std::size_t at) {
    if (value >= first_value_) last_use[static_cast<std::size_t>(value - first_value_)] = at;
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    use(pairs_[order[i]].a, i + 1);
    use(pairs_[order[i]].b, i + 1);
  }
  for (const Value value : found_) use(value, order.size() + 1);
  std::vector<std::uint16_t> slot_of(last_use.size(), no_slot);
  std::vector<std::uint16_t> free;
  const auto slot_for = [&](std::size_t value) {
    if (last_use[value] == never) return no_slot;
    if (free.empty()) free.push_back(static_cast<std::uint16_t>(slots_++));
    slot_of[value] = free.back();
    free.pop_back();
    return slot_of[value];
  };
  const auto operand = [&](Value value) -> Operand {
    if (value < first_value_)
      return {true, static_cast<std::uint16_t>(value % seen_columns_),
              static_cast<std::uint16_t>(value / seen_columns_), 0};
    return {false, 0, 0, slot_of[static_cast<std::size_t>(value - first_value_)]};
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Pair& pair = pairs_[order[i]];
    Exchange exchange{operand(pair.a), operand(pair.b)};
    for (const Value value : {pair.a, pair.b}) {
      if (value < first_value_) continue;
      const auto read = static_cast<std::size_t>(value - first_value_);
      if (last_use[read] == i + 1) free.push_back(slot_of[read]);
    }
    exchange.low = slot_for(2 * order[i]);
    exchange.high = slot_for(2 * order[i] + 1);
    exchanges_.push_back(exchange);
  }
  for (const Value value : found_) results_.push_back(operand(value).slot);
  pairs_ = {};
}

}  // namespace satin::cpu
